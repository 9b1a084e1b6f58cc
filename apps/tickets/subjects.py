"""What apps above this one say that a ticket is about, beside its own links. Each registers a function when it is ready."""

from collections.abc import Callable
from dataclasses import dataclass

from apps.tickets.models import Ticket


@dataclass(frozen=True)
class TicketSubject:
    """Something that a ticket is about: what kind of thing, its name, and its page for staff."""

    kind: str
    words: str
    url: str


type SubjectFinder = Callable[[Ticket], TicketSubject | None]
_finders: list[SubjectFinder] = []


def register_subject(find: SubjectFinder) -> SubjectFinder:
    """Register a function that returns what a ticket is about, None if it is nothing of its kind."""
    _finders.append(find)
    return find


def list_subjects(ticket: Ticket) -> list[TicketSubject]:
    """Return what the ticket is about, in the order in which apps registered."""
    return [found for find in _finders if (found := find(ticket))]
