"""Charts as values: one or two lines over buckets of time, from zero upwards, with gaps where there is no reading.

`drawing.draw_chart` turns a chart into what templates/lib/chart.html shows: an SVG, a table, and the same numbers for the
browser's chart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.lib.ui.formats import BITS, OCTETS, Number


@dataclass(frozen=True, slots=True)
class ChartUnit:
    """Unit of the values: ChartUnit(OCTETS, "/h"). `steps`: units, each 1000 times the one before. `per`: what is appended to them."""

    steps: tuple[str, ...]
    per: str = ""


VOLUME = ChartUnit(OCTETS)
RATE = ChartUnit(BITS)


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One line: its name ("down"), and a value for each bucket; None where there is no reading."""

    name: str
    values: Sequence[Number | None]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A dotted horizontal line with its name."""

    name: str
    value: Number


@dataclass(frozen=True, slots=True)
class ChartEvent:
    """A dotted vertical line. is_fault: something was found to be wrong from then on."""

    at: datetime
    is_fault: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with one or two lines.

    starts: beginning of each bucket, ascending and aware. end: end of the last bucket. key: an HTML id, unique on the page.
    missing: text where there is no value, "" for "no reading". events: outside the time shown, they are left out.
    """

    key: str
    title: str
    starts: Sequence[datetime]
    end: datetime
    lines: Sequence[ChartLine]
    unit: ChartUnit = VOLUME
    threshold: Threshold | None = None
    missing: str = ""
    events: Sequence[ChartEvent] = ()

    def __post_init__(self) -> None:
        if not 1 <= len(self.lines) <= 2:
            raise ValueError(f"chart {self.key}: one or two lines, not {len(self.lines)}")
        for line in self.lines:
            if len(line.values) != len(self.starts):
                raise ValueError(f"chart {self.key}: {line.name} has {len(line.values)} values for {len(self.starts)} buckets")

    @property
    def ends(self) -> list[datetime]:
        """End of each bucket, which is the beginning of the next."""
        return [*self.starts[1:], self.end][: len(self.starts)]

    @property
    def highest_value(self) -> Number:
        """Largest value shown."""
        numbers = [value for line in self.lines for value in line.values if value is not None]
        return max([*numbers, *([self.threshold.value] if self.threshold else []), 0])
