"""Which tickets of a list were chosen: picked rows, or all of its filter."""

from collections.abc import Iterable

from django.http import QueryDict

from apps.accounts.models import User
from apps.tickets.bulk import MOST
from apps.tickets.models import Ticket
from apps.tickets.selectors import TicketFilter, filter_tickets


def parse_ids(given: Iterable[str]) -> list[int]:
    """Ids as forms send them, each once; what is none is left out."""
    good = (each for each in given if each.isascii() and each.isdigit() and len(each) < 18)
    return list(dict.fromkeys(int(each) for each in good))[:MOST]


def count_reach(asked: TicketFilter, user: User, shown: int) -> int:
    """How many “all of them” are: of the filter, as long as they can be done at once; else those on the page."""
    if asked.search:
        return shown
    found = len(filter_tickets(asked, user).order_by().values_list("pk")[: MOST + 1])
    return found if found <= MOST else shown


def list_chosen(post: QueryDict, asked: TicketFilter, user: User) -> list[Ticket]:
    """The tickets, in the order of their numbers; merged ones are not among them. Whoever chose all of more than can be done at once chose
    those on the page."""
    picks = parse_ids(post.getlist("pick"))
    everything = "all" in post and not asked.search and count_reach(asked, user, 0)
    found = filter_tickets(asked, user) if everything else filter_tickets(TicketFilter("all"), user).filter(pk__in=picks)
    return list(found.order_by("pk")[:MOST])
