"""Services that store incoming mail, before it is parsed, and that retry or delete mail in quarantine.

`dispatcher.py` has the mail read, and hands it to the registered handler.
"""

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

import structlog
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.inbound_mail.charsets import collapse_lines
from apps.inbound_mail.models import Arrival
from apps.inbound_mail.raw_headers import extract_headers
from apps.lib.enqueue import send_task
from apps.lib.errors import Conflict
from apps.mail.redaction import redact_staff_addresses

TASK: Final = "workers.receive_mail"
ITS_ID: Final = re.compile(rb"^Message-ID:[ \t]*(?:\r?\n[ \t]+)?(<[!-;=?-~]{1,248}>)", re.IGNORECASE | re.MULTILINE)
LONGEST: Final = 320
MOST_RECIPIENTS: Final = 1000
log = structlog.get_logger()


class TooLarge(Exception):  # noqa: N818 - says what a mail is
    """The mail is larger than NETZWART_MAIL_IN_MIB; it was not stored."""


def store_arrival(
    *,
    octets: bytes,
    way: Arrival.Way,
    sender: str | None = None,
    recipients: Sequence[str] = (),
    place: str | None = None,
    reason: str = "",
) -> Arrival:
    """Store a mail; once the transaction is committed, it may be acknowledged. A duplicate is counted, not stored again.

    sender, recipients: of the envelope; "" is the empty sender, None an unknown one. place: see `Arrival`. reason: puts it into quarantine
    at once. Raises TooLarge; after a database error it is not stored, and the sending side keeps it.
    """
    if len(octets) > settings.MAIL_IN_OCTETS:
        raise TooLarge(f"{len(octets)} octets; at most {settings.MAIL_IN_OCTETS} are accepted")
    row = Arrival(
        way=way, octets=octets, size=len(octets), sha256=sha256(octets).digest(), message_id=_find_message_id(octets), place=place,
        sender=None if sender is None else redact_staff_addresses(_clean_address(sender)), recipients=_clean_recipients(recipients),
    )  # fmt: skip
    if reason:
        row.state, row.reason, row.ended = Arrival.State.QUARANTINED, reason, Now()
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        if (there := _count_duplicate(row)) is None:
            raise
        return there
    if not reason:
        enqueue_reading()
    log.info("mail arrived", arrival=row.pk, way=str(way), octets=row.size)
    return row


def enqueue_reading() -> None:
    """Enqueue the reading task after the commit, once per transaction however many mails arrived."""
    if not any(found[1] is _send_task for found in connection.run_on_commit):
        transaction.on_commit(_send_task, robust=True)


def retry_arrival(*, arrival: Arrival, by: User) -> None:
    """Have a quarantined mail read again. Raises Conflict when it is no longer in quarantine."""
    fresh = {"state": Arrival.State.WAITING, "tries": 0, "ended": None, "ended_by": None, "reason": "", "detail": ""}
    with transaction.atomic():
        if not _filter_quarantined(arrival).update(**fresh):
            raise Conflict(_("This mail is no longer in quarantine."))
        enqueue_reading()
    log.info("mail read again", arrival=arrival.pk, by=by.username)


def erase_arrival_content(*, arrival: Arrival, by: User) -> None:
    """Erase the content of a quarantined mail; its record and the reason stay. Raises Conflict when it is no longer in quarantine."""
    if not _filter_quarantined(arrival).update(state=Arrival.State.DELETED, octets=None, ended=Now(), ended_by=by):
        raise Conflict(_("This mail is no longer in quarantine."))
    log.info("mail deleted from quarantine", arrival=arrival.pk, by=by.username)


def _send_task() -> None:
    send_task(TASK)


def _filter_quarantined(arrival: Arrival) -> QuerySet[Arrival]:
    return Arrival.objects.filter(pk=arrival.pk, state=Arrival.State.QUARANTINED)


def _count_duplicate(row: Arrival) -> Arrival | None:
    """Count the duplicate on the stored arrival and return that; while it waits, it gets these recipients too."""
    same = Q(message_id=row.message_id, sha256=row.sha256) & ~Q(message_id="")
    with transaction.atomic():
        there = Arrival.objects.select_for_update().defer("octets").filter(same | Q(place=row.place, place__isnull=False)).first()
        if there is None:
            return None
        there.times = F("times") + 1
        if there.state == Arrival.State.WAITING:
            there.recipients = _clean_recipients([*there.recipients, *row.recipients])
        there.save(update_fields=["times", "recipients"])
    log.info("mail arrived again", arrival=there.pk, way=row.way)
    return there


def _clean_recipients(given: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(_clean_address(each) for each in given))[:MOST_RECIPIENTS]


def _clean_address(address: str) -> str:
    """Return an envelope address as the database can hold it, without angle brackets."""
    return collapse_lines(address.encode("utf-8", "replace").decode(), LONGEST).strip("<>")


def _find_message_id(octets: bytes) -> str:
    found = ITS_ID.search(extract_headers(octets))
    return found[1].decode("ascii") if found else ""
