"""Selection of tickets in a list: checked rows, or all that match the filter."""

from django.http import QueryDict

from apps.accounts.models import User
from apps.lib.web.query_params import parse_ids
from apps.tickets.bulk import MAX_TICKETS
from apps.tickets.models import Ticket
from apps.tickets.selectors import TicketFilter, filter_tickets


def count_selectable_tickets(asked: TicketFilter, user: User, shown: int) -> int:
    """Return the number of tickets that “all” means: all that match the filter, or with more than MAX_TICKETS those on the page."""
    if asked.search:
        return shown
    found = len(filter_tickets(asked, user).order_by().values_list("pk")[: MAX_TICKETS + 1])
    return found if found <= MAX_TICKETS else shown


def list_selected_tickets(post: QueryDict, asked: TicketFilter, user: User) -> list[Ticket]:
    """Return the selected tickets by number, without merged ones. “All” means the checked rows for a search, or above MAX_TICKETS."""
    picks = parse_ids(post.getlist("pick"))[:MAX_TICKETS]
    everything = "all" in post and not asked.search and count_selectable_tickets(asked, user, 0)
    found = filter_tickets(asked, user) if everything else filter_tickets(TicketFilter("all"), user).filter(pk__in=picks)
    return list(found.order_by("pk")[:MAX_TICKETS])
