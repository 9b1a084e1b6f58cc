"""Mails of one look: chooses for each alarm who is told, and writes one mail to each reader about all that is due."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.accounts.models import User
from apps.alarms.duty.escalation import AlarmTold, DutyRule, choose_readers, should_escalate
from apps.alarms.duty.selectors import OnDuty, find_on_duty
from apps.alarms.models import Alarm
from apps.alarms.notices import describe_duty, list_readers, write_notice
from apps.preferences.declarations import DUTY_MINUTES
from apps.preferences.selectors import read_setting


@dataclass(frozen=True)
class DutyNow:
    """Who is on duty at this look, and after how many minutes the others are told."""

    on_duty: OnDuty | None
    minutes: int

    @property
    def rule(self) -> DutyRule:
        """The same without rows."""
        return DutyRule(self.on_duty.person.pk if self.on_duty else None, self.minutes)


def read_duty(now: datetime) -> DutyNow:
    """Read who is on duty, and the setting."""
    return DutyNow(find_on_duty(now), read_setting(DUTY_MINUTES))


def write_mails(open_alarms: Sequence[Alarm], due: Collection[Alarm], over: Sequence[Alarm], duty: DutyNow, now: datetime) -> None:
    """Write the mails. open_alarms: those that may be told; due: those of them that have lasted. What nobody could be told stays due."""
    readers = {each.pk: each for each in list_readers()}
    wanted = {each: choose_readers(_read_told(each, due), readers, duty.rule, now) for each in open_alarms}
    told = _write(wanted, over, readers, duty)
    if missed := {each: frozenset(readers) - who for each, who in wanted.items() if who and each.reported is None and not told[each]}:
        told |= _write(missed, (), readers, duty)  # the person on duty has an address that is wrong
    for alarm in open_alarms:
        _record_told(alarm, told.get(alarm, frozenset()), duty, now, escalates=should_escalate(_read_told(alarm, due), duty.rule, now))


def _read_told(alarm: Alarm, due: Collection[Alarm]) -> AlarmTold:
    return AlarmTold(alarm in due, alarm.reported, alarm.gone, alarm.seen, alarm.escalated, frozenset(alarm.told_to))


def _write(
    begun: dict[Alarm, frozenset[int]], over: Sequence[Alarm], readers: dict[int, User], duty: DutyNow
) -> dict[Alarm, frozenset[int]]:
    """Return, by alarm, who was told that it began."""
    told = defaultdict[Alarm, set[int]](set)
    for pk, reader in readers.items():
        first = [alarm for alarm, who in begun.items() if pk in who]
        last = [alarm for alarm in over if pk in alarm.told_to or not alarm.told_to]
        if (first or last) and write_notice(reader, first, last, describe_duty(reader, duty.on_duty, duty.minutes) if first else ""):
            for alarm in first:
                told[alarm].add(pk)
    return {alarm: frozenset(told[alarm]) for alarm in begun}


def _record_told(alarm: Alarm, told: frozenset[int], duty: DutyNow, now: datetime, *, escalates: bool) -> None:
    """Record who was told. If nobody was on duty, everybody was told at once, so that nothing is left to escalate."""
    if not told and not escalates:
        return
    if alarm.reported is None:
        alarm.reported, escalates = now, duty.rule.on_duty not in told
    alarm.told_to = sorted({*alarm.told_to, *told})
    alarm.escalated = now if escalates else alarm.escalated
    alarm.save(update_fields=["reported", "told_to", "escalated"])
