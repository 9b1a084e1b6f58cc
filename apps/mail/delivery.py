"""Delivers the outbox to the mail server: one mail after the other over one connection, until nothing is due or time is up.

A mail is claimed (`tries` counts the claims, and is the fencing token), handed over, and its outcome is committed before the next one
is claimed. So a worker that dies leaves at most one mail in doubt; that one is sent again, with the same Message-ID (docs/adr/0019).
No lock and no transaction is held while waiting for the network.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

import structlog
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Least
from django.utils import timezone
from django.utils.translation import gettext_noop

from apps.mail import circuit_breaker
from apps.mail.handover import HandoverOutcome, HandoverStatus
from apps.mail.mime import compose_mail, parse_envelope_address
from apps.mail.models import Message
from apps.mail.transport import MailTransport

LEASE: Final = timedelta(minutes=3)  # longer than connecting and one mail may take together
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=1)
GIVE_UP: Final = timedelta(days=5)  # RFC 5321, 4.5.4.1
LEAST_TRIES: Final = 24  # most of a day: after a long outage of our server, a mail is not given up because of its first answer
MAX_MAILS_PER_RUN: Final = 500  # mails
SECONDS: Final = 10.0  # after which no further mail is started
LOST_IN_A_ROW: Final = 3
UNKNOWN_END: Final = gettext_noop("A worker ended in the middle of a try: the mail server may have accepted the mail.")
DOUBLINGS: Final = 10
Clock = Callable[[], datetime]
# One statement, without waiting for the disk: a claim that a database crash loses costs one more try, but no mail.
# MATERIALIZED: in a join, the planner may look for the first mail once for each row of the table, and so claim several.
CLAIM: Final = """
    WITH first AS MATERIALIZED (
        SELECT id AS chosen, claimed_until IS NOT NULL AND tries > 1 AS put_off, set_config('synchronous_commit', 'off', true)
        FROM mail_message WHERE state = 'waiting' AND due <= %(now)s AND (claimed_until IS NULL OR claimed_until <= %(now)s)
        ORDER BY urgent DESC, bulk, due, id LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    UPDATE mail_message SET
        error = CASE WHEN claimed_until IS NULL THEN error ELSE %(unknown)s END,
        due = CASE WHEN put_off THEN %(now)s + least(%(first)s * 2 ^ least(tries - 1, %(doublings)s), %(longest)s) ELSE due END,
        tries = CASE WHEN put_off THEN tries ELSE tries + 1 END,
        claimed_until = CASE WHEN put_off THEN NULL ELSE %(until)s END
    FROM first WHERE id = chosen RETURNING mail_message.*
"""
log = structlog.get_logger()


@dataclass(frozen=True)
class DeliveryResult:
    """Counts of one run. more: further mails are due, and could be sent at once."""

    sent: int = 0
    failed: int = 0
    put_off: int = 0
    more: bool = False


def list_due_mails(now: datetime) -> QuerySet[Message]:
    """Return the mails that may be claimed now: urgent ones first, bulk mail last."""
    free = Q(claimed_until=None) | Q(claimed_until__lte=now)
    return Message.objects.filter(free, state=Message.State.WAITING, due__lte=now).order_by("-urgent", "bulk", "due", "id")


def deliver_due_mails(carrier: MailTransport, clock: Clock = timezone.now) -> DeliveryResult:
    """Send what is due, at most MAX_MAILS_PER_RUN mails and for about SECONDS. Any number of workers may run this at once."""
    if not list_due_mails(clock()).exists():
        _correct_times(clock())  # reads all that waits
    if not list_due_mails(clock()).exists() or circuit_breaker.find_next_server_try(clock()):
        return DeliveryResult()
    done, end, lost, was_away = DeliveryResult(), monotonic() + SECONDS, 0, circuit_breaker.find_mail_server_outage()
    with carrier:
        for _number in range(MAX_MAILS_PER_RUN):
            if monotonic() > end:
                return replace(done, more=True)
            if why := carrier.open():
                circuit_breaker.record_failure(why, clock())
                return done
            row = claim_mail(clock())
            if row is None:
                return done
            outcome = _try_delivery(carrier, row)
            done = _count_result(done, record_outcome(row, outcome, clock()))
            lost = lost + 1 if outcome.lost else 0
            if outcome.what is HandoverStatus.AWAY or lost >= LOST_IN_A_ROW:
                circuit_breaker.record_failure(outcome.words, clock())
                return done
            if was_away and not outcome.lost:
                circuit_breaker.record_success()
                was_away = None
    return replace(done, more=True)


def _correct_times(now: datetime) -> None:
    """Make due what was written, or put off, while the clock was ahead."""
    wrong = Q(written__gt=now) | Q(due__gt=now + 2 * LONGEST_PAUSE)  # clocks of two workers differ a little
    Message.objects.filter(wrong, state=Message.State.WAITING).update(written=Least("written", Value(now)), due=now)


def claim_mail(now: datetime) -> Message | None:
    """Claim one due mail. No other worker claims it before LEASE is over.

    A mail whose worker never came back is tried again at once if that was its first try, otherwise after the pause of a failed try. So
    a mail that kills its worker does not kill one worker after the other.
    """
    given = {
        "now": now, "until": now + LEASE, "unknown": UNKNOWN_END,
        "first": FIRST_PAUSE, "longest": LONGEST_PAUSE, "doublings": DOUBLINGS,
    }  # fmt: skip
    while row := next(iter(Message.objects.raw(CLAIM, given)), None):
        if row.claimed_until is not None:
            return row
    return None


def record_outcome(row: Message, outcome: HandoverOutcome, now: datetime) -> Message.State:
    """Save the outcome of a try, and return the mail's new state. A worker that overslept its lease can only change it to "sent"."""
    mine = Message.objects.filter(pk=row.pk, tries=row.tries)
    if outcome.what is HandoverStatus.TAKEN:
        words = {"text": "", "html": "", "erased": now} if row.confidential else {}
        Message.objects.filter(pk=row.pk).exclude(state=Message.State.SENT).update(
            state=Message.State.SENT, ended=now, claimed_until=None, error="", ended_by=None, reason="", **words
        )
        return Message.State.SENT
    mine = mine.filter(state=Message.State.WAITING)
    if outcome.what is HandoverStatus.AWAY:
        mine.update(claimed_until=None, tries=F("tries") - 1)
        return Message.State.WAITING
    given_up = now - row.written > GIVE_UP and row.tries >= LEAST_TRIES
    if outcome.what is HandoverStatus.REFUSED or given_up:
        mine.update(state=Message.State.FAILED, ended=now, claimed_until=None, error=outcome.words)
        log.warning("mail failed", message=row.pk, tries=row.tries, error=outcome.words)
        return Message.State.FAILED
    mine.update(claimed_until=None, due=now + compute_pause(row.tries), error=outcome.words)
    return Message.State.WAITING


def compute_pause(tries: int) -> timedelta:
    """Return the pause after this many failed tries: a minute, then twice as long each time, up to an hour."""
    return min(FIRST_PAUSE * float(2 ** min(tries - 1, DOUBLINGS)), LONGEST_PAUSE)


def _try_delivery(carrier: MailTransport, row: Message) -> HandoverOutcome:
    try:
        sender, to, content = parse_envelope_address(row.sender), parse_envelope_address(row.to), compose_mail(row)
    except ValueError as error:  # includes UnicodeError
        return HandoverOutcome(HandoverStatus.REFUSED, str(error)[:500])
    return carrier.hand_over(sender, to, content)


def _count_result(done: DeliveryResult, state: Message.State) -> DeliveryResult:
    if state is Message.State.SENT:
        return replace(done, sent=done.sent + 1)
    return replace(done, failed=done.failed + 1) if state is Message.State.FAILED else replace(done, put_off=done.put_off + 1)
