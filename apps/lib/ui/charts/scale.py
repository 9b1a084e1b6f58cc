"""Value axis of a chart: from 0 in at most four even steps of 1, 2 or 5 times a power of ten."""

from dataclasses import dataclass
from math import ceil, floor, log10

from apps.lib.ui.charts import ChartUnit
from apps.lib.ui.formats import SPACE, Number, format_number

MOST_STEPS = 4


@dataclass(frozen=True, slots=True)
class Tick:
    """A horizontal line: its value and its label."""

    value: float
    label: str


def build_ticks(most: Number, unit: ChartUnit) -> list[Tick]:
    """Return ticks from 0 to the first step that is not below `most`. If `most` is 0, only the tick at 0 has a label."""
    if not most:
        return [Tick(0, "0"), Tick(1, "")]
    step = _choose_step(most)
    count = max(1, ceil(round(most / step, 9)))
    size = min(len(unit.steps) - 1, max(0, floor(round(log10(step * count), 9)) // 3))
    return [Tick(at * step, _format_label(at * step, step, size, unit)) for at in range(count + 1)]


def _choose_step(most: Number) -> float:
    """Return the smallest step that gives at most four of them. It is at least 1, because nothing is counted in fractions."""
    power = 10.0 ** max(0, floor(log10(max(most, 1) / MOST_STEPS)) if most > MOST_STEPS else 0)
    return next(power * digit for digit in (1, 2, 5, 10) if round(most / (power * digit), 9) <= MOST_STEPS)


def _format_label(value: float, step: float, size: int, unit: ChartUnit) -> str:
    if not value:
        return "0"
    digits = max(0, ceil(round(-log10(step / 1000**size), 9)))
    return f"{format_number(value / 1000**size, digits)}{SPACE}{unit.steps[size]}{unit.per}"
