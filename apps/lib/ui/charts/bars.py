"""Small bar charts from zero upwards: monthly sums, each with its limit. Turns values into positions and texts."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.lib.ui import formats
from apps.lib.ui.charts import ChartUnit
from apps.lib.ui.charts.drawing import AxisMark
from apps.lib.ui.charts.scale import build_ticks

FILLED = 0.64  # part of each bar's room that the bar fills


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar. name: a few letters below it. words: the full name. value: None if unknown. limit: a line across the bar, if any."""

    name: str
    words: str
    value: formats.Number | None
    limit: formats.Number | None = None


@dataclass(frozen=True, slots=True)
class BarBox:
    """A bar's position and size in percent ("37.5%"), and its description."""

    left: str
    top: str
    width: str
    height: str
    words: str


@dataclass(frozen=True, slots=True)
class LimitLine:
    """A limit's line: its left and right end, and its distance from the top, in percent."""

    left: str
    right: str
    top: str


@dataclass(frozen=True, slots=True)
class BarChartDrawing:
    """The values that templates/lib/bars.html shows."""

    key: str
    ticks: list[AxisMark]
    marks: list[AxisMark]
    boxes: list[BarBox]
    limits: list[LimitLine]
    summary: str


def draw_bars(key: str, title: str, bars: Sequence[Bar], unit: ChartUnit) -> BarChartDrawing:
    """Draw the chart. key: an HTML id, unique on the page. title: beginning of the summary for people who cannot see the chart."""
    known = [(each.value, each) for each in bars if each.value is not None]
    scale = build_ticks(max([0, *(value for value, _bar in known), *(each.limit for each in bars if each.limit)]), unit)
    top, room = scale[-1].value, 100 / max(1, len(bars))

    def box(place: int, bar: Bar, value: formats.Number) -> BarBox:
        high = 100 * value / top
        left = room * (place + (1 - FILLED) / 2)
        return BarBox(
            _format_percent(left),
            _format_percent(100 - high),
            _format_percent(room * FILLED),
            _format_percent(high),
            f"{bar.words}: {_format_value(value, unit)}",
        )

    return BarChartDrawing(
        key=key,
        ticks=[AxisMark(_format_percent(100 - 100 * tick.value / top), tick.label) for tick in scale],
        marks=[AxisMark(_format_percent(room * (place + 0.5)), bar.name) for place, bar in enumerate(bars)],
        boxes=[box(place, bar, bar.value) for place, bar in enumerate(bars) if bar.value is not None],
        limits=[
            LimitLine(_format_percent(room * place), _format_percent(room * (place + 1)), _format_percent(100 - 100 * bar.limit / top))
            for place, bar in enumerate(bars)
            if bar.limit
        ],
        summary=_build_summary(title, known, unit),
    )


def _build_summary(title: str, known: Sequence[tuple[formats.Number, Bar]], unit: ChartUnit) -> str:
    if not known:
        return title
    value, bar = max(known, key=lambda one: one[0])
    return _("%(title)s. Highest: %(value)s, %(when)s.") % {"title": title, "value": _format_value(value, unit), "when": bar.words}


def _format_value(value: formats.Number, unit: ChartUnit) -> str:
    return formats.format_scaled(value, unit.steps, whole=True) + unit.per


def _format_percent(part: float) -> str:
    return f"{round(part, 2):g}%"
