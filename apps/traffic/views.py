"""Traffic for staff: what gateways carry, who forwards most, sums, quotas; each also as CSV."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from apps.accounts.permissions import person, staff_page
from apps.lib.csv_stream import download
from apps.lib.errors import Problem
from apps.members.models import Tariff
from apps.network.models import Gateway
from apps.traffic import exports, quotas, selectors
from apps.traffic.forms import QuotaForm, WindowForm
from apps.traffic.models import Quota
from apps.traffic.panel import Choice
from apps.traffic.rates.selectors import rate_limits
from apps.traffic.selectors import By, Order
from apps.traffic.usage_charts import Measure, Way, ways
from apps.traffic.windows import LABELS, RATES, TITLES, Window, ending, preset_of

TOP = 50
TOP_IN_FILE = 1000
PER_PAGE = 50


def _presets(window: Window | None) -> list[Choice]:
    return [Choice(each, words, window is not None and each is window.preset) for each, words in LABELS.items()]


def _ways(asked: QueryDict) -> tuple[Window, list[Way]]:
    window = ending(timezone.now(), preset_of(asked.get("window", "")), RATES)
    return window, ways(list(Gateway.objects.order_by("name")), window)


@staff_page
def overview(request: HttpRequest) -> HttpResponse:
    """What each gateway carries, by IPv4 and IPv6."""
    window, found = _ways(request.GET)
    measure = Measure.PACKETS if request.GET.get("measure") == Measure.PACKETS else Measure.BITS
    gateways = {way.gateway: [each for each in found if each.gateway == way.gateway] for way in found}
    shown = [(gateway, [(way, way.drawing(measure)) for way in some]) for gateway, some in gateways.items()]
    context = {"tab": "overview", "presets": _presets(window), "window": window, "measure": measure, "gateways": shown}
    return render(request, "traffic/overview.html", context | {"limited": rate_limits().count()})


@staff_page
def throughput_csv(request: HttpRequest) -> StreamingHttpResponse:
    """What each gateway carried in each bucket."""
    window, found = _ways(request.GET)
    return download(f"throughput-{window.preset}", exports.way_head(), exports.way_rows(found))


def _asked(request: HttpRequest) -> tuple[WindowForm, Window | None]:
    """The form, and the window that it asks for; None where that cannot be."""
    form = WindowForm(request.GET, now=timezone.now())
    return form, form.window() if form.is_valid() else None


def _windowed(request: HttpRequest, template: str, form: WindowForm, window: Window | None, context: dict[str, Any]) -> HttpResponse:
    words = TITLES[window.preset] if window and window.preset else ""
    shown = {"form": form, "window": window, "presets": _presets(window), "words": words} | context
    return render(request, template, shown, status=200 if window else 422)


@staff_page
def talkers(request: HttpRequest) -> HttpResponse:
    """Who forwarded most in any window."""
    form, window = _asked(request)
    order = _order(request.GET)
    found = selectors.top_talkers(window.since, window.until, now=form.now, limit=TOP, order=order) if window else []
    most = max((each.both for each in found), default=0)
    return _windowed(request, "traffic/talkers.html", form, window, {"tab": "talkers", "order": order, "talkers": found, "most": most})


def _order(asked: QueryDict) -> Order:
    text = asked.get("sort", "")
    return Order(text) if text in Order else Order.BOTH


@staff_page
def talkers_csv(request: HttpRequest) -> HttpResponseBase:
    """The same, and further down the list."""
    form, window = _asked(request)
    if window is None:
        return talkers(request)
    found = selectors.top_talkers(window.since, window.until, now=form.now, limit=TOP_IN_FILE, order=_order(request.GET))
    return download("talkers", exports.talker_head(), exports.talker_rows(found))


def _by(asked: QueryDict) -> By:
    text = asked.get("by", "")
    return By(text) if text in By else By.SITE


@staff_page
def sums(request: HttpRequest) -> HttpResponse:
    """Sums by site, room or tariff in any window."""
    form, window = _asked(request)
    by = _by(request.GET)
    found = selectors.sums_by(by, window.since, window.until, now=form.now) if window else []
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    most = max((each.both for each in found), default=0)
    context = {"tab": "sums", "by": by, "ways": exports.BY, "what": exports.BY[by], "page": page, "most": most}
    return _windowed(request, "traffic/sums.html", form, window, context)


@staff_page
def sums_csv(request: HttpRequest) -> HttpResponseBase:
    """All rows."""
    form, window = _asked(request)
    if window is None:
        return sums(request)
    by = _by(request.GET)
    found = selectors.sums_by(by, window.since, window.until, now=form.now)
    return download(f"traffic-by-{by}", exports.sum_head(by), exports.sum_rows(found))


@staff_page
def over(request: HttpRequest) -> HttpResponse:
    """Who is near the quota or over it, and which tariffs have one."""
    now = timezone.now()
    found = quotas.above(quotas.NEAR, now=now)
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    tariffs = Tariff.objects.select_related("quota").order_by("name")
    since, until = quotas.month(now)
    over = sum(each.percent >= 100 for each in found)
    context = {"tab": "quotas", "page": page, "over": over, "tariffs": tariffs, "near": quotas.NEAR, "since": since, "until": until}
    return render(request, "traffic/quotas.html", context | {"any": Quota.objects.exists()})


@staff_page
def over_csv(_request: HttpRequest) -> StreamingHttpResponse:
    """All of them."""
    return download("quotas", exports.above_head(), exports.above_rows(quotas.above(quotas.NEAR, now=timezone.now())))


@staff_page
def quota(request: HttpRequest, pk: int) -> HttpResponse:
    """What a tariff lets its members forward in a month."""
    tariff = get_object_or_404(Tariff, pk=pk)
    form = QuotaForm(Quota.objects.filter(tariff=tariff).first(), request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            quotas.set_quota(tariff=tariff, octets=form.octets(), by=person(request))
            return redirect("traffic:quotas")
        except Problem as problem:
            form.add_error(problem.fieldname, str(problem))
    return render(request, "traffic/quota.html", {"form": form, "tariff": tariff}, status=422 if form.is_bound else 200)
