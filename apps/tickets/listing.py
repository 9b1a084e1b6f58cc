"""Rows of the list of tickets. Parts that are the same in many rows are rendered once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from apps.lib.templatetags.netzwart import render_when, state
from apps.tickets.models import Ticket

ANY: Final = 10**17  # placeholder for a ticket's number in the URL


@dataclass(frozen=True, slots=True)
class TicketRow:
    """One row of the list; all fields but `ticket` are text for the page. label: of the checkbox that selects the ticket."""

    ticket: Ticket
    url: str
    who: str
    assignee: str
    state: SafeString
    priority: SafeString
    tags: SafeString
    touched: SafeString | str
    label: str


def iter_rows(tickets: Iterable[Ticket]) -> Iterator[TicketRow]:
    """Yield the rows for these tickets, in the active language."""
    states, priorities = {each: render_state(each) for each in Ticket.State}, {each: render_priority(each) for each in Ticket.Priority}
    url, label, unknown = reverse("tickets:ticket", args=[ANY]), _("Select #%(pk)s"), _("sender unknown")
    for ticket in tickets:
        number = str(ticket.pk)
        yield TicketRow(
            ticket=ticket,
            url=url.replace(str(ANY), number),
            who=str(ticket.member) if ticket.member else ticket.address or unknown,
            assignee=ticket.assignee.name if ticket.assignee else "",
            state=states[Ticket.State(ticket.state)],
            priority=priorities[Ticket.Priority(ticket.priority)],
            tags=format_html_join("", ' <span class="nw-tag">{}</span>', ((tag,) for tag in ticket.tags)),
            touched=render_when(ticket.touched_at, "short"),
            label=label % {"pk": number},
        )


def render_state(of: Ticket.State) -> SafeString:
    """Return the label for the state: whose turn it is."""
    if of == Ticket.State.OPEN:
        return state("wait", _("our turn"), icon="wait")
    if of == Ticket.State.REOPENED:
        return state("wait", _("our turn, reopened"), icon="wait")
    return state("plain", _("their turn"), icon="clock") if of == Ticket.State.WAITING else state("active", _("solved"))


def render_priority(of: Ticket.Priority) -> SafeString:
    """Return the label for the priority, more conspicuous for higher ones."""
    if of >= Ticket.Priority.HIGH:
        return state("bad" if of == Ticket.Priority.URGENT else "warn", of.label, icon="arrow-up")
    return format_html('<span class="nw-{}">{}</span>', 2 if of == Ticket.Priority.LOW else 3, of.label)
