"""Views of ticket statistics: new, solved and open tickets by day or week, and the time to the first answer."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from apps.accounts.permissions import staff_page
from apps.lib.csv_stream import build_csv_download
from apps.lib.ui.charts import Chart, ChartLine, ChartUnit
from apps.lib.ui.charts.drawing import Drawing, draw_chart
from apps.tickets import attachment_quota, period_counts
from apps.tickets.period_counts import PeriodCounts

TICKETS, HOURS, MINUTES = ChartUnit(("", "k")), ChartUnit(("h",)), ChartUnit(("min",))


@staff_page
def chart(request: HttpRequest) -> HttpResponse:
    """Show the charts of 30 days or a year."""
    window = _parse_window(request)
    counted = period_counts.list_period_counts(window, timezone.now())
    medians = [each.median for each in counted if each.median is not None]
    shown = {
        "window": window,
        "windows": [("month", _("30 days")), ("year", pgettext("time", "a year"))],
        "came": _draw_counts("came", _("New and solved"), window, counted, ((_("new"), "opened"), (_("solved"), "solved"))),
        "open": _draw_counts("open", pgettext("tickets", "Open"), window, counted, ((_("open"), "open"),)),
        "first": _draw_first_answers(window, counted, max(medians, default=0) >= 3 * 3600),
        "sums": {name: sum(getattr(each, name) for each in counted) for name in ("opened", "solved", "reopened", "answered")},
        "now_open": counted[-1].open,
        "files": attachment_quota.get_total_quota(),
    }
    return render(request, "tickets/chart.html", shown)


@staff_page
def chart_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Download the same numbers as CSV, a row for each day or week."""
    head = ("begins", "opened", "solved", "reopened", "open", "first_answered", "median_seconds_to_first_answer")
    counted = period_counts.list_period_counts(_parse_window(request), timezone.now())
    names = ("begins", "opened", "solved", "reopened", "open", "answered", "median")
    rows = (["" if (value := getattr(each, name)) is None else value for name in names] for each in counted)
    return build_csv_download("tickets", head, rows)


def _parse_window(request: HttpRequest) -> str:
    asked = request.GET.get("window", "")
    return asked if asked in period_counts.WINDOWS else "month"


def _draw_counts(key: str, title: str, window: str, counted: Sequence[PeriodCounts], lines: Sequence[tuple[str, str]]) -> Drawing:
    starts, end = period_counts.list_period_starts(period_counts.WINDOWS[window][0], counted)
    return draw_chart(
        Chart(key, title, starts, end, [ChartLine(name, [getattr(each, of) for each in counted]) for name, of in lines], TICKETS)
    )


def _draw_first_answers(window: str, counted: Sequence[PeriodCounts], hours: bool) -> Drawing:
    """Return the chart of medians, in hours or minutes, with gaps where no ticket got its first answer."""
    starts, end = period_counts.list_period_starts(period_counts.WINDOWS[window][0], counted)
    size = 3600 if hours else 60
    values = [None if each.median is None else each.median / size for each in counted]
    unit, title = HOURS if hours else MINUTES, _("Time to the first answer")
    return draw_chart(Chart("first", title, starts, end, [ChartLine(_("median"), values)], unit, missing=_("no first answer")))
