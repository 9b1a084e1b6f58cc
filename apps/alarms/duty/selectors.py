"""Queries of the rota."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, Q, QuerySet

from apps.accounts.models import User
from apps.accounts.roles import Right, list_roles_with_right
from apps.alarms.duty.models import DutyCalendar, DutyShift
from apps.alarms.duty.rota import DutyTurn, ShiftSpan, find_handover, list_gaps, resolve_turns

LOOKAHEAD: Final = timedelta(days=14)
"""The time ahead in which gaps are warned of."""


@dataclass(frozen=True)
class OnDuty:
    """Who is on duty. until: when somebody else, or nobody, takes over; None if that is more than LOOKAHEAD away."""

    person: User
    until: datetime | None


@dataclass(frozen=True)
class RotaTurn:
    """A turn with the rows behind it. shift, person: None for a gap."""

    begins: datetime
    ends: datetime
    shift: DutyShift | None
    person: User | None


@dataclass(frozen=True)
class Rota:
    """The turns of a span of time, without holes. is_used: somebody has entered shifts or calendars; else there is no rota at all."""

    turns: list[RotaTurn]
    is_used: bool

    @property
    def gaps(self) -> list[RotaTurn]:
        """The turns in which nobody is on duty."""
        return [each for each in self.turns if each.person is None] if self.is_used else []


def list_candidates() -> QuerySet[User]:
    """Return the people who may be on duty: active accounts that operate the network."""
    return User.objects.filter(is_active=True, roles__overlap=list_roles_with_right(Right.OPERATE)).order_by(
        "first_name", "last_name", "pk"
    )


def read_turns(since: datetime, until: datetime) -> list[DutyTurn]:
    """Return the turns between two times. Shifts of people who may not operate the network any more do not count."""
    rows = DutyShift.objects.filter(begins__lt=until, ends__gt=since, person__in=list_candidates().order_by())
    rows = rows.filter(Q(calendar=None) | Q(calendar__active=True)).order_by()
    spans = [ShiftSpan(pk, person, begins, ends, calendar is None) for pk, person, begins, ends, calendar in _iter_columns(rows)]
    return resolve_turns(spans, since, until)


def _iter_columns(rows: QuerySet[DutyShift]) -> QuerySet[DutyShift, tuple[int, int, datetime, datetime, int | None]]:
    return rows.values_list("pk", "person_id", "begins", "ends", "calendar_id")


def read_rota(since: datetime, until: datetime) -> Rota:
    """Return the rota between two times with its rows."""
    turns = read_turns(since, until)
    shifts: Mapping[int, DutyShift] = DutyShift.objects.select_related("person", "calendar", "by").in_bulk(
        {each.shift.pk for each in turns if each.shift}
    )
    return Rota([_build_turn(each, shifts) for each in turns], bool(shifts) or is_rota_used())


def _build_turn(turn: DutyTurn, shifts: Mapping[int, DutyShift]) -> RotaTurn:
    shift = shifts.get(turn.shift.pk) if turn.shift else None  # a shift that was removed since is a gap
    return RotaTurn(turn.begins, turn.ends, shift, shift.person if shift else None)


def is_rota_used() -> bool:
    """True if there ever were shifts, or there is a calendar: without a rota there are no gaps to warn of."""
    return DutyShift.objects.exists() or DutyCalendar.objects.exists()


def find_on_duty(now: datetime) -> OnDuty | None:
    """Return who is on duty now; None if nobody is."""
    turns = read_turns(now, now + LOOKAHEAD)
    person = User.objects.filter(pk=turns[0].person).first() if turns[0].person else None
    return OnDuty(person, find_handover(turns)) if person else None


def count_coming_gaps(now: datetime) -> int:
    """Return how many gaps the coming two weeks have; 0 without a rota."""
    return len(list_gaps(read_turns(now, now + LOOKAHEAD))) if is_rota_used() else 0


def list_calendars(now: datetime) -> QuerySet[DutyCalendar]:
    """Return the calendars, each with its number of coming shifts (`coming`)."""
    coming = Count("shifts", filter=Q(shifts__ends__gt=now))
    return DutyCalendar.objects.defer("content").annotate(coming=coming).order_by("name")
