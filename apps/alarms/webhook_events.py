"""Alarms for webhooks: one event for all that begins at one look, and one for all that is over. Documented in docs/webhooks.md."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.urls import reverse
from django.utils.translation import override

from apps.accounts.models import User
from apps.accounts.roles import Right
from apps.alarms.models import Alarm
from apps.webhooks.direct_events import queue_event
from apps.webhooks.payload import format_time
from apps.webhooks.subscribable_kinds import RegisteredKind

KIND: Final = RegisteredKind("alarm", Right.SEE_NETWORK, {"began": "created", "over": "removed"})


def write_webhook_events(begun: Sequence[Alarm], over: Sequence[Alarm], now: datetime) -> None:
    """Queue the events, ends first, and note that these alarms were announced, whether or not a webhook wants to know."""
    for event, alarms in (("over", over), ("began", begun)):
        if alarms:
            queue_event(KIND, event, lambda owner, alarms=alarms: _build_facts(owner, alarms, now))  # type: ignore[misc]  # bound now
    for alarm in begun:
        alarm.announced, alarm.waits_since = now, alarm.waits_since or now
        alarm.save(update_fields=["announced", "waits_since"])


def _build_facts(owner: User, alarms: Sequence[Alarm], now: datetime) -> dict[str, Any]:
    """Return the facts with the words in the owner's language; shaped as those of changes, which have an object instead of alarms."""
    unused = {"object": None, "by": None, "reason": "", "before": None, "after": None}
    with override(owner.mail_language):
        return {"at": format_time(now), **unused, "alarms": [_describe_alarm(each) for each in alarms]}


def _describe_alarm(alarm: Alarm) -> dict[str, Any]:
    return {
        "id": alarm.pk,
        "key": alarm.key,
        "severity": alarm.severity,
        "title": alarm.title,
        "evidence": alarm.evidence,
        "gateways": alarm.gateways,
        "began": format_time(alarm.began),
        "gone": format_time(alarm.gone) if alarm.gone else None,
        "url": f"{settings.PORTAL_URL}{reverse('api:alarm-detail', args=[alarm.pk])}",
        "page": f"{settings.PORTAL_URL}{alarm.path}" if alarm.path else "",
    }
