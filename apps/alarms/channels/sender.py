"""Sends the messages that are due, one by one. Any number of workers may do so at once.

A worker claims a message (`tries` counts the claims and is the fencing token), sends it without a transaction, and records the result.
If it dies in between, the message is sent again: better twice than never. What is no longer true is not sent.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

import structlog
from cryptography.fernet import InvalidToken
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from apps.alarms.channels import apprise_client
from apps.alarms.channels.models import AlarmChannel, ChannelMessage
from apps.alarms.channels.quiet_hours import find_due_time
from apps.alarms.channels.target_encryption import decrypt_target
from apps.alarms.models import Alarm, Severity
from apps.lib.foreign_text import make_printable

LEASE: Final = timedelta(minutes=2)  # longer than one try takes
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=1)
GIVE_UP_AFTER: Final = timedelta(days=1)
OVER_UNSENT: Final = "Not sent: the alarm was over before it could be."
UNTOLD: Final = "Not sent: that the alarm began was not told here."
SECONDS: Final = 60.0  # after which a run begins no further message
State, Event = ChannelMessage.State, ChannelMessage.Event
type Send = Callable[[str, str, str], str]
log = structlog.get_logger()


def send_due_messages(send: Send = apprise_client.send_message, clock: Callable[[], datetime] = timezone.now) -> None:
    """Send what is due, for about SECONDS."""
    end = monotonic() + SECONDS
    while monotonic() < end and (row := _claim_message(clock())):
        error = _try_message(row, send)
        _record_result(row, error, clock())


def has_due_messages(now: datetime) -> bool:
    """True if a message is due that no worker is sending."""
    return _filter_due(now).exists()


def _filter_free(now: datetime) -> QuerySet[ChannelMessage]:
    return ChannelMessage.objects.filter(Q(claimed_until=None) | Q(claimed_until__lte=now), state=State.WAITING)


def _filter_due(now: datetime) -> QuerySet[ChannelMessage]:
    """Return what may be tried now: the end of an alarm not while its beginning is being sent. What was written later than now, while the
    clock was ahead, need not wait.
    """
    is_being_sent = Exists(_filter_beginnings().filter(state=State.WAITING, claimed_until__gt=now))
    is_time = Q(due__lte=now) | Q(written__gt=now)
    return _filter_free(now).filter(is_time, ~Q(event=Event.OVER) | ~is_being_sent, channel__active=True)


def _filter_beginnings() -> QuerySet[ChannelMessage]:
    """Return the messages to the same channel that the same alarm began, for use inside another query."""
    return ChannelMessage.objects.filter(channel=OuterRef("channel"), alarm=OuterRef("alarm"), event=Event.BEGAN)


def _drop_untrue(now: datetime) -> None:
    """Give up what is no longer true: the beginning of an alarm that has ended, and then its end, if no beginning was taken.

    Subqueries instead of joins, because PostgreSQL looks again at a row's own columns if another worker has just claimed it.
    """
    given_up = {"state": State.FAILED, "ended": now, "claimed_until": None}
    is_over = Exists(Alarm.objects.filter(pk=OuterRef("alarm"), ended__isnull=False))
    is_told = Exists(_filter_beginnings().exclude(state=State.FAILED))
    _filter_free(now).filter(is_over, event=Event.BEGAN).update(error=OVER_UNSENT, **given_up)
    _filter_free(now).filter(~is_told, event=Event.OVER).update(error=UNTOLD, **given_up)


def _correct_times(now: datetime) -> None:
    """Give messages that were written while the clock was ahead the time of now."""
    _filter_free(now).filter(written__gt=now).update(written=now, due=now)


@transaction.atomic
def _claim_message(now: datetime) -> ChannelMessage | None:
    """Claim the next message. What came into quiet hours, because it was tried before or they were changed, waits for their end."""
    _correct_times(now)
    _drop_untrue(now)
    due = (
        _filter_due(now)
        .filter(due__lte=now)
        .select_related("channel")
        .select_for_update(skip_locked=True, of=("self",))
        .order_by("due", "id")
    )
    while row := due.first():
        again = _find_due_time(row, now)
        if again <= now:
            row.tries += 1
            ChannelMessage.objects.filter(pk=row.pk).update(tries=row.tries, claimed_until=now + LEASE)
            return row
        ChannelMessage.objects.filter(pk=row.pk).update(due=again)
    return None


def _find_due_time(row: ChannelMessage, now: datetime) -> datetime:
    is_urgent = row.event == Event.TEST or row.severity == Severity.CRITICAL
    return find_due_time(row.channel.quiet_from, row.channel.quiet_until, timezone.localtime(now), is_urgent=is_urgent)


def _try_message(row: ChannelMessage, send: Send) -> str:
    """Return why it was not taken, "" if it was."""
    try:
        return send(decrypt_target(row.channel), row.title, row.text)
    except InvalidToken:
        return "its address was encrypted with another NETZWART_SECRET_KEY; enter it again"
    except Exception as error:  # a service of apprise that fails in its own way keeps none of the others waiting
        log.exception("a channel failed", channel=row.channel.name)
        return make_printable(f"{type(error).__name__}: {error}", apprise_client.LONGEST_ERROR)


@transaction.atomic
def _record_result(row: ChannelMessage, error: str, now: datetime) -> None:
    """Record it, unless another worker has claimed the message since."""
    mine = ChannelMessage.objects.filter(pk=row.pk, tries=row.tries, state=State.WAITING)
    channel = AlarmChannel.objects.filter(pk=row.channel_id)
    if not error:
        channel.update(failing_since=None, error="")  # locked first, as by a failure and by whoever switches it off
        mine.update(state=State.SENT, ended=now, error="", claimed_until=None)
        return
    log.warning("channel does not take a message", channel=row.channel.name, error=error)
    channel.filter(failing_since=None).update(failing_since=now)
    channel.update(error=error)
    if now - row.written >= GIVE_UP_AFTER or row.event == Event.TEST:
        mine.update(state=State.FAILED, ended=now, error=error, claimed_until=None)
    else:
        pause = min(FIRST_PAUSE * 2 ** min(row.tries - 1, 10), LONGEST_PAUSE)
        mine.update(due=now + pause, error=error, claimed_until=None)
