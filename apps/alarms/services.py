"""Services of alarms: somebody takes care of one, and mails are silenced for a time."""

from datetime import datetime, timedelta

import structlog
from django.db.models.functions import Least, Now
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alarms.models import Alarm, Silence
from apps.lib.errors import Conflict, Problem

LONGEST = timedelta(days=30)
log = structlog.get_logger()


def mark_seen(*, alarm: Alarm, by: User) -> None:
    """Note who takes care of an alarm. Raises Conflict if it is over or somebody else was first."""
    if not Alarm.objects.filter(pk=alarm.pk, ended=None, seen=None).update(seen=Now(), seen_by=by):
        raise Conflict(_("This alarm is over, or was marked as seen meanwhile."))


def silence_alarms(*, key: str, until: datetime, reason: str, by: User) -> Silence:
    """Write no mails about this condition, or any if `key` is empty, until this time. Raises Problem without a reason, or if the time
    is past or too far away.
    """
    why, now = reason.replace("\0", "").strip(), timezone.now()
    if not why:
        raise Problem(_("Enter a reason; others see it beside the silence."), "reason")
    if until <= now:
        raise Problem(_("Choose an end that is still to come."), "until")
    if until > now + LONGEST:
        raise Problem(_("A silence lasts 30 days at most. What is always so should not be an alarm."), "until")
    log.info("alarms silenced", key=key, until=until.isoformat(), by=by.username)
    return Silence.objects.create(key=key, until=until, reason=why[:200], by=by)


def end_silence(*, silence: Silence, by: User) -> None:
    """End a silence now, also one that began while the clock was ahead. Raises Conflict if it is over already."""
    ended = {"since": Least("since", Now()), "until": Now(), "ended_by": by}
    if not Silence.objects.filter(pk=silence.pk, until__gt=Now()).update(**ended):
        raise Conflict(_("This silence is over already."))
