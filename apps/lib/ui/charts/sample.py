"""Made-up charts for the style guide: a week with a gap, a day with a threshold, a year, and one without any reading."""

from datetime import datetime, timedelta
from math import pi, sin

from django.utils.timezone import get_current_timezone

from apps.lib.ui.charts import RATE, VOLUME, Chart, Line, Threshold, Unit
from apps.lib.ui.charts.drawing import Drawing, drawn
from apps.lib.ui.formats import OCTETS

HOUR = timedelta(hours=1)


def charts() -> dict[str, object]:
    """What the page of the style guide shows."""
    return {"week": _week(), "day": _day(), "year": _year(), "nothing": _nothing()}


def _evening(hour: float) -> float:
    """From 0 to 1: how much of a dormitory is awake and at home."""
    return (0.5 + 0.5 * sin(2 * pi * (hour - 15) / 24)) ** 2 * (1 + 0.3 * sin(hour * 12.9898) * sin(hour * 4.1))


def _moments(first: datetime, step: timedelta, count: int) -> list[datetime]:
    return [first + step * place for place in range(count)]


def _week() -> Drawing:
    starts = _moments(datetime(2026, 11, 6, tzinfo=get_current_timezone()), HOUR, 7 * 24 - 3)
    gap = range(80, 85)
    down = [None if hour in gap else 0.1e9 + 2.3e9 * _evening(hour) for hour in range(len(starts))]
    up = [None if value is None else 0.02e9 + 0.17 * value for value in down]
    return drawn(Chart("week", "Traffic of 7 days", starts, starts[-1] + HOUR, (Line("down", down), Line("up", up)), Unit(OCTETS, "/h")))


def _day() -> Drawing:
    starts = _moments(datetime(2026, 11, 12, 21, 15, tzinfo=get_current_timezone()) - timedelta(days=1), HOUR / 12, 288)
    busy = [1.84e9 * _evening(21.25 + place / 12) for place in range(288)]
    line = Line("forwarded", busy)
    return drawn(Chart("day", "Uplink, 24 hours", starts, starts[-1] + HOUR / 12, (line,), RATE, Threshold("90 % of the uplink", 1.8e9)))


def _year() -> Drawing:
    starts = _moments(datetime(2025, 11, 13, tzinfo=get_current_timezone()), timedelta(days=1), 365)
    down = [9e9 + 5e9 * sin(day / 58) + 3e9 * sin(day * 0.9) for day in range(365)]
    lines = (Line("down", down), Line("up", [value / 7 for value in down]))
    return drawn(Chart("year", "A year", starts, starts[-1] + timedelta(days=1), lines, Unit(OCTETS, "/d")))


def _nothing() -> Drawing:
    starts = _moments(datetime(2026, 11, 12, tzinfo=get_current_timezone()), HOUR, 21)
    return drawn(Chart("nothing", "Today", starts, starts[-1] + HOUR, (Line("down", [None] * 21), Line("up", [None] * 21)), VOLUME))
