"""Views of traffic for staff: throughput of gateways, top talkers, sums and quotas, each also as CSV."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.lib.csv_stream import build_csv_download
from apps.lib.errors import Problem
from apps.members.models import Tariff
from apps.network.models import Gateway
from apps.traffic import exports, quotas, selectors
from apps.traffic.forms import QuotaForm, WindowForm
from apps.traffic.models import Quota
from apps.traffic.rates.selectors import list_rate_limits
from apps.traffic.selectors import TalkerOrder, UsageGrouping
from apps.traffic.usage_charts import GatewayThroughput, ThroughputMeasure, list_gateway_throughput
from apps.traffic.usage_panel import ChoiceLink
from apps.traffic.windows import LABELS, RATES, TITLES, TimeWindow, build_recent_window, parse_preset

TOP = 50
TOP_IN_FILE = 1000
PER_PAGE = 50


def _list_presets(window: TimeWindow | None) -> list[ChoiceLink]:
    return [ChoiceLink(each, words, window is not None and each is window.preset) for each, words in LABELS.items()]


def _list_throughput(asked: QueryDict) -> tuple[TimeWindow, list[GatewayThroughput]]:
    window = build_recent_window(timezone.now(), parse_preset(asked.get("window", "")), RATES)
    shown = Gateway.ever.filter(Q(retired=None) | Q(retired__gt=window.since)).order_by("name", "pk")
    return window, list_gateway_throughput(list(shown), window)


@staff_page
def overview(request: HttpRequest) -> HttpResponse:
    """Show the throughput of each gateway by IPv4 and IPv6."""
    window, found = _list_throughput(request.GET)
    measure = ThroughputMeasure.PACKETS if request.GET.get("measure") == ThroughputMeasure.PACKETS else ThroughputMeasure.BITS
    gateways = {way.gateway: [each for each in found if each.gateway == way.gateway] for way in found}
    shown = [(gateway, [(way, way.draw(measure)) for way in some]) for gateway, some in gateways.items()]
    context = {"tab": "overview", "presets": _list_presets(window), "window": window, "measure": measure, "gateways": shown}
    return render(request, "traffic/overview.html", context | {"limited": list_rate_limits().count()})


@staff_page
def throughput_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Download the throughput of each gateway by bucket as CSV."""
    window, found = _list_throughput(request.GET)
    return build_csv_download(f"throughput-{window.preset}", exports.build_throughput_head(), exports.iter_throughput_rows(found))


def _parse_window_form(request: HttpRequest) -> tuple[WindowForm, TimeWindow | None]:
    """Return the form and its window, or None where the form is invalid."""
    form = WindowForm(request.GET, now=timezone.now())
    return form, form.build_window() if form.is_valid() else None


def _render_window_page(
    request: HttpRequest, template: str, form: WindowForm, window: TimeWindow | None, context: dict[str, Any]
) -> HttpResponse:
    words = TITLES[window.preset] if window and window.preset else ""
    shown = {"form": form, "window": window, "presets": _list_presets(window), "words": words} | context
    return render(request, template, shown, status=200 if window else 422)


@staff_page
def talkers(request: HttpRequest) -> HttpResponse:
    """Show the top talkers of a window."""
    form, window = _parse_window_form(request)
    order = _parse_order(request.GET)
    found = selectors.list_top_talkers(window.since, window.until, now=form.now, limit=TOP, order=order) if window else []
    most = max((each.total for each in found), default=0)
    return _render_window_page(
        request, "traffic/talkers.html", form, window, {"tab": "talkers", "order": order, "talkers": found, "most": most}
    )


def _parse_order(asked: QueryDict) -> TalkerOrder:
    text = asked.get("sort", "")
    return TalkerOrder(text) if text in TalkerOrder else TalkerOrder.BOTH


@staff_page
def talkers_csv(request: HttpRequest) -> HttpResponseBase:
    """Download the top talkers as CSV, with more places than the page shows."""
    form, window = _parse_window_form(request)
    if window is None:
        return talkers(request)
    found = selectors.list_top_talkers(window.since, window.until, now=form.now, limit=TOP_IN_FILE, order=_parse_order(request.GET))
    return build_csv_download("talkers", exports.build_talker_head(), exports.iter_talker_rows(found))


def _parse_grouping(asked: QueryDict) -> UsageGrouping:
    text = asked.get("by", "")
    return UsageGrouping(text) if text in UsageGrouping else UsageGrouping.SITE


@staff_page
def sums(request: HttpRequest) -> HttpResponse:
    """Show sums by site, room or tariff in a window."""
    form, window = _parse_window_form(request)
    by = _parse_grouping(request.GET)
    found = selectors.list_grouped_usage(by, window.since, window.until, now=form.now) if window else []
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    most = max((each.total for each in found), default=0)
    context = {"tab": "sums", "by": by, "ways": exports.BY, "what": exports.BY[by], "page": page, "most": most}
    return _render_window_page(request, "traffic/sums.html", form, window, context)


@staff_page
def sums_csv(request: HttpRequest) -> HttpResponseBase:
    """Download all rows of the sums as CSV."""
    form, window = _parse_window_form(request)
    if window is None:
        return sums(request)
    by = _parse_grouping(request.GET)
    found = selectors.list_grouped_usage(by, window.since, window.until, now=form.now)
    return build_csv_download(f"traffic-by-{by}", exports.build_grouped_usage_head(by), exports.iter_grouped_usage_rows(found))


@staff_page
def quota_usage(request: HttpRequest) -> HttpResponse:
    """Show the members near their quota or over it, and the tariffs with their quotas."""
    now = timezone.now()
    found = quotas.list_members_above(quotas.NEAR, now=now)
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    tariffs = Tariff.objects.select_related("quota").order_by("name")
    since, until = quotas.compute_month_bounds(now)
    over = sum(each.percent >= 100 for each in found)
    context = {"tab": "quotas", "page": page, "over": over, "tariffs": tariffs, "near": quotas.NEAR, "since": since, "until": until}
    return render(request, "traffic/quotas.html", context | {"any": Quota.objects.exists()})


@staff_page
def quota_usage_csv(_request: HttpRequest) -> StreamingHttpResponse:
    """Download all members near their quota or over it as CSV."""
    return build_csv_download(
        "quotas", exports.build_quota_head(), exports.iter_quota_rows(quotas.list_members_above(quotas.NEAR, now=timezone.now()))
    )


@staff_page
def quota(request: HttpRequest, pk: int) -> HttpResponse:
    """Show and change a tariff's quota."""
    tariff = get_object_or_404(Tariff, pk=pk)
    form = QuotaForm(Quota.objects.filter(tariff=tariff).first(), request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            quotas.set_tariff_quota(tariff=tariff, octets=form.to_octets(), by=get_signed_in_user(request))
            return redirect("traffic:quotas")
        except Problem as problem:
            form.add_error(problem.fieldname, str(problem))
    return render(request, "traffic/quota.html", {"form": form, "tariff": tariff}, status=422 if form.is_bound else 200)
