"""Selection of tickets in a list: checked rows, or all that match the filter."""

from collections.abc import Iterable

from django.http import QueryDict

from apps.accounts.models import User
from apps.tickets.bulk import MOST
from apps.tickets.models import Ticket
from apps.tickets.selectors import TicketFilter, filter_tickets


def parse_ids(given: Iterable[str]) -> list[int]:
    """Return the ids that a form sent, without duplicates and without what is not an id; at most MOST."""
    good = (each for each in given if each.isascii() and each.isdigit() and len(each) < 18)
    return list(dict.fromkeys(int(each) for each in good))[:MOST]


def count_reach(asked: TicketFilter, user: User, shown: int) -> int:
    """Return the number of tickets that “all” means: all that match the filter if these are at most MOST, otherwise those on the page."""
    if asked.search:
        return shown
    found = len(filter_tickets(asked, user).order_by().values_list("pk")[: MOST + 1])
    return found if found <= MOST else shown


def list_chosen(post: QueryDict, asked: TicketFilter, user: User) -> list[Ticket]:
    """Return the selected tickets by number, without merged ones. “All” means the checked rows for a search or more than MOST hits."""
    picks = parse_ids(post.getlist("pick"))
    everything = "all" in post and not asked.search and count_reach(asked, user, 0)
    found = filter_tickets(asked, user) if everything else filter_tickets(TicketFilter("all"), user).filter(pk__in=picks)
    return list(found.order_by("pk")[:MOST])
