"""Who is told that an alarm began: the person on duty first, the others when nobody has seen it for some time. Pure."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class DutyRule:
    """The rule of one moment. on_duty: the id of the person on duty; None: nobody. minutes: after which the others are told."""

    on_duty: int | None
    minutes: int


@dataclass(frozen=True)
class AlarmTold:
    """What was told of an open alarm. told_to: ids of those who got a mail. escalated: when the others were told as well."""

    is_due: bool
    reported: datetime | None
    gone: datetime | None
    seen: datetime | None
    escalated: datetime | None
    told_to: frozenset[int]


def should_escalate(alarm: AlarmTold, rule: DutyRule, now: datetime) -> bool:
    """True if the others are to be told now, because nobody has seen it for so long."""
    if alarm.reported is None or alarm.gone or alarm.seen or alarm.escalated:
        return False
    return now - alarm.reported >= timedelta(minutes=rule.minutes)


def choose_readers(alarm: AlarmTold, readers: Collection[int], rule: DutyRule, now: datetime) -> frozenset[int]:
    """Return the ids of those who are to be told now that it began: everybody if nobody is on duty, or gets mails there. Who comes on duty
    while it lasts is told, too.
    """
    everybody = frozenset(readers)
    first = everybody & {rule.on_duty} or everybody
    if alarm.reported is None:
        return first if alarm.is_due else frozenset()
    if should_escalate(alarm, rule, now):
        return everybody - alarm.told_to
    came_on_duty = first if rule.on_duty in everybody and alarm.gone is None else frozenset()
    return came_on_duty - alarm.told_to
