"""Presence of users at a ticket's page, so that two of them do not answer it. A report is valid for PRESENT and then deleted."""

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
    """State of a ticket as a page shows it: id of the assignee (0 for none), state, and number of entries in the thread."""

    assignee: int
    state: str
    entries: int


@dataclass(frozen=True)
class PresenceReport:
    """Other users at the ticket, and changes since the page was made. taken: the new assignee; state: the new state, "" if unchanged;
    fresh: number of new entries.
    """

    people: Sequence[Presence]
    taken: User | None
    state: str
    fresh: int


def parse_page_state(given: Mapping[str, str]) -> TicketPageState:
    """Return the state that a page reports to show; invalid numbers count as 0."""
    number = {name: int(text) if (text := given.get(name, "")).isascii() and text.isdigit() and len(text) < 19 else 0 for name in _NUMBERS}
    return TicketPageState(number["assignee"], given.get("state", ""), number["entries"])


_NUMBERS: Final = ("assignee", "entries")


def record_presence(*, ticket: Ticket, writing: bool, by: User) -> None:
    """Save that the user has the ticket open, and delete reports older than PRESENT."""
    Presence.objects.filter(seen__lt=Now() - PRESENT).delete()
    sign = Presence(ticket_id=ticket.pk, user=by, writing=writing, seen=Now())
    Presence.objects.bulk_create([sign], update_conflicts=True, unique_fields=["ticket_id", "user"], update_fields=["writing", "seen"])


def build_presence_report(ticket: Ticket, seen: TicketPageState, by: User) -> PresenceReport:
    """Return the report for this user, with the changes since the state that their page shows."""
    there = Presence.objects.filter(ticket_id=ticket.pk, seen__gte=Now() - PRESENT).exclude(user=by)
    taken = ticket.assignee if ticket.assignee and ticket.assignee_id not in (seen.assignee, by.pk) else None
    state = ticket.get_state_display() if seen.state and ticket.state != seen.state else ""
    fresh = max(0, ticket.messages.count() - seen.entries)
    return PresenceReport(list(there.select_related("user").order_by("-writing", "user_id")), taken, state, fresh)
