"""Resolution of the rota: who is on duty when, as pure functions of shifts that may overlap and leave gaps.

All times are aware, and kept in UTC: Python compares two times of one zone by what the clock shows, which is the same twice in the night in
which it goes back. So days of 23 and 25 hours need no special case.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise


@dataclass(frozen=True)
class ShiftSpan:
    """What counts of a shift. pk: newer shifts have higher ones. is_entered: a person entered it; else it comes from a calendar."""

    pk: int
    person: int
    begins: datetime
    ends: datetime
    is_entered: bool

    def __post_init__(self) -> None:
        for name in ("begins", "ends"):
            object.__setattr__(self, name, getattr(self, name).astimezone(UTC))


@dataclass(frozen=True)
class DutyTurn:
    """A time in which one shift counts; shift None: nobody is on duty."""

    begins: datetime
    ends: datetime
    shift: ShiftSpan | None

    @property
    def person(self) -> int | None:
        """The id of the person on duty."""
        return self.shift.person if self.shift else None


def resolve_turns(shifts: Sequence[ShiftSpan], since: datetime, until: datetime) -> list[DutyTurn]:
    """Return the turns between two times, without holes between them. Of shifts that overlap, one that a person entered counts before
    one of a calendar, and then the newer before the older.
    """
    since, until = since.astimezone(UTC), until.astimezone(UTC)
    inside = [each for each in shifts if each.begins < until and each.ends > since]
    edges = {since, until} | {at for each in inside for at in (each.begins, each.ends) if since < at < until}
    turns = [DutyTurn(begins, ends, _find_shift(inside, begins)) for begins, ends in pairwise(sorted(edges))]
    return list(_join_turns(turns))


def _find_shift(shifts: Sequence[ShiftSpan], at: datetime) -> ShiftSpan | None:
    going_on = (each for each in shifts if each.begins <= at < each.ends)
    return max(going_on, key=lambda each: (each.is_entered, each.pk), default=None)


def _join_turns(turns: Sequence[DutyTurn]) -> Iterator[DutyTurn]:
    """Join neighbours of the same shift."""
    last: DutyTurn | None = None
    for turn in turns:
        if last and last.shift == turn.shift:
            last = DutyTurn(last.begins, turn.ends, turn.shift)
            continue
        if last:
            yield last
        last = turn
    if last:
        yield last


def find_handover(turns: Sequence[DutyTurn]) -> datetime | None:
    """Return when somebody else, or nobody, takes over from the person of the first turn; None if that is after the last turn."""
    return next((each.begins for each in turns if each.person != turns[0].person), None)


def list_gaps(turns: Sequence[DutyTurn]) -> list[DutyTurn]:
    """Return the turns in which nobody is on duty."""
    return [each for each in turns if each.shift is None]
