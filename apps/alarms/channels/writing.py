"""Writes messages about alarms to the channels. Called by the watch, in its transaction, so that none is lost or written twice."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from apps.alarms import lifecycle
from apps.alarms.channels.models import AlarmChannel, ChannelMessage
from apps.alarms.channels.quiet_hours import find_due_time, is_quiet
from apps.alarms.duty.escalation import DutyRule
from apps.alarms.models import Alarm, Severity
from apps.lib.ui import formats

Event = ChannelMessage.Event
type Silenced = Callable[[Alarm], bool]


class KnownMessage(NamedTuple):
    """A message that has been written: to which channel, about which alarm and event, in which of its turns, and what became of it."""

    channel: int
    alarm: int
    event: str
    turn: int
    state: str


def write_messages(
    open_alarms: Sequence[Alarm], over: Sequence[Alarm], earlier: Mapping[int, int], is_silenced: Silenced, duty: DutyRule, now: datetime
) -> None:
    """Write what is due to each channel, ends first, because an alarm may have begun anew.

    earlier: as in lifecycle.compute_report_delay, by alarm.
    """
    channels = list(AlarmChannel.objects.filter(active=True))
    if not channels:
        return
    audible = [each for each in (*over, *open_alarms) if not is_silenced(each)]
    rows_before = ChannelMessage.objects.filter(alarm__in=audible).values_list("channel_id", "alarm_id", "event", "turn", "state")
    known = [KnownMessage(*row) for row in rows_before]
    rows = [row for channel in channels for row in _iter_messages(channel, audible, known, earlier, duty, now)]
    ChannelMessage.objects.bulk_create(rows, ignore_conflicts=True)


def _iter_messages(
    channel: AlarmChannel,
    alarms: Sequence[Alarm],
    known: Collection[KnownMessage],
    earlier: Mapping[int, int],
    duty: DutyRule,
    now: datetime,
) -> Iterator[ChannelMessage]:
    for alarm in alarms:
        written = [each for each in known if (each.channel, each.alarm) == (channel.pk, alarm.pk)]
        if alarm.ended is not None:
            if _owes_end(written):
                yield _build_message(channel, alarm, Event.OVER, now)
        elif _is_news(alarm, written) and is_due(channel, alarm, earlier.get(alarm.pk, 0), duty, now):
            yield _build_message(channel, alarm, Event.BEGAN, now)


def _is_news(alarm: Alarm, written: Collection[KnownMessage]) -> bool:
    """True if a channel to which these messages were written has not been told of the alarm, or not that it is worse."""
    told = {each.turn for each in written if each.event == Event.BEGAN}
    return not told or (alarm.worsened is not None and alarm.turn not in told)


def _owes_end(written: Collection[KnownMessage]) -> bool:
    """True if a channel to which these messages were written was told that the alarm began, or may still be, and not that it is over."""
    began = any(each.event == Event.BEGAN and each.state != ChannelMessage.State.FAILED for each in written)
    return began and not any(each.event == Event.OVER for each in written)


def compute_wait(channel: AlarmChannel, duty: DutyRule) -> int:
    """Return the minutes that nobody must have seen an alarm that is told before the channel is told. A person's channel waits while
    another person is on duty, like that person's mails.
    """
    is_others_turn = channel.person_id is not None and duty.on_duty not in (None, channel.person_id)
    return max(channel.after_minutes, duty.minutes) if is_others_turn else channel.after_minutes


def is_due(channel: AlarmChannel, alarm: Alarm, earlier: int, duty: DutyRule, now: datetime) -> bool:
    """True if the channel is to be told of this open alarm now, if it has not been."""
    if channel.only_critical and alarm.severity != Severity.CRITICAL:
        return False
    if alarm.severity != Severity.CRITICAL and is_quiet(channel.quiet_from, channel.quiet_until, timezone.localtime(now)):
        return False
    wait = compute_wait(channel, duty)
    if wait and alarm.seen:
        return False
    if wait and (alarm.waits_since is None or now - alarm.waits_since < timedelta(minutes=wait)):
        return False
    return lifecycle.has_lasted(since=alarm.urgent_since, gone=alarm.gone, earlier=earlier, now=now)


def _build_message(channel: AlarmChannel, alarm: Alarm, event: ChannelMessage.Event, now: datetime) -> ChannelMessage:
    with override(channel.language):
        title = (_("Over: %(title)s") if event is Event.OVER else _("Alarm: %(title)s")) % {"title": alarm.title}
        lines = [alarm.evidence, _describe_times(alarm, now)]
    if alarm.path:
        lines.append(f"{settings.PORTAL_URL}{alarm.path}")
    return ChannelMessage(
        channel=channel,
        alarm=alarm,
        event=event,
        severity=alarm.severity,
        turn=alarm.turn,
        title=title[:300],
        text="\n".join(filter(None, lines)),
        due=find_due_time(channel.quiet_from, channel.quiet_until, timezone.localtime(now), is_urgent=alarm.severity == Severity.CRITICAL),
    )


def _describe_times(alarm: Alarm, now: datetime) -> str:
    began = formats.format_moment(alarm.began, now, with_zone=True, with_seconds=False)
    if alarm.ended is None or alarm.gone is None:
        return _("Since %(time)s.") % {"time": began}
    gone = formats.format_moment(alarm.gone, now, with_zone=True, with_seconds=False)
    return _("From %(began)s to %(gone)s.") % {"began": began, "gone": gone}
