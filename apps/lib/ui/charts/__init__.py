"""A chart as values: at most two lines over buckets of time, from zero upwards, with gaps where nothing was read.

`drawing.drawn` makes of it what templates/lib/chart.html shows: an SVG and a table, and the same numbers for the browser's own chart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.lib.ui.formats import BITS, OCTETS, Number


@dataclass(frozen=True, slots=True)
class ChartUnit:
    """What is counted: the units, each 1000 times the one before, and per what: Unit(OCTETS, "/h")."""

    steps: tuple[str, ...]
    per: str = ""


VOLUME = ChartUnit(OCTETS)
RATE = ChartUnit(BITS)


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One line: what it shows ("down"), and a number for each bucket; None where nothing was read."""

    name: str
    values: Sequence[Number | None]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A dotted line across, with its name."""

    name: str
    value: Number


@dataclass(frozen=True, slots=True)
class Chart:
    """starts: when each bucket begins, ascending and aware; end: when the last one ends. key: an HTML id, once on a page.

    missing: what is said where there is no number, "" for "no reading".
    """

    key: str
    title: str
    starts: Sequence[datetime]
    end: datetime
    lines: Sequence[ChartLine]
    unit: ChartUnit = VOLUME
    threshold: Threshold | None = None
    missing: str = ""

    def __post_init__(self) -> None:
        if not 1 <= len(self.lines) <= 2:
            raise ValueError(f"chart {self.key}: one or two lines, not {len(self.lines)}")
        for line in self.lines:
            if len(line.values) != len(self.starts):
                raise ValueError(f"chart {self.key}: {line.name} has {len(line.values)} values for {len(self.starts)} buckets")

    @property
    def ends(self) -> list[datetime]:
        """When each bucket ends: as the next one begins."""
        return [*self.starts[1:], self.end][: len(self.starts)]

    @property
    def most(self) -> Number:
        """The largest number that is shown."""
        numbers = [value for line in self.lines for value in line.values if value is not None]
        return max([*numbers, *([self.threshold.value] if self.threshold else []), 0])
