"""What waits in the portal: tasks of each queue, mail out and in, feeds, live events, each with its state."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Min, Q
from django.shortcuts import resolve_url
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.bans.models import BanFeed
from apps.desk.portal_health import program_texts
from apps.events.models import Event
from apps.inbound_mail import mailbox_health
from apps.inbound_mail.models import Arrival
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.mail import selectors as mails
from apps.mail.models import Message
from apps.operations import heartbeats
from apps.operations.models import ProcessRole
from apps.operations.portal_health.figures import PortalFigures, QueueBacklog


@dataclass(frozen=True)
class WorkStream:
    """One kind of work. waiting: how much of it waits, in words; oldest: since when the oldest does, in words, "" if nothing waits."""

    name: str
    state: StateLabel
    waiting: str
    oldest: str
    url: str


def list_work_streams(figures: PortalFigures, behind: str, now: datetime) -> list[WorkStream]:
    """Return all kinds of work. behind: the queue that a rule found to be behind, "" for none."""
    queues = [_build_queue(each, each.queue == behind) for each in figures.broker.queues]
    return [*queues, _build_outgoing(now), _build_incoming(now), *_iter_feeds(now), *_iter_events(now)]


def _works() -> StateLabel:
    return StateLabel(StateKind.OK, _("Works"))


def _build_queue(backlog: QueueBacklog, is_behind: bool) -> WorkStream:
    state = StateLabel(StateKind.WARN, _("Behind")) if is_behind else _works()
    if not backlog.is_served:
        state = StateLabel(StateKind.BAD, _("Not served"))
    name = _("Tasks for the %(role)s") % {"role": ProcessRole(backlog.role).label}
    oldest = "" if backlog.oldest is None else formats.format_duration(backlog.oldest)
    return WorkStream(name, state, formats.format_number(backlog.messages), oldest, resolve_url("desk:system"))


def _build_outgoing(now: datetime) -> WorkStream:
    found, late, failed = mails.count_by_state(), mails.summarize_late_mails(now), mails.count_failed()
    oldest = Message.objects.filter(state=Message.State.WAITING).aggregate(at=Min("written"))["at"]
    state = _works()
    if late or failed:
        state = StateLabel(StateKind.WARN, _("Late") if late else _("%(number)s failed") % {"number": formats.format_number(failed)})
    waiting = formats.format_number(found.get(Message.State.WAITING, 0))
    return WorkStream(_("Outgoing mail"), state, waiting, _describe_age(oldest, now), resolve_url("mail:outbox"))


def _build_incoming(now: datetime) -> WorkStream:
    found = Arrival.objects.filter(state=Arrival.State.WAITING).aggregate(number=Count("pk"), at=Min("arrived"))
    state = _works()
    if mailbox_health.find_mailbox_outage(now):
        state = StateLabel(StateKind.BAD, _("Mailbox fails"))
    elif mailbox_health.find_overdue_mail():
        state = StateLabel(StateKind.BAD, _("Late"))
    waiting = formats.format_number(found["number"])
    return WorkStream(_("Incoming mail"), state, waiting, _describe_age(found["at"], now), resolve_url("inbound:arrivals"))


def _iter_feeds(now: datetime) -> Iterator[WorkStream]:
    found = BanFeed.objects.aggregate(number=Count("pk"), failing=Count("pk", filter=Q(error__isnull=False)), at=Min("refreshed"))
    if not found["number"]:
        return
    state, failing = _works(), found["failing"]
    if failing:
        state = StateLabel(StateKind.WARN, ngettext("%(n)s fails", "%(n)s fail", failing) % {"n": formats.format_number(failing)})
    words = ngettext("%(n)s feed", "%(n)s feeds", found["number"]) % {"n": formats.format_number(found["number"])}
    yield WorkStream(_("Feeds of ban lists"), state, words, _describe_age(found["at"], now), resolve_url("bans:lists"))


def _iter_events(now: datetime) -> Iterator[WorkStream]:
    if not settings.EVENTS_URL:
        return
    faults = [each for each in heartbeats.list_process_faults(now) if each.role == ProcessRole.EVENTS]
    state = StateLabel(StateKind.WARN, program_texts.describe_role_fault(faults[0])) if faults else _works()
    number = Event.objects.filter(at__gte=now - timedelta(hours=1)).count()
    words = _("%(number)s in the last hour") % {"number": formats.format_number(number)}
    yield WorkStream(_("Live events"), state, words, "", resolve_url("desk:system"))


def _describe_age(at: datetime | None, now: datetime) -> str:
    return formats.format_duration((now - at).total_seconds()) if at else ""
