"""Reads shifts from an iCalendar file (RFC 5545): bytes in, occurrences and skipped events out. Knows no database and no people.

Repetitions, their exceptions and moved occurrences are expanded by recurring_ical_events. The file may come from anybody, so its size, the
number of its events and what a rule may ask for are limited before anything is expanded.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from hashlib import sha256
from math import prod
from typing import Any, Final

import recurring_ical_events  # type: ignore[import-untyped]  # it has no types
from icalendar import Calendar, Component
from icalendar.prop import vBroken

from apps.alarms.duty.calendar_events import (
    LONGEST_SHIFT,
    MOST_OCTETS,
    CalendarFault,
    CalendarNotRead,
    EventOccurrence,
    ParsedCalendar,
    SkippedEvent,
    SkipReason,
)
from apps.lib.database.validity import EARLIEST, FARTHEST

MOST_EVENTS: Final = 3000
MOST_RULES: Final = 300
MOST_OCCURRENCES: Final = 2000
MOST_TIMES_A_DAY: Final = 4
OLDEST_RULE: Final = timedelta(days=3660)
FREQUENCIES: Final = frozenset({"DAILY", "WEEKLY", "MONTHLY", "YEARLY"})
_UNFOLDED: Final = re.compile(rb"\r?\n[ \t]")  # RFC 5545, 3.1
_TOO_FREQUENT: Final = re.compile(rb"FREQ\s*=\s*(?:SECONDLY|MINUTELY|HOURLY)", re.IGNORECASE)


def parse_calendar(content: bytes, since: datetime, until: datetime, zone: tzinfo) -> ParsedCalendar:
    """Return what happens between the two times. zone: that of days and times without one. Raises CalendarNotRead."""
    by_event, skipped = defaultdict[str, list[Component]](list), list[SkippedEvent]()
    for event in _read_events(content):
        if reason := _find_reason_to_skip(event, since):
            skipped.append(SkippedEvent(_read_text(event, "SUMMARY"), _read_beginning(event, zone), reason))
        else:
            by_event[_read_text(event, "UID")].append(event)
    found: dict[str, EventOccurrence] = {}
    for uid, events in by_event.items():
        try:
            occurrences = [_build_occurrence(uid, each, zone) for each in _expand(events, since, until)]
        except Exception:  # the library raises whatever an event of a stranger leads to; the other events count
            skipped.append(SkippedEvent(_read_text(events[0], "SUMMARY"), _read_beginning(events[0], zone), SkipReason.RULE))
            continue
        for occurrence in occurrences:
            if reason := _find_bad_length(occurrence):
                skipped.append(SkippedEvent(occurrence.summary, occurrence.begins, reason))
            else:
                found[occurrence.key] = occurrence
        if len(found) + len(skipped) > MOST_OCCURRENCES:
            raise CalendarNotRead(CalendarFault.TOO_MANY, MOST_OCCURRENCES)
    return ParsedCalendar(sorted(found.values(), key=lambda each: (each.begins, each.key)), skipped)


def _read_events(content: bytes) -> list[Component]:
    if len(content) > MOST_OCTETS:
        raise CalendarNotRead(CalendarFault.TOO_BIG, MOST_OCTETS >> 20)
    text = _UNFOLDED.sub(b"", content)
    if text.upper().count(b"BEGIN:VEVENT") > MOST_EVENTS:
        raise CalendarNotRead(CalendarFault.TOO_MANY, MOST_EVENTS)
    if _TOO_FREQUENT.search(text):  # also in time zones, whose rules are expanded while the file is parsed
        raise CalendarNotRead(CalendarFault.TOO_FREQUENT)
    try:
        calendar = Calendar.from_ical(content)
    except Exception as error:  # the parser raises whatever a stranger's file leads to
        raise CalendarNotRead(CalendarFault.NO_CALENDAR, f"{type(error).__name__}: {error}") from error
    if not isinstance(calendar, Calendar):
        raise CalendarNotRead(CalendarFault.NO_CALENDAR)
    events = list(calendar.walk("VEVENT"))
    if sum("RRULE" in each for each in events) > MOST_RULES:
        raise CalendarNotRead(CalendarFault.TOO_MANY, MOST_RULES)
    return events


def _expand(events: Sequence[Component], since: datetime, until: datetime) -> Iterator[Component]:
    """Yield the occurrences of one event, without those that are cancelled."""
    series = Calendar()
    for each in events:
        series.add_component(each)
    for each in recurring_ical_events.of(series).between(since, until):
        if _read_text(each, "STATUS").upper() != "CANCELLED":
            yield each


def _find_reason_to_skip(event: Component, since: datetime) -> SkipReason | None:
    if any(isinstance(each, vBroken) for each in event.values()):
        return SkipReason.UNREADABLE
    begins = _read_time(event, "DTSTART")
    if begins is None:
        return SkipReason.NO_TIME
    for name in ("DTSTART", "DTEND"):
        at = _read_time(event, name)
        if isinstance(at, datetime) and at.tzinfo is None and "TZID" in _read_parameters(event, name):
            return SkipReason.UNKNOWN_ZONE
    rules: Any = event.get("RRULE", [])
    oldest = (since - OLDEST_RULE).date()
    is_harmless = all(map(_is_harmless, rules if isinstance(rules, list) else [rules]))
    is_old = "RRULE" in event and (begins.date() if isinstance(begins, datetime) else begins) < oldest
    return None if is_harmless and not is_old else SkipReason.RULE


def _is_harmless(rule: Any) -> bool:
    """True if the rule asks for a few occurrences a day at most: others are no shifts, and would take long to expand."""
    if not isinstance(rule, Mapping):
        return False
    times = prod(max(1, len(rule.get(name, []))) for name in ("BYHOUR", "BYMINUTE", "BYSECOND"))
    return {str(each).upper() for each in rule.get("FREQ", [])} <= FREQUENCIES and times <= MOST_TIMES_A_DAY


def _build_occurrence(uid: str, event: Component, zone: tzinfo) -> EventOccurrence:
    begins = _read_time(event, "DTSTART")
    if begins is None:
        raise ValueError("an occurrence without a beginning")
    start, ends = _to_instant(begins, zone), _find_end(event, begins)
    key = f"{sha256(uid.encode()).hexdigest()[:40]}-{start:%Y%m%dT%H%M%SZ}"
    people = [each for each in _list_properties(event, "ATTENDEE") if str(each.params.get("PARTSTAT", "")).upper() != "DECLINED"]
    organizer = _list_properties(event, "ORGANIZER")
    addresses = tuple(filter(None, map(_read_address, people)))
    return EventOccurrence(
        key, _read_text(event, "SUMMARY"), start, _to_instant(ends, zone), addresses, _read_address(organizer[0]) if organizer else ""
    )


def _find_end(event: Component, begins: date | datetime) -> date | datetime:
    """Return the end: as given, or after the duration, or the same day's for a day without one (RFC 5545, 3.6.1)."""
    if end := _read_time(event, "DTEND"):
        return end
    lasts: Any = event.get("DURATION")
    if isinstance(getattr(lasts, "dt", None), timedelta):
        return begins + lasts.dt  # type: ignore[no-any-return]  # a date and a timedelta
    return begins if isinstance(begins, datetime) else begins + timedelta(days=1)


