"""The watch: compares what is wrong now with the open alarms, and writes mails about what began and what is over."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import structlog
from django.db import connection, transaction
from django.db.models import Q

from apps.alarms import lifecycle
from apps.alarms.channels.writing import write_messages
from apps.alarms.conditions import Condition, is_part_of, list_conditions
from apps.alarms.mailing import read_duty, write_mails
from apps.alarms.models import Alarm, Severity
from apps.alarms.silencing import read_silences
from apps.alarms.webhook_events import write_webhook_events

CHANGING: Final = (
    *("severity", "texts", "path", "gateways", "began", "gone", "worsened", "worsenings", "turn"),
    *("reported", "told_to", "escalated", "announced", "waits_since", "seen", "seen_by"),
)
"""Columns that a new look at an open alarm may change."""
_TIMES: Final = ("began", "gone", "reported", "escalated", "announced", "waits_since", "worsened", "seen")
"""Columns of an open alarm with times that are past, unless the clock was ahead when they were written."""
log = structlog.get_logger()


def watch_alarms(now: datetime) -> None:
    """Begin, update and end alarms, and report them. One at a time: a second caller returns at once."""
    found = {each.key: each for each in list_conditions(now)}
    with transaction.atomic():
        if not _lock():
            return
        rows = list(Alarm.objects.select_for_update(of=("self",)).filter(Q(ended=None) | Q(owes_end=True)))
        known, owing = {each.key: each for each in rows if each.ended is None}, [each for each in rows if each.ended]
        before = set(known)
        for each in known.values():
            _correct_times(each, now)
        for key, condition in found.items():
            known[key] = _update_alarm(known[key], condition, now) if key in known else _begin_alarm(condition, now)
        over = [*owing, *(each for each in known.values() if each.key not in found and _end_alarm(each, found, now))]
        _report_alarms([each for each in known.values() if _is_to_be_told(each, before, found)], over, now)


def _is_to_be_told(alarm: Alarm, before: Collection[str], found: Mapping[str, Condition]) -> bool:
    """True for an open alarm that was told as it is; or that an earlier look has seen, too, and that none of the other conditions tells.

    What a gateway tells when it is back may have begun long ago, and be over with the next look.
    """
    is_told = alarm.reported is not None and not alarm.is_worse_than_told
    return alarm.ended is None and (is_told or (alarm.key in before and not is_part_of(alarm.key, found)))


def _lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtext('alarms_alarm'))")
        return bool(cursor.fetchone()[0])


def _correct_times(alarm: Alarm, now: datetime) -> None:
    """Move those times of an open alarm that lie ahead, because the clock was ahead then, so that the last is now and their order stays."""
    later = {name: time for name in _TIMES if (time := getattr(alarm, name)) and time > now}
    if not later:
        return
    ahead = max(later.values()) - now
    for name, time in later.items():
        setattr(alarm, name, time - ahead)
    alarm.save(update_fields=list(later))


def _begin_alarm(condition: Condition, now: datetime) -> Alarm:
    log.info("alarm began", key=condition.key, severity=condition.severity)
    return Alarm.objects.create(
        key=condition.key,
        severity=condition.severity,
        texts=condition.texts,
        path=condition.path,
        gateways=sorted(condition.gateways),
        began=_find_beginning(condition, now),
    )


def _find_beginning(condition: Condition, now: datetime) -> datetime:
    """Return since when it is so, if that is known, or else now. The times of some needs lie ahead."""
    return min(condition.since or now, now)


def _update_alarm(alarm: Alarm, condition: Condition, now: datetime) -> Alarm:
    """Take over the newest words. What was gone before it was reported begins anew, because it has not lasted."""
    before = (alarm.severity, alarm.texts, alarm.path, alarm.gateways, alarm.gone, alarm.worsened)
    if alarm.gone and alarm.reported is None:
        alarm.began = _find_beginning(condition, now)
    alarm.worsened = _find_worsening(alarm, condition, now)
    alarm.severity, alarm.texts, alarm.path, alarm.gone = condition.severity, condition.texts, condition.path, None
    alarm.gateways = sorted(condition.gateways)
    if before != (alarm.severity, alarm.texts, alarm.path, alarm.gateways, alarm.gone, alarm.worsened):
        alarm.save(update_fields=CHANGING)
    return alarm


def _find_worsening(alarm: Alarm, condition: Condition, now: datetime) -> datetime | None:
    """Return since when the alarm has been worse, None if it is not. What was gone before that was told has not lasted, either."""
    if lifecycle.is_worse(Severity(alarm.severity), condition.severity):
        return None
    is_untold = alarm.announced is None or alarm.is_worse_than_told
    if lifecycle.is_worse(condition.severity, Severity(alarm.severity)) or (alarm.gone and alarm.worsened and is_untold):
        return now
    return alarm.worsened


def _begin_turn(alarm: Alarm, since: datetime) -> None:
    """Let an alarm be told again that has been worse since then. Nobody has seen it yet who has not seen that.

    It waits anew to be seen, unless it was as bad shortly before and nobody saw that.
    """
    recent = lifecycle.keep_recent(alarm.worsenings, since)
    if alarm.seen or not recent:
        alarm.waits_since = None
    if alarm.seen and alarm.seen < since:
        alarm.seen = alarm.seen_by = None
    alarm.reported = alarm.escalated = alarm.announced = None
    alarm.told_to = []
    alarm.worsenings = [*recent, since]
    alarm.turn += 1
    alarm.save(update_fields=CHANGING)


def _end_alarm(alarm: Alarm, found: Mapping[str, Condition], now: datetime) -> bool:
    """Note that the condition is gone; end the alarm if that lasts. Return whether it has ended."""
    if is_part_of(alarm.key, found):
        return False
    alarm.gone = alarm.gone or now
    if lifecycle.is_over(alarm.gone, now):
        alarm.ended = now
        log.info("alarm over", key=alarm.key)
    alarm.save(update_fields=["gone", "ended"])
    return alarm.ended is not None


def _report_alarms(open_alarms: Sequence[Alarm], over: Sequence[Alarm], now: datetime) -> None:
    """Write messages to the channels, mails to those whose turn it is, and events for webhooks. Without a reader everything stays due by
    mail.
    """
    silences, earlier, duty = read_silences(now), _count_earlier(open_alarms), read_duty(now)

    def is_silent(alarm: Alarm) -> bool:
        return silences.find_for(alarm) is not None

    def is_due(alarm: Alarm, told: datetime | None) -> bool:
        return lifecycle.is_report_due(since=alarm.urgent_since, gone=alarm.gone, reported=told, earlier=earlier[alarm.pk], now=now)

    audible = [each for each in open_alarms if not is_silent(each)]
    for each in audible:
        if each.worsened and each.is_worse_than_told and is_due(each, None):
            _begin_turn(each, each.worsened)
    ended = [each for each in over if not is_silent(each)]
    write_messages(open_alarms, over, earlier, is_silent, duty.rule, now)
    write_mails(audible, [each for each in audible if is_due(each, each.reported)], [each for each in ended if each.reported], duty, now)
    write_webhook_events([each for each in audible if is_due(each, each.announced)], [each for each in ended if each.announced], now)
    _note_owed_ends(over, ended)


def _note_owed_ends(over: Sequence[Alarm], told: Collection[Alarm]) -> None:
    """Note which alarms that were told have ended in a silence: that they are over is told after it."""
    for alarm in over:
        owes_end = alarm.announced is not None and alarm not in told
        if owes_end != alarm.owes_end:
            alarm.owes_end = owes_end
            alarm.save(update_fields=["owes_end"])


class _EndedAlarm(NamedTuple):
    """What an alarm that has ended says about how often its condition comes and goes."""

    key: str
    began: datetime
    worsenings: list[datetime]


def _count_earlier(alarms: Sequence[Alarm]) -> Counter[int]:
    """Return, by alarm, how many of the same key began shortly before it, or how often one became worse shortly before it did."""
    since = min((each.urgent_since for each in alarms), default=None)
    if since is None:
        return Counter()
    same = Q(key__in=[each.key for each in alarms], ended__gte=since - lifecycle.FLAPPING_WITHIN)
    ended = [_EndedAlarm(*row) for row in Alarm.objects.filter(same).values_list("key", "began", "worsenings")]
    return Counter({each.pk: _count_before(each, [one for one in ended if one.key == each.key]) for each in alarms})


def _count_before(alarm: Alarm, ended: Sequence[_EndedAlarm]) -> int:
    if alarm.worsened:
        times = [*alarm.worsenings, *(time for each in ended for time in each.worsenings)]
        return len(lifecycle.keep_recent(times, alarm.worsened))
    return sum(each.began >= alarm.began - lifecycle.FLAPPING_WITHIN for each in ended)
