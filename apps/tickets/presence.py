"""Who has a ticket open now, so that two people do not answer it. A sign holds for PRESENT, and nothing of it is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db.models.functions import Now

from apps.accounts.models import User
from apps.events.models import Presence
from apps.tickets.models import Ticket

PRESENT: Final = timedelta(seconds=30)


@dataclass(frozen=True)
class TicketPageState:
    """What a page shows of the ticket: whose it is, in which state, and how many entries its thread has."""

    assignee: int
    state: str
    entries: int


@dataclass(frozen=True)
class PresenceReport:
    """Who else is there, and what became of the ticket since the page was made: who took it, its state, new entries."""

    people: Sequence[Presence]
    taken: User | None
    state: str
    fresh: int


def parse_page_state(given: Mapping[str, str]) -> TicketPageState:
    """What a page says that it shows; numbers that are none count as 0."""
    number = {name: int(text) if (text := given.get(name, "")).isascii() and text.isdigit() and len(text) < 19 else 0 for name in _NUMBERS}
    return TicketPageState(number["assignee"], given.get("state", ""), number["entries"])


_NUMBERS: Final = ("assignee", "entries")


def record_presence(*, ticket: Ticket, writing: bool, by: User) -> None:
    """A sign of life. Whoever gave none for PRESENT is gone."""
    Presence.objects.filter(seen__lt=Now() - PRESENT).delete()
    sign = Presence(ticket_id=ticket.pk, user=by, writing=writing, seen=Now())
    Presence.objects.bulk_create([sign], update_conflicts=True, unique_fields=["ticket_id", "user"], update_fields=["writing", "seen"])


def build_presence_report(ticket: Ticket, seen: TicketPageState, by: User) -> PresenceReport:
    """As somebody at this ticket sees it who looks at such a page."""
    there = Presence.objects.filter(ticket_id=ticket.pk, seen__gte=Now() - PRESENT).exclude(user=by)
    taken = ticket.assignee if ticket.assignee and ticket.assignee_id not in (seen.assignee, by.pk) else None
    state = ticket.get_state_display() if seen.state and ticket.state != seen.state else ""
    fresh = max(0, ticket.messages.count() - seen.entries)
    return PresenceReport(list(there.select_related("user").order_by("-writing", "user_id")), taken, state, fresh)
