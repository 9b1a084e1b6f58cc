"""What is read from an iCalendar file, why a file or an event is not, and their limits. Without the parser, which pages do not need."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

MOST_OCTETS: Final = 1 << 20
LONGEST_SHIFT: Final = timedelta(days=31)


class CalendarFault(StrEnum):
    """Why a file is refused as a whole."""

    TOO_BIG = "calendar too big"
    NO_CALENDAR = "no calendar"
    TOO_MANY = "too many events"
    TOO_FREQUENT = "rule too frequent"


class SkipReason(StrEnum):
    """Why an event is nobody's shift, by its own form."""

    UNREADABLE = "unreadable"
    NO_TIME = "no time"
    UNKNOWN_ZONE = "unknown zone"
    RULE = "rule"
    NO_DURATION = "no duration"
    TOO_LONG = "too long"


class CalendarNotRead(Exception):  # noqa: N818 - a finding about a file, not an error of the program
    """Raised when a file cannot be read, with the fault and what is at fault."""

    def __init__(self, fault: CalendarFault, what: object = "") -> None:
        super().__init__(f"{fault}: {what}")
        self.fault, self.what = fault, str(what)[:300]


@dataclass(frozen=True)
class EventOccurrence:
    """One occurrence of an event. key: the same at each reading. attendees, organizer: email addresses, without those who declined."""

    key: str
    summary: str
    begins: datetime
    ends: datetime
    attendees: tuple[str, ...] = ()
    organizer: str = ""


@dataclass(frozen=True)
class SkippedEvent:
    """An event that cannot be a shift. begins: None if it has no time."""

    summary: str
    begins: datetime | None
    reason: SkipReason


@dataclass(frozen=True)
class ParsedCalendar:
    """What a file holds for a span of time, by its beginning."""

    occurrences: Sequence[EventOccurrence]
    skipped: Sequence[SkippedEvent]