def _find_bad_length(occurrence: EventOccurrence) -> SkipReason | None:
    if occurrence.ends <= occurrence.begins:
        return SkipReason.NO_DURATION
    return SkipReason.TOO_LONG if occurrence.ends - occurrence.begins > LONGEST_SHIFT else None


def _to_instant(at: date | datetime, zone: tzinfo) -> datetime:
    """Return the instant in UTC. A day begins at its first moment in the zone; a time without a zone is local there."""
    moment = at if isinstance(at, datetime) else datetime.combine(at, time.min)
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)


def _read_beginning(event: Component, zone: tzinfo) -> datetime | None:
    """Return None also for a time at the beginning or end of the calendar, which cannot be shown in each zone."""
    at = _read_time(event, "DTSTART")
    try:
        return _to_instant(at, zone) if at and EARLIEST.year <= at.year < FARTHEST.year else None
    except (OverflowError, ValueError):  # in a zone of the file's own
        return None


def _read_time(event: Component, name: str) -> date | datetime | None:
    value: Any = event.get(name)
    at = None if isinstance(value, vBroken) else getattr(value, "dt", None)
    return at if isinstance(at, date) else None


def _read_parameters(event: Component, name: str) -> Mapping[str, str]:
    value: Any = event[name]
    return value.params  # type: ignore[no-any-return]  # each value of a time has them


def _read_text(event: Component, name: str) -> str:
    return " ".join(str(event.get(name, "")).replace("\0", "").split())[:200]


def _list_properties(event: Component, name: str) -> list[Any]:
    found: Any = event.get(name, [])
    return found if isinstance(found, list) else [found]


def _read_address(value: Any) -> str:
    """Return the email address of a calendar user (RFC 5545, 3.3.3), or of its parameter EMAIL (RFC 7986, 6.2); "" if it has none."""
    said = str(value)
    return said[7:].strip() if said[:7].lower() == "mailto:" else str(value.params.get("EMAIL", "")).strip()
