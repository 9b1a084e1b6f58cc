"""Writes of the calendars that shifts come from: add, change, remove, and read one now. `calendar_reading.py` reads them."""

from dataclasses import dataclass
from typing import Final

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alarms.duty.address_encryption import encrypt_address
from apps.alarms.duty.calendar_events import MOST_OCTETS
from apps.alarms.duty.models import DutyCalendar
from apps.bans.refusal_texts import explain_feed_fault
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.web.guarded_http import NoAnswer, NoAnswerReason, parse_url

MAX_CALENDARS: Final = 10
TASK: Final = "workers.read_duty_calendars"
log = structlog.get_logger()


@dataclass(frozen=True)
class CalendarFacts:
    """Settings of a calendar, as forms and scripts give them: an address or a file with its name. Neither keeps what it has."""

    name: str
    address: str = ""
    content: bytes = b""
    file_name: str = ""
    active: bool = True


def add_calendar(*, facts: CalendarFacts, by: User) -> DutyCalendar:
    """Add a calendar, and read it soon. Raises Problem."""
    if not facts.address and not facts.content:
        raise Problem(_("Enter an address, or choose a file."), "address")
    if DutyCalendar.objects.count() >= MAX_CALENDARS:
        raise Problem(_("There are %(most)d calendars already. Remove one that is no longer needed.") % {"most": MAX_CALENDARS})
    columns = _build_columns(facts)
    try:
        with transaction.atomic():
            made = DutyCalendar.objects.create(**columns)
            enqueue_task(TASK)
    except IntegrityError as error:
        raise _explain_name_conflict() from error
    log.info("calendar of shifts added", calendar=made.name, by=by.username)
    return made


def change_calendar(*, calendar: DutyCalendar, version: int, facts: CalendarFacts, by: User) -> DutyCalendar:
    """Change a calendar, and read it soon. Raises Problem, and Conflict if `version` is not current."""
    columns = _build_columns(facts)
    try:
        with transaction.atomic():
            if not DutyCalendar.objects.filter(pk=calendar.pk, version=version).update(version=F("version") + 1, due=Now(), **columns):
                raise Conflict(_("This was changed since you read it. Read it again, then decide."))
            enqueue_task(TASK)
    except IntegrityError as error:
        raise _explain_name_conflict() from error
    log.info("calendar of shifts changed", calendar=facts.name, by=by.username)
    return DutyCalendar.objects.get(pk=calendar.pk)


def remove_calendar(*, calendar: DutyCalendar, by: User) -> None:
    """Remove a calendar with its shifts."""
    log.info("calendar of shifts removed", calendar=calendar.name, by=by.username)
    calendar.delete()


def request_reading(*, calendar: DutyCalendar, by: User) -> None:
    """Have a calendar read now. Raises Problem if it is switched off."""
    if not calendar.active:
        raise Problem(_("This calendar is switched off."))
    with transaction.atomic():
        DutyCalendar.objects.filter(pk=calendar.pk).update(due=Now())
        enqueue_task(TASK)
    log.info("calendar of shifts is to be read", calendar=calendar.name, by=by.username)


def _build_columns(facts: CalendarFacts) -> dict[str, object]:
    name = " ".join(facts.name.replace("\0", "").split())
    if not name:
        raise Problem(_("Enter a name."), "name")
    if facts.address and facts.content:
        raise Problem(_("Choose either an address or a file."), "address")
    columns: dict[str, object] = {"name": name, "active": facts.active}
    unread: dict[str, object] = {"etag": "", "last_modified": "", "error": [], "error_since": None, "unmatched": []}
    if facts.address:
        address = facts.address.strip().replace("webcal://", "https://", 1)
        return columns | unread | {"target": encrypt_address(address), "shown": _mask_address(address), "content": b""}
    if facts.content:
        if len(facts.content) > MOST_OCTETS:
            raise Problem(_("A calendar has %(most)d MB at most.") % {"most": MOST_OCTETS >> 20}, "file")
        return columns | unread | {"target": "", "shown": facts.file_name.replace("\0", "")[:300] or "ics", "content": facts.content}
    return columns


def _mask_address(address: str) -> str:
    """Return the address without its path, which often holds a secret. Raises Problem if nobody may ask there."""
    schemes = ("https", "http") if settings.FEED_PRIVATE else ("https",)
    try:
        parts = parse_url(address, schemes)
    except NoAnswer as why:
        if why.fault is NoAnswerReason.SCHEME:
            raise Problem(_("The address must begin with https:// or webcal://."), "address") from why
        raise Problem(explain_feed_fault(why.fault.value, why.what), "address") from why
    return f"{parts.scheme}://{parts.netloc}/…"[:300]


def _explain_name_conflict() -> Problem:
    return Problem(_("There is a calendar of this name already."), "name")
