"""Writes of channels: add, change, remove, and send a test."""

from dataclasses import dataclass
from datetime import time
from typing import Final

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _
from django.utils.translation import override

from apps.accounts.models import User
from apps.alarms.channels import apprise_client
from apps.alarms.channels.models import MOST_MINUTES, AlarmChannel, ChannelMessage
from apps.alarms.channels.target_encryption import encrypt_target
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem

MAX_CHANNELS: Final = 20
TASK: Final = "workers.send_alarm_messages"
log = structlog.get_logger()


@dataclass(frozen=True)
class ChannelFacts:
    """Settings of a channel, as forms and scripts give them. target: "" keeps the address as it is. person: whose it is."""

    name: str
    target: str = ""
    only_critical: bool = False
    after_minutes: int = 0
    person: User | None = None
    quiet_from: time | None = None
    quiet_until: time | None = None
    language: str = "en"
    active: bool = True


def add_channel(*, facts: ChannelFacts, by: User) -> AlarmChannel:
    """Add a channel. Raises Problem."""
    if not facts.target:
        raise Problem(_("Enter where messages go."), "target")
    if AlarmChannel.objects.count() >= MAX_CHANNELS:
        raise Problem(_("There are %(most)d channels already. Remove one that is no longer needed.") % {"most": MAX_CHANNELS})
    columns = _build_columns(facts)
    try:
        with transaction.atomic():
            made = AlarmChannel.objects.create(**columns)
    except IntegrityError as error:
        raise _explain_name_conflict() from error
    log.info("channel added", channel=made.name, by=by.username)
    return made


def change_channel(*, channel: AlarmChannel, version: int, facts: ChannelFacts, by: User) -> AlarmChannel:
    """Change a channel. What is queued goes to the new address, or nowhere if it is switched off: what is still open when it is switched on
    is told then. Raises Problem, and Conflict if `version` is not current.
    """
    columns = _build_columns(facts)
    try:
        with transaction.atomic():
            if not AlarmChannel.objects.filter(pk=channel.pk, version=version).update(version=F("version") + 1, **columns):
                raise Conflict(_("This was changed since you read it. Read it again, then decide."))
            if not facts.active:
                channel.messages.filter(state=ChannelMessage.State.WAITING).delete()
    except IntegrityError as error:
        raise _explain_name_conflict() from error
    log.info("channel changed", channel=facts.name, by=by.username)
    return AlarmChannel.objects.get(pk=channel.pk)


def remove_channel(*, channel: AlarmChannel, by: User) -> None:
    """Remove a channel with its messages, also those that wait."""
    log.info("channel removed", channel=channel.name, by=by.username)
    channel.delete()


def send_test(*, channel: AlarmChannel, by: User) -> ChannelMessage:
    """Queue a test. Raises Problem if the channel is switched off, or a test is on its way."""
    if not channel.active:
        raise Problem(_("This channel is switched off."))
    if channel.messages.filter(event=ChannelMessage.Event.TEST, state=ChannelMessage.State.WAITING).exists():
        raise Problem(_("A test is on its way already."))
    with override(channel.language):
        title = _("Test of the channel %(channel)s") % {"channel": channel.name}
        text = _("%(who)s tries whether alarms arrive here. Nothing is wrong.") % {"who": by.name}
    with transaction.atomic():
        made = ChannelMessage.objects.create(channel=channel, event=ChannelMessage.Event.TEST, title=title[:300], text=text)
        enqueue_task(TASK)
    return made


def _build_columns(facts: ChannelFacts) -> dict[str, object]:
    """Return the columns of a row. Raises Problem."""
    name = facts.name.replace("\0", "").strip()
    if not name:
        raise Problem(_("Enter a name."), "name")
    if facts.after_minutes > MOST_MINUTES:
        raise Problem(_("Choose at most %(most)d minutes.") % {"most": MOST_MINUTES}, "after_minutes")
    if (facts.quiet_from is None) != (facts.quiet_until is None):
        missing = "quiet_from" if facts.quiet_from is None else "quiet_until"
        raise Problem(_("Quiet hours need a beginning and an end."), missing)
    if facts.quiet_from is not None and facts.quiet_from == facts.quiet_until:
        raise Problem(_("Quiet hours cannot begin and end at the same time."), "quiet_until")
    columns: dict[str, object] = {
        "name": name,
        "only_critical": facts.only_critical,
        "after_minutes": facts.after_minutes,
        "person": facts.person,
        "quiet_from": facts.quiet_from,
        "quiet_until": facts.quiet_until,
        "language": facts.language,
        "active": facts.active,
    }
    return columns | _build_target_columns(facts.target.strip()) if facts.target else columns


def _build_target_columns(target: str) -> dict[str, object]:
    shown = apprise_client.mask_target(target)
    if not shown:
        raise Problem(_("apprise does not know this address. Write it as its documentation shows, such as ntfy://ntfy.sh/topic."), "target")
    return {"target": encrypt_target(target), "shown": shown, "failing_since": None, "error": ""}


def _explain_name_conflict() -> Problem:
    return Problem(_("There is a channel of this name already."), "name")
