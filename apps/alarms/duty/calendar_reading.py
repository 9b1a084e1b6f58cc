"""Reads the calendars that are due: fetches those with an address, and makes shifts of their events.

Fetching needs the network and no transaction; the shifts of one calendar are then written in one. What cannot be fetched or read leaves the
shifts of the last reading, so that a server that is away takes nobody off duty.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from cryptography.fernet import InvalidToken
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.alarms.duty.address_encryption import UNREADABLE_ADDRESS, decrypt_address
from apps.alarms.duty.calendar_events import MOST_OCTETS, CalendarNotRead, EventOccurrence, ParsedCalendar
from apps.alarms.duty.calendar_parser import parse_calendar
from apps.alarms.duty.matching import DutyCandidate, MatchFailure, match_person
from apps.alarms.duty.models import DutyCalendar, DutyShift
from apps.alarms.duty.selectors import list_candidates
from apps.bans.feed_fetcher import FetchedFeed, FetchLimits, fetch_feed
from apps.bans.feed_refresh import build_allowed_targets
from apps.lib.foreign_text import make_printable
from apps.lib.web.guarded_http import NoAnswer

READ_EVERY: Final = timedelta(minutes=15)
FETCH_SECONDS: Final = 30.0
AHEAD: Final = timedelta(days=90)
MOST_SHOWN: Final = 50
LONGEST_REASON: Final = 300  # characters
BROKEN: Final = "broken"  # a fault of feeds too, which has its sentence there
_PATHS: Final = re.compile(r"(https?://[^/\s]+)/\S*")  # of addresses, which may hold a secret
log = structlog.get_logger()


def read_due_calendars(now: datetime) -> int:
    """Read each calendar that is due. Return how many were. Two workers do not read the same one at once."""
    due = list(_filter_due(now).order_by("due", "pk").values_list("pk", flat=True))
    return sum(read_calendar(pk, now) for pk in due)


def _filter_due(now: datetime) -> QuerySet[DutyCalendar]:
    """Return what is due. A time that lies twice as far ahead as a reading is put off was written while the clock was ahead."""
    return DutyCalendar.objects.filter(Q(due__lte=now) | Q(due__gt=now + 2 * READ_EVERY), active=True)


def read_calendar(pk: int, now: datetime) -> bool:
    """Read one calendar if it is due, and claim it by putting off the next reading. Return whether it was due."""
    if not _filter_due(now).filter(pk=pk).update(due=now + READ_EVERY, tried=now):
        return False
    calendar = DutyCalendar.objects.get(pk=pk)
    try:
        columns = _fetch_content(calendar)
        content = bytes(columns.get("content", calendar.content))
        _store_shifts(calendar, columns, parse_calendar(content, now, now + AHEAD, timezone.get_current_timezone()), now)
    except (NoAnswer, CalendarNotRead) as why:
        _record_fault(calendar, why.fault.value, why.what, now)
    except InvalidToken:
        _record_fault(calendar, UNREADABLE_ADDRESS, "", now)
    except Exception as error:  # the page says so, and the other calendars are read
        log.exception("calendar of shifts broken", calendar=calendar.name)
        _record_fault(calendar, BROKEN, type(error).__name__, now)
    return True


def _fetch_content(calendar: DutyCalendar) -> dict[str, Any]:
    """Return the columns that change by fetching; none if the calendar was uploaded, or is the same as before. Raises NoAnswer."""
    if not calendar.target:
        return {}
    known = FetchedFeed(None, calendar.etag, calendar.last_modified)
    fetched = fetch_feed(decrypt_address(calendar), known, FetchLimits(MOST_OCTETS, FETCH_SECONDS, build_allowed_targets()))
    if fetched.content is None:
        return {}
    return {"content": fetched.content, "etag": fetched.etag[:300], "last_modified": fetched.last_modified[:100]}


def _record_fault(calendar: DutyCalendar, fault: str, what: str, now: datetime) -> None:
    log.warning("calendar of shifts not read", calendar=calendar.name, fault=fault)
    error = [fault, _PATHS.sub(r"\1/…", make_printable(what, LONGEST_REASON))]
    DutyCalendar.objects.filter(pk=calendar.pk, version=calendar.version).update(error=error, error_since=calendar.error_since or now)


@transaction.atomic
def _store_shifts(calendar: DutyCalendar, columns: dict[str, Any], parsed: ParsedCalendar, now: datetime) -> None:
    """Make the calendar's coming shifts what was read, unless somebody has changed the calendar meanwhile."""
    if not DutyCalendar.objects.select_for_update().filter(pk=calendar.pk, version=calendar.version).exists():
        return
    people = [DutyCandidate(each.pk, each.username, each.name, each.email) for each in list_candidates()]
    matched = [(each, match_person(each, people)) for each in parsed.occurrences]
    wanted = {each.key: (each, person) for each, person in matched if isinstance(person, DutyCandidate)}
    there = {each.uid: each for each in calendar.shifts.all()}
    outdated = [each.pk for uid, each in there.items() if uid not in wanted and each.ends > now]
    DutyShift.objects.filter(pk__in=outdated).delete()
    for uid, (occurrence, person) in wanted.items():
        _store_shift(calendar, there.get(uid), uid, occurrence, person)
    unmatched = _describe_unmatched(matched, parsed)
    well = {"read": now, "error": [], "error_since": None, "unmatched": unmatched}
    DutyCalendar.objects.filter(pk=calendar.pk).update(**well, **columns)
    log.info("calendar of shifts read", calendar=calendar.name, shifts=len(wanted), unmatched=len(unmatched))


def _store_shift(calendar: DutyCalendar, row: DutyShift | None, uid: str, occurrence: EventOccurrence, person: DutyCandidate) -> None:
    given = {"person_id": person.pk, "begins": occurrence.begins, "ends": occurrence.ends}
    if row is None:
        DutyShift.objects.create(calendar=calendar, uid=uid, **given)
    elif any(getattr(row, name) != value for name, value in given.items()):
        DutyShift.objects.filter(pk=row.pk).update(**given)


def _describe_unmatched(
    matched: Sequence[tuple[EventOccurrence, DutyCandidate | MatchFailure]], parsed: ParsedCalendar
) -> list[dict[str, object]]:
    """Return what is nobody's shift, each event once, with its first time, its number, the reason, and the people it names."""
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for summary, begins, reason, names in _iter_unmatched(matched, parsed):
        row = rows.setdefault((summary, reason), {"summary": summary, "begins": begins, "reason": reason, "names": names, "times": 0})
        row["times"] = int(str(row["times"])) + 1
    return list(rows.values())[:MOST_SHOWN]


def _iter_unmatched(
    matched: Sequence[tuple[EventOccurrence, DutyCandidate | MatchFailure]], parsed: ParsedCalendar
) -> Iterator[tuple[str, str | None, str, list[str]]]:
    for occurrence, failure in matched:
        if isinstance(failure, MatchFailure):
            yield occurrence.summary, occurrence.begins.isoformat(), failure.reason.value, list(failure.names)
    for event in parsed.skipped:
        yield event.summary, event.begins.isoformat() if event.begins else None, event.reason.value, []
