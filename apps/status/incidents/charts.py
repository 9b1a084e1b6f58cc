"""Charts of an incident: the gateways' health and the new tickets, over one time, with what changed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext as _

from apps.gateways.health import charts
from apps.gateways.health.chart_data import ChartPeriod, MeasureSeries, read_series
from apps.gateways.health.charts import HealthChart
from apps.lib.ui.charts import Chart, ChartEvent, ChartLine, ChartUnit
from apps.lib.ui.charts.drawing import draw_chart
from apps.network.models import Gateway
from apps.status.incidents.models import Incident
from apps.tickets.models import Ticket

AFTER: Final = timedelta(hours=1)
"""Time after the end of an incident up to which charts show it."""
MOST_TICKETS: Final = 20_000


@dataclass(frozen=True)
class IncidentCharts:
    """Charts over the same time, from `since` to `until`."""

    charts: Sequence[HealthChart]
    since: datetime
    until: datetime


def draw_incident_charts(
    incident: Incident, gateways: Sequence[Gateway], period: ChartPeriod, events: Sequence[ChartEvent], now: datetime
) -> IncidentCharts:
    """Draw them, up to now or to an hour after its end. gateways: the first is drawn solid, the second dashed; without one only tickets."""
    until = min(now, incident.ended + AFTER) if incident.ended else now
    shown = list(gateways[:2])
    series = read_series(shown, period, (*charts.PROBES, *charts.FIRST), until)
    drawn: list[HealthChart] = []
    if shown:
        other = shown[1] if len(shown) > 1 else None
        drawn = [*charts.draw_probes(shown[0], series, events), *charts.draw_charts(charts.FIRST, shown[0], other, series, events)]
    return IncidentCharts([*drawn, _draw_tickets(series, events)], series.starts[0], series.end)


def _draw_tickets(series: MeasureSeries, events: Sequence[ChartEvent]) -> HealthChart:
    title, name = _("New tickets"), _("in each step")
    values = _count_tickets(series.starts, series.end)
    chart = Chart("new-tickets", title, series.starts, series.end, [ChartLine(name, values)], ChartUnit(("", "k")), events=tuple(events))
    return HealthChart(title, [name], draw_chart(chart))


def _count_tickets(starts: Sequence[datetime], end: datetime) -> list[int]:
    """Return how many tickets were opened in each bucket; all buckets are as long as the first."""
    first = starts[0]
    length = (starts[1] if len(starts) > 1 else end) - first
    opened = Ticket.objects.order_by().filter(opened_at__gte=first, opened_at__lt=end).values_list("opened_at", flat=True)[:MOST_TICKETS]
    counted = Counter(int((at - first) / length) for at in opened)
    return [counted[place] for place in range(len(starts))]
