"""Sentences for calendars of shifts: why one was not read, and why an event is nobody's shift."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from apps.alarms.duty.address_encryption import UNREADABLE_ADDRESS
from apps.alarms.duty.calendar_events import LONGEST_SHIFT, CalendarFault, SkipReason
from apps.alarms.duty.matching import MatchReason
from apps.alarms.duty.models import DutyCalendar
from apps.bans.refusal_texts import explain_feed_fault

FAULTS: Final = {
    CalendarFault.TOO_BIG.value: _("The calendar is larger than %(what)s MiB."),
    CalendarFault.NO_CALENDAR.value: _("This is not an iCalendar file: %(what)s"),
    CalendarFault.TOO_MANY.value: _("The calendar has more than %(what)s events or repetitions. Use one that has shifts alone."),
    CalendarFault.TOO_FREQUENT.value: _("The calendar has a rule that repeats more often than daily, which no shift does."),
    UNREADABLE_ADDRESS: _("Its address was encrypted with another NETZWART_SECRET_KEY; enter it again."),
}
REASONS: Final = {
    MatchReason.NOBODY.value: _("names nobody who operates the network: neither an attendee’s address, nor a name in its title"),
    MatchReason.SEVERAL.value: _("names several: %(names)s"),
    SkipReason.UNREADABLE.value: _("is not written as iCalendar demands"),
    SkipReason.NO_TIME.value: _("has no beginning"),
    SkipReason.UNKNOWN_ZONE.value: _("is in a time zone that the file does not describe"),
    SkipReason.RULE.value: _("repeats by a rule that cannot be read, began over ten years ago, or is too frequent"),
    SkipReason.NO_DURATION.value: _("lasts no time"),
    SkipReason.TOO_LONG.value: _("lasts more than %(most)d days"),
}


@dataclass(frozen=True)
class UnmatchedEvent:
    """An event that is nobody's shift, in words. times: how often it occurs in the coming months."""

    summary: str
    begins: datetime | None
    times: int
    why: str


def explain_error(calendar: DutyCalendar) -> str:
    """Return why the calendar was not read; "" if it was."""
    if not calendar.error:
        return ""
    fault, what = calendar.error
    return str(FAULTS[fault]) % {"what": what} if fault in FAULTS else explain_feed_fault(fault, what)


def iter_unmatched(rows: Sequence[Mapping[str, Any]]) -> Iterator[UnmatchedEvent]:
    """Yield what the last reading did not match."""
    for row in rows:
        begins = datetime.fromisoformat(row["begins"]) if row["begins"] else None
        why = str(REASONS[row["reason"]]) % {"names": ", ".join(row["names"]), "most": LONGEST_SHIFT.days}
        yield UnmatchedEvent(row["summary"], begins, row["times"], why)
