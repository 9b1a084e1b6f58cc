"""Made-up charts for the style guide: a week with a gap, a day with a threshold, a year, and one without readings."""

from datetime import datetime, timedelta
from math import pi, sin

from django.utils.timezone import get_current_timezone

from apps.lib.ui.charts import RATE, VOLUME, Chart, ChartLine, ChartUnit, Threshold
from apps.lib.ui.charts.drawing import Drawing, draw_chart
from apps.lib.ui.formats import OCTETS

HOUR = timedelta(hours=1)


def build_sample_charts() -> dict[str, object]:
    """Return the charts of the style guide's page."""
    return {"week": _draw_week(), "day": _draw_day(), "year": _draw_year(), "nothing": _draw_empty()}


def _compute_load(hour: float) -> float:
    """Return the part of a dormitory, from 0 to 1, that is awake and at home."""
    return (0.5 + 0.5 * sin(2 * pi * (hour - 15) / 24)) ** 2 * (1 + 0.3 * sin(hour * 12.9898) * sin(hour * 4.1))


def _list_moments(first: datetime, step: timedelta, count: int) -> list[datetime]:
    return [first + step * place for place in range(count)]


def _draw_week() -> Drawing:
    starts = _list_moments(datetime(2026, 11, 6, tzinfo=get_current_timezone()), HOUR, 7 * 24 - 3)
    gap = range(80, 85)
    down = [None if hour in gap else 0.1e9 + 2.3e9 * _compute_load(hour) for hour in range(len(starts))]
    up = [None if value is None else 0.02e9 + 0.17 * value for value in down]
    return draw_chart(
        Chart(
            "week", "Traffic of 7 days", starts, starts[-1] + HOUR, (ChartLine("down", down), ChartLine("up", up)), ChartUnit(OCTETS, "/h")
        )
    )


def _draw_day() -> Drawing:
    starts = _list_moments(datetime(2026, 11, 12, 21, 15, tzinfo=get_current_timezone()) - timedelta(days=1), HOUR / 12, 288)
    busy = [1.84e9 * _compute_load(21.25 + place / 12) for place in range(288)]
    line = ChartLine("forwarded", busy)
    return draw_chart(
        Chart("day", "Uplink, 24 hours", starts, starts[-1] + HOUR / 12, (line,), RATE, Threshold("90 % of the uplink", 1.8e9))
    )


def _draw_year() -> Drawing:
    starts = _list_moments(datetime(2025, 11, 13, tzinfo=get_current_timezone()), timedelta(days=1), 365)
    down = [9e9 + 5e9 * sin(day / 58) + 3e9 * sin(day * 0.9) for day in range(365)]
    lines = (ChartLine("down", down), ChartLine("up", [value / 7 for value in down]))
    return draw_chart(Chart("year", "A year", starts, starts[-1] + timedelta(days=1), lines, ChartUnit(OCTETS, "/d")))


def _draw_empty() -> Drawing:
    starts = _list_moments(datetime(2026, 11, 12, tzinfo=get_current_timezone()), HOUR, 21)
    return draw_chart(
        Chart("nothing", "Today", starts, starts[-1] + HOUR, (ChartLine("down", [None] * 21), ChartLine("up", [None] * 21)), VOLUME)
    )
