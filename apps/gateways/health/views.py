"""The health page of a gateway, which refreshes itself, and its measures as CSV."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from apps.accounts.permissions import staff_page
from apps.gateways import selectors
from apps.gateways.health import chart_data, charts
from apps.gateways.health.changes import list_changes
from apps.gateways.health.chart_data import ChartPeriod
from apps.gateways.health.measures import ALL
from apps.gateways.health.presentation import build_health_view
from apps.gateways.health.selectors import list_findings
from apps.lib.csv_stream import build_csv_download
from apps.network.models import Gateway


@staff_page
def health(request: HttpRequest, pk: int) -> HttpResponse:
    """Show whether anything is wrong, the figures, the charts with what changed, the findings and all measures."""
    found, now = get_object_or_404(selectors.list_gateways(), pk=pk), timezone.now()
    group = list(selectors.list_gateways().filter(group=found.group_id))
    shown = next(each for each in selectors.build_overviews(group, now) if each.gateway == found)
    context = {"gateway": found, "shown": shown, "health": build_health_view(found, now, carries=bool(shown.carried))}
    if request.headers.get("HX-Target") == "now":
        return render(request, "gateways/health.html#now", context | {"oob": True})
    period = chart_data.parse_period(request.GET.get("period", ""))
    keys = charts.MORE if request.GET.get("more") else ()
    return render(request, "gateways/health.html", context | _build_charts(found, group, period, keys, now))


def _build_charts(gateway: Gateway, group: Sequence[Gateway], period: ChartPeriod, more: Sequence[str], now: datetime) -> dict[str, object]:
    """Return the charts that a page begins with, and those of `more`, which together take several times as long."""
    other = next((each for each in group if each != gateway), None)
    series = chart_data.read_series(group, period, (*charts.PROBES, *charts.FIRST, *more), now)
    changes = list_changes(gateway, series.starts[0], [each for each in list_findings(now) if each.gateway_id == gateway.pk])
    events = [each.event for each in changes]
    shown = [gateway, *([other] if other else [])]
    zero = [key for key in more if charts.was_read(series, gateway, key) and charts.is_always_zero(series, shown, key)]
    return {
        "period": period,
        "periods": list(chart_data.LABELS.items()),
        "each": chart_data.EACH[period],
        "charts": [*charts.draw_probes(gateway, series, events), *charts.draw_charts(charts.FIRST, gateway, other, series, events)],
        "zero": charts.list_titles(zero),
        "more": charts.draw_charts([key for key in more if key not in zero], gateway, other, series, events),
        "changes": changes,
    }


@staff_page
def health_csv(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Download all measures of the period, a row for each bucket."""
    found = get_object_or_404(selectors.list_gateways(), pk=pk)
    period = chart_data.parse_period(request.GET.get("period", ""))
    keys = [each.key for each in ALL]
    series = chart_data.read_series([found], period, keys, timezone.now())

    def iter_rows() -> Iterator[list[object]]:
        for start, values in zip(series.starts, series.values[found.pk], strict=True):
            yield [start, *("" if values is None or (value := values.get(key)) is None else value for key in keys)]

    return build_csv_download(f"health-{found.name}-{period}", ["begins", *keys], iter_rows())
