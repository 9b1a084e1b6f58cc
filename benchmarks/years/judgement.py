"""Verdict on the growth of tables: what a table's bound allows, and by how much it grew more.

Comes in: sizes of all tables at the end of each month. Judged is the second half, when everything that is kept for up to half of the
time has been removed for the first time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from apps.operations.registry import TableBoundKind, TableRetention
from apps.operations.table_growth import LEAST

FLUCTUATION: Final = 0.15  # of the size: room that pruning leaves free, and years that differ
HISTORY: Final = 12_000  # octets per member and year by which one table of history, or of what people enter, may grow
HISTORY_LEAST: Final = 64 << 20  # octets a year by which it may grow besides, however few members there are
NOTHING: Final = "none"


@dataclass(frozen=True)
class TableSizes:
    """Octets of one table at the end of each month, and what bounds it."""

    name: str
    octets: Sequence[int]
    retention: TableRetention | None

    @property
    def growth(self) -> int:
        """Octets by which the table grew in the second half."""
        return self.octets[-1] - self.octets[(len(self.octets) - 1) // 2]


def compute_excess(table: TableSizes, members: int, years: float, least: int = LEAST) -> int:
    """Return by how many octets the table grew more than its bound allows in the second half of the years; 0 if it did not.

    least: growth in octets that says nothing, of a small table.
    """
    allowed = FLUCTUATION * (table.octets[-1] - table.growth)
    if keeps_rows(table.retention):
        allowed += (HISTORY * members + HISTORY_LEAST) * years / 2
    return max(int(table.growth - max(allowed, least)), 0)


def keeps_rows(retention: TableRetention | None) -> bool:
    """True if the table grows with the years on purpose: as history, or by what people enter."""
    if retention is None:
        return False
    return retention.bound in (TableBoundKind.HISTORY, TableBoundKind.PEOPLE) or retention.rows_stay


def find_largest_unbounded(tables: Mapping[str, TableSizes], members: int, years: float, least: int = LEAST) -> tuple[str, int]:
    """Return the name of the table that grew most beyond its bound, and by how many octets; NOTHING and 0 if none did."""
    excess = {name: compute_excess(table, members, years, least) for name, table in tables.items()}
    worst = max(excess, key=lambda name: excess[name], default=NOTHING)
    return (worst, excess[worst]) if excess.get(worst) else (NOTHING, 0)
