"""The time line of an incident: what changed before it began, what was found, and what was told and done. Other apps add theirs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.audit.selectors import HistoryFilter, list_history
from apps.deployments.models import Rollout
from apps.gateways.roles.models import CarrierChange
from apps.lib.ui.charts import ChartEvent
from apps.status.incidents.models import Incident, IncidentTicket

BEFORE: Final = timedelta(hours=48)
MOST: Final = 40
"""Entries of each source; newer ones hide older ones."""


class TimelineKind(StrEnum):
    """What an entry tells."""

    FAULT = "fault"  # something was found to be wrong
    NETWORK = "network"  # a rollout, or a move of an address family
    EDIT = "edit"  # somebody changed something in the portal
    TOLD = "told"  # people were told
    NOTE = "note"  # for staff


@dataclass(frozen=True)
class TimelineEntry:
    """One entry. detail: more of it, "" for none. url: the page that shows it, "" for none."""

    at: datetime
    kind: TimelineKind
    words: str
    detail: str = ""
    url: str = ""

    @property
    def is_marked(self) -> bool:
        """True if charts have a line there: what was found, and what was deployed or moved."""
        return self.kind in (TimelineKind.FAULT, TimelineKind.NETWORK)

    @property
    def event(self) -> ChartEvent:
        """The line in the charts."""
        return ChartEvent(self.at, self.kind is TimelineKind.FAULT)


type TimelineSource = Callable[[datetime, datetime], Iterable[TimelineEntry]]
_sources: list[TimelineSource] = []


def register_source(source: TimelineSource) -> None:
    """Register a function that returns the entries of another app between two times, in the active language. Called in `ready()`."""
    _sources.append(source)


def build_timeline(incident: Incident, until: datetime, *, edits: bool) -> list[TimelineEntry]:
    """Return the entries from two days before it began until it was over, or until `until`, the newest first.

    edits: with what people changed in the portal, which takes several times as long to find.
    """
    since, upto = incident.began - BEFORE, incident.ended or until
    found = [
        *_iter_updates(incident),
        *_iter_rollouts(since, upto),
        *_iter_moves(since, upto),
        *(_iter_history(since, upto) if edits else ()),
        *_iter_tickets(incident),
        *(entry for source in _sources for entry in source(since, upto)),
    ]
    return sorted(found, key=lambda entry: entry.at, reverse=True)


def list_chart_events(entries: Sequence[TimelineEntry]) -> list[ChartEvent]:
    """Return the lines in the charts: what was found, and what moved or was deployed."""
    return [each.event for each in entries if each.is_marked]


def find_change_before(incident: Incident, entries: Sequence[TimelineEntry], within: timedelta) -> TimelineEntry | None:
    """Return the last change of the network shortly before it began; None if there was none."""
    changes = (each for each in entries if each.kind is TimelineKind.NETWORK)
    return next((each for each in changes if incident.began - within <= each.at <= incident.began), None)


def _iter_updates(incident: Incident) -> Iterator[TimelineEntry]:
    for update in incident.updates.select_related("by"):
        kind = TimelineKind.TOLD if update.public else TimelineKind.NOTE
        who = update.by.name if update.by else _("somebody")
        words = _("%(who)s told members: %(stage)s") if update.public else _("%(who)s noted: %(stage)s")
        yield TimelineEntry(update.at, kind, words % {"who": who, "stage": update.get_stage_display()}, update.text)


def _iter_rollouts(since: datetime, upto: datetime) -> Iterator[TimelineEntry]:
    ended = Rollout.objects.filter(finished__gte=since, finished__lte=upto).select_related("revision").order_by("-finished")[:MOST]
    for rollout in ended:
        if rollout.finished:
            words = _("%(rollout)s: %(state)s") % {"rollout": rollout, "state": rollout.get_state_display()}
            yield TimelineEntry(rollout.finished, TimelineKind.NETWORK, words, url=reverse("deployments:rollout", args=[rollout.pk]))


def _iter_moves(since: datetime, upto: datetime) -> Iterator[TimelineEntry]:
    for change in CarrierChange.objects.filter(at__gte=since, at__lte=upto).order_by("-at")[:MOST]:
        words = _("IPv%(family)d is carried by %(gateways)s") if change.carriers else _("IPv%(family)d is carried by no gateway")
        kind = TimelineKind.NETWORK if change.carriers else TimelineKind.FAULT
        yield TimelineEntry(change.at, kind, words % {"family": change.family, "gateways": ", ".join(change.carriers)})


def _iter_history(since: datetime, upto: datetime) -> Iterator[TimelineEntry]:
    zone = timezone.get_current_timezone()
    days = HistoryFilter(since=since.astimezone(zone).date(), until=upto.astimezone(zone).date())
    own = reverse("status:incidents")
    for entry in list_history(days, most=2 * MOST)[0]:
        if since <= entry.at <= upto and not entry.url.startswith(own):
            detail = " ".join(filter(None, (entry.detail, entry.whose, f"({entry.who})")))
            yield TimelineEntry(entry.at, TimelineKind.EDIT, entry.title, detail, entry.url)


def _iter_tickets(incident: Incident) -> Iterator[TimelineEntry]:
    """Yield the first attached ticket: when members noticed it."""
    first: IncidentTicket | None = incident.attached.filter(detached=None).select_related("ticket").order_by("ticket__opened_at").first()
    if first:
        words = _("First ticket about it: %(ticket)s") % {"ticket": first.ticket}
        yield TimelineEntry(first.ticket.opened_at, TimelineKind.FAULT, words, url=reverse("tickets:ticket", args=[first.ticket_id]))
