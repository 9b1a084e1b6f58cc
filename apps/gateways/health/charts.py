"""Charts of a gateway's health over one time: the gateway solid, another one of its group dashed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from apps.gateways.health.chart_data import MeasureSeries
from apps.gateways.health.measures import BY_KEY, MeasureUnit
from apps.lib.ui.charts import RATE, Chart, ChartEvent, ChartLine, ChartUnit
from apps.lib.ui.charts.drawing import Drawing, draw_chart
from apps.lib.ui.formats import PACKETS
from apps.network.models import Gateway

UNITS: Final = {
    MeasureUnit.SHARE: ChartUnit(("%",)),
    MeasureUnit.PACKETS: ChartUnit(PACKETS),
    MeasureUnit.BITS: RATE,
    MeasureUnit.COUNT: ChartUnit(("", "k", "M")),
    MeasureUnit.SECONDS: ChartUnit(("s",)),
    MeasureUnit.MILLISECONDS: ChartUnit(("ms", "s")),
    MeasureUnit.DEGREES: ChartUnit(("°C",)),
}
PROBES: Final = ("probe4_ms", "probe6_ms")
FIRST: Final = ("busiest_core", "packets", "connections")
MORE: Final = (
    "received_bits",
    "sent_bits",
    "dropped",
    "errors",
    "backlog_dropped",
    "squeezed",
    "insert_failed",
    "connections_dropped",
    "refused",
    "spoofed",
    "unmapped",
    "time_exceeded",
    "syn_cookies",
    "listen_overflows",
    "memory_used",
    "disk_used",
    "temperature",
)


@dataclass(frozen=True)
class HealthChart:
    """A chart with the names of its lines."""

    title: str
    names: Sequence[str]
    drawing: Drawing


def draw_charts(
    keys: Sequence[str], gateway: Gateway, other: Gateway | None, series: MeasureSeries, events: Sequence[ChartEvent]
) -> list[HealthChart]:
    """Return a chart for each of these measures that was read at least once."""
    shown = [gateway, *([other] if other else [])]
    return [_draw_measure(key, shown, series, events) for key in keys if was_read(series, gateway, key)]


def was_read(series: MeasureSeries, gateway: Gateway, key: str) -> bool:
    """True if the gateway told this measure at least once."""
    return any(value is not None for value in series.get_line(gateway, key))


def is_always_zero(series: MeasureSeries, gateways: Sequence[Gateway], key: str) -> bool:
    """True if none of the gateways counted anything: there is nothing to draw."""
    return not any(value for gateway in gateways for value in series.get_line(gateway, key))


def list_titles(keys: Sequence[str]) -> list[str]:
    """Return the titles of these measures."""
    return [str(BY_KEY[key].title) for key in keys]


def draw_probes(gateway: Gateway, series: MeasureSeries, events: Sequence[ChartEvent]) -> list[HealthChart]:
    """Return the chart of the probes' round trips through this gateway; none if it is not probed."""
    lines = [(f"IPv{family}", series.get_line(gateway, f"probe{family}_ms")) for family in (4, 6)]
    read = [(name, values) for name, values in lines if any(value is not None for value in values)]
    return [_draw("probes", _("Round trip of probes"), MeasureUnit.MILLISECONDS, read, series, events)] if read else []


def _draw_measure(key: str, gateways: Sequence[Gateway], series: MeasureSeries, events: Sequence[ChartEvent]) -> HealthChart:
    measure = BY_KEY[key]
    factor = 100.0 if measure.unit is MeasureUnit.SHARE else 1.0
    lines = [(each.name, series.get_line(each, key, factor)) for each in gateways]
    return _draw(key, capfirst(str(measure.title)), measure.unit, lines, series, events)


def _draw(
    key: str,
    title: str,
    unit: MeasureUnit,
    lines: Sequence[tuple[str, Sequence[float | None]]],
    series: MeasureSeries,
    events: Sequence[ChartEvent],
) -> HealthChart:
    chart = Chart(
        key.replace("_", "-"), title, series.starts, series.end, [ChartLine(*line) for line in lines], UNITS[unit], events=tuple(events)
    )
    return HealthChart(title, [name for name, _values in lines], draw_chart(chart))
