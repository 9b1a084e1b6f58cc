"""Writes of shifts: enter, remove, and take over one."""

from datetime import datetime, timedelta
from typing import Final

import structlog
from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alarms.duty.calendar_events import LONGEST_SHIFT
from apps.alarms.duty.models import DutyShift
from apps.alarms.duty.selectors import list_candidates, read_turns
from apps.lib.errors import Conflict, Problem

FARTHEST: Final = timedelta(days=366)
log = structlog.get_logger()


def add_shift(*, person: User, begins: datetime, ends: datetime, by: User) -> DutyShift:
    """Enter a shift. It counts before shifts that were entered earlier, and before those of calendars. Raises Problem."""
    if not list_candidates().filter(pk=person.pk).exists():
        raise Problem(_("Only somebody who operates the network can be on duty."), "person")
    _validate_times(begins, ends, timezone.now())
    made = DutyShift.objects.create(person=person, begins=begins, ends=ends, by=by)
    log.info("shift added", shift=made.pk, person=person.username, by=by.username)
    return made


def _validate_times(begins: datetime, ends: datetime, now: datetime) -> None:
    if ends <= begins:
        raise Problem(_("The end must be after the beginning."), "ends")
    if ends <= now:
        raise Problem(_("Choose an end that is still to come."), "ends")
    if ends - begins > LONGEST_SHIFT:
        raise Problem(_("A shift lasts %(most)d days at most.") % {"most": LONGEST_SHIFT.days}, "ends")
    if ends > now + FARTHEST:
        raise Problem(_("Choose a time within a year."), "ends")


def take_over(*, shift: DutyShift, by: User) -> list[DutyShift]:
    """Be on duty instead, from now on, wherever this shift counts. The shift stays, and counts again if what is returned is removed.
    Raises Conflict if it is over or somebody else has taken it over, Problem if `by` may not be on duty or is already.
    """
    if shift.person_id == by.pk:
        raise Problem(_("This is your own shift."))
    with transaction.atomic():
        _lock_rota()
        now = timezone.now()  # not before the lock: what another one has just taken over begins before it
        turns = read_turns(max(now, shift.begins), shift.ends) if shift.ends > now else []
        mine = [turn for turn in turns if turn.shift and turn.shift.pk == shift.pk]
        if not mine:
            raise Conflict(_("This shift is over, or somebody has taken it over meanwhile."))
        return [add_shift(person=by, begins=turn.begins, ends=turn.ends, by=by) for turn in mine]


def remove_shift(*, shift: DutyShift, by: User) -> None:
    """Remove a shift that a person entered. Raises Conflict for one of a calendar."""
    if shift.calendar_id:
        raise Conflict(_("This shift comes from a calendar: change it there, or take it over."))
    log.info("shift removed", shift=shift.pk, by=by.username)
    shift.delete()


def _lock_rota() -> None:
    """Wait until no other take-over is under way, so that two people do not take over the same shift."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('alarms_dutyshift'))")
