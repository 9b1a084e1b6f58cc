"""Table of `python -m lab race`: a line for each interval, and one for the whole run.

In: the reports of all nodes of an interval, and the gateways' `insert_failed`. Out: totals, which can be added, and lines of text.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from lab.measure.connects import ConnectReport
from lab.measure.histogram import DurationHistogram

COLUMNS = {
    "seconds": "for how long connections have been opened",
    "conn/s": "connections that were opened per second, of all nodes together",
    "errors/total": "attempts that failed (refused, timed out, unreachable), of all that ended",
    "median ms": "half of the connections were open after this time",
    "p95 ms": "95 % of them were",
    "p99 ms": "99 % of them were",
    "max ms": "the slowest one; exact, where the three before are up to 1 % off",
    "insert_failed": "first packets that the gateways lost since the start, because connection tracking could not insert them",
}
"""What each column of a line says, from left to right."""
HEADING = "  ".join(COLUMNS)
NOTHING = "-"


@dataclass(frozen=True, slots=True)
class ConnectTotals:
    """What happened in all nodes: `seconds` of opening, the connect times of what succeeded, and errors by the kernel's words."""

    seconds: float = 0.0
    durations: DurationHistogram = field(default_factory=DurationHistogram)
    errors: Counter[str] = field(default_factory=Counter)

    def __add__(self, later: "ConnectTotals") -> "ConnectTotals":
        """Return the totals of two intervals, one after the other."""
        return ConnectTotals(self.seconds + later.seconds, self.durations + later.durations, self.errors + later.errors)

    @property
    def error_count(self) -> int:
        return self.errors.total()

    @property
    def total(self) -> int:
        return self.durations.count + self.error_count


def combine(reports: Iterable[ConnectReport]) -> ConnectTotals:
    """Return the totals of several nodes in the same interval."""
    given = list(reports)
    seconds = max((report.seconds for report in given), default=0.0)
    durations = sum((report.histogram for report in given), start=DurationHistogram())
    return ConnectTotals(seconds, durations, sum((Counter(report.errors) for report in given), start=Counter()))


def render_line(first: str, totals: ConnectTotals, insert_failed: int) -> str:
    """Return a line under the heading; `first` is what its first column says. A value that nothing was measured for is a hyphen."""
    rate = f"{totals.durations.count / totals.seconds:.0f}" if totals.seconds else NOTHING
    times = [totals.durations.compute_percentile(percent) for percent in (50, 95, 99)]
    times.append(totals.durations.longest if totals.durations.count else None)
    cells = [first, rate, f"{totals.error_count}/{totals.total}", *map(_render_time, times), str(insert_failed)]
    return "  ".join(cell.rjust(len(column)) for cell, column in zip(cells, COLUMNS, strict=True))


def render_errors(totals: ConnectTotals) -> str:
    """Return a sentence that counts the errors by their kind; empty if there were none."""
    return ", ".join(f"{count} × {words}" for words, count in totals.errors.most_common())


def _render_time(milliseconds: float | None) -> str:
    if milliseconds is None:
        return NOTHING
    return f"{milliseconds:.2f}" if milliseconds < 100 else f"{milliseconds:.0f}"
