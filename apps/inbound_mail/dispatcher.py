"""Dispatcher from arrivals to the mail handler: each arrival is claimed, parsed in a child process, and handed over, one after the other.

The handler is called in the transaction in which the arrival becomes "taken": both are committed, or neither. If the handler raises
MailRefused or anything else, the mail goes into quarantine; only after a lost database does it keep waiting. So no mail blocks the others.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_noop

from apps.inbound_mail.message import ReceivedMail
from apps.inbound_mail.models import Arrival
from apps.inbound_mail.parse_limits import DIED, TOO_BUSY, OutOfTime, ParseLimits, Unreadable
from apps.inbound_mail.parser_process import MailReader
from apps.lib.heap_trim import return_large_blocks, trim_heap
from apps.mail.redaction import redact_staff_addresses

LEASE: Final = timedelta(minutes=2)  # far longer than one mail takes
SECONDS: Final = 10.0  # after which no further mail is started
LARGE: Final = 1 << 20  # octets of a mail after which free memory is returned to the system
MOST_TRIES: Final = 3  # workers that may die of one mail, or be too busy for it
NOT_TAKEN: Final = gettext_noop("It was read, but could not be filed.")
MailHandler = Callable[[Arrival, ReceivedMail], None]
Clock = Callable[[], datetime]
log = structlog.get_logger()

CLAIM: Final = """
    UPDATE inbound_arrival SET tries = tries + 1, claimed_until = %(until)s WHERE id = (
        SELECT id FROM inbound_arrival WHERE state = 'waiting' AND (claimed_until IS NULL OR claimed_until <= %(now)s)
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
    ) RETURNING *
"""


class MailRefused(Exception):  # noqa: N818 - an answer
    """Raised by the handler: this mail is not for us. The reason is a sentence for people."""


class ArrivalClaimLost(Exception):  # noqa: N818 - an answer
    """Another worker has claimed the arrival meanwhile: this one was slower than its lease."""


@dataclass(frozen=True)
class DispatchCounts:
    """Counts of one run. more: further arrivals may be waiting."""

    taken: int = 0
    quarantined: int = 0
    more: bool = False


_takers: list[MailHandler] = []


def register_mail_handler(take: MailHandler) -> MailHandler:
    """Register the mail handler, in the `ready()` of its app; a later one replaces it. Mail waits until there is one."""
    _takers[:] = [take]
    return take


def find_mail_handler() -> MailHandler | None:
    return _takers[0] if _takers else None


def build_reader() -> MailReader:
    """Build a reader with the limits of the settings and the name of our receiving server, which is trusted to authenticate senders."""
    return MailReader(ParseLimits(octets=settings.MAIL_IN_OCTETS), settings.MAIL_IN_AUTHSERV_ID)


def list_waiting_arrivals(limit: int = 100) -> QuerySet[Arrival]:
    """Return the oldest arrivals that wait to be read, without their content."""
    return Arrival.objects.filter(state=Arrival.State.WAITING).defer("octets").order_by("id")[:limit]


def receive_mail(take: MailHandler, read_by: MailReader, clock: Clock = timezone.now) -> DispatchCounts:
    """Read waiting arrivals and hand them over, for about SECONDS. Any number of workers may run this at once."""
    return_large_blocks()
    done, end = DispatchCounts(), monotonic() + SECONDS
    while monotonic() < end:
        arrival = claim_arrival(clock())
        if arrival is None:
            return done
        became = _hand_over(arrival, take, read_by)
        if arrival.size > LARGE:
            del arrival
            trim_heap()
        if became is Arrival.State.TAKEN:
            done = replace(done, taken=done.taken + 1)
        elif became is Arrival.State.QUARANTINED:
            done = replace(done, quarantined=done.quarantined + 1)
    return replace(done, more=True)


def claim_arrival(now: datetime) -> Arrival | None:
    """Claim one waiting arrival. No other worker claims it before LEASE is over."""
    return next(iter(Arrival.objects.raw(CLAIM, {"now": now, "until": now + LEASE})), None)


def mark_arrival_taken(arrival: Arrival) -> None:
    """Mark the arrival as taken, in the caller's transaction. Raises ArrivalClaimLost."""
    _end_arrival(arrival, state=Arrival.State.TAKEN)


def quarantine_arrival(arrival: Arrival, reason: str, detail: str = "") -> None:
    """Put the arrival into quarantine for people to look at. The reason is a sentence, marked for translation. Raises ArrivalClaimLost."""
    _end_arrival(arrival, state=Arrival.State.QUARANTINED, reason=reason[:200] or NOT_TAKEN, detail=detail[:500])
    log.warning("mail quarantined", arrival=arrival.pk, reason=reason, detail=detail)


def _hand_over(arrival: Arrival, take: MailHandler, read_by: MailReader) -> Arrival.State | None:
    """Hand one arrival over and return its new state; None: another worker has claimed it, or it is read again later."""
    try:
        why = _try_filing(arrival, take, read_by)
        if why is None:
            return Arrival.State.TAKEN
        quarantine_arrival(arrival, why.reason, why.detail)
    except ArrivalClaimLost:
        return None
    except OutOfTime:
        log.warning("mail not read in time", arrival=arrival.pk, tries=arrival.tries)
        return None
    return Arrival.State.QUARANTINED


def _try_filing(arrival: Arrival, take: MailHandler, read_by: MailReader) -> Unreadable | None:
    """Read the mail and hand it over. Return None when it was taken, otherwise why not.

    A lost database, a child that does not start, and a machine that is too busy (OutOfTime) say nothing about the mail: these errors are
    raised, and it is read again when the lease is over. But a mail that the database cannot hold at all (SQLSTATE 54: too large, too
    complex), which is an OperationalError too, is at fault itself.
    """
    if arrival.tries > MOST_TRIES:
        return Unreadable(DIED)
    try:
        mail = read_by.read(bytes(arrival.octets or b""), arrival.sender, arrival.recipients)
        with transaction.atomic():
            mark_arrival_taken(arrival)
            take(arrival, mail)
    except (OperationalError, InterfaceError, OSError, ArrivalClaimLost) as error:
        if not _is_fault_of_mail(error):
            raise
        return _report_not_filed(arrival, error)
    except OutOfTime:
        if arrival.tries < MOST_TRIES:
            raise
        return Unreadable(TOO_BUSY)
    except Unreadable as why:
        return why
    except MailRefused as why:
        return Unreadable(str(why))
    except Exception as error:
        return _report_not_filed(arrival, error)
    return None


def _is_fault_of_mail(error: Exception) -> bool:
    """Whether the database says that it cannot hold this mail (PostgreSQL manual, appendix A, class 54)."""
    return str(getattr(error.__cause__, "sqlstate", None) or "").startswith("54")


def _report_not_filed(arrival: Arrival, error: Exception) -> Unreadable:
    log.exception("mail not filed", arrival=arrival.pk)
    return Unreadable(NOT_TAKEN, redact_staff_addresses(f"{type(error).__name__}: {error}".replace("\0", "")))


def _end_arrival(arrival: Arrival, **changes: object) -> None:
    mine = Q(pk=arrival.pk, tries=arrival.tries, state=Arrival.State.WAITING)
    if not Arrival.objects.filter(mine).update(ended=Now(), claimed_until=None, **changes):
        raise ArrivalClaimLost(f"arrival {arrival.pk}")
