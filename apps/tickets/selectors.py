"""Queries of tickets for staff."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db import connection
from django.db.models import Count, Prefetch, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.accounts.roles import Right, list_roles_with_right
from apps.lib.web.cached_rows import cache_rows
from apps.lib.web.frame_reads import read_with_frame
from apps.lib.web.navigation import NavigationCount as NavigationCount
from apps.lib.web.request_cache import cache_per_request
from apps.members.models import Member
from apps.tickets import searching
from apps.tickets.keyset import KeysetOrder
from apps.tickets.models import Attachment, Message, Move, Ticket
from apps.tickets.thread import resolve_merged

PER_PAGE: Final = 50
OURS: Final = (Ticket.State.OPEN, Ticket.State.REOPENED)
STATES: Final[dict[str, str | Promise]] = {"ours": _("our turn"), "waiting": _("their turn"), "solved": _("solved"), "all": _("all")}
WHOSE: Final[dict[str, str | Promise]] = {"": _("any assignee"), "mine": _("mine"), "nobody": _("unassigned")}
URGENT_FIRST: Final = KeysetOrder(("-priority", "touched_at", "id"))
NEWEST_FIRST: Final = KeysetOrder(("-touched_at", "-id"))
RARE: Final = 1000  # a tag on at most this many tickets is rare
LATELY: Final = timedelta(days=30)


@dataclass(frozen=True)
class TicketFilter:
    """Filter of the list of tickets: state, assignee, tag and words."""

    state: str = "ours"
    whose: str = ""
    tag: str = ""
    search: str = ""

    @property
    def order(self) -> KeysetOrder:
        """Order of the list: tickets that wait for staff by priority, then the longest wait; all others by last touched."""
        return URGENT_FIRST if self.state == "ours" and not self.search else NEWEST_FIRST


@dataclass(frozen=True)
class TicketPage:
    """A page of tickets. next: token of the next page, "" after the last."""

    tickets: list[Ticket]
    next: str


def get_page(asked: TicketFilter, user: User, after: str = "") -> TicketPage:
    """Return one page of the filtered tickets, with a bounded number of queries."""
    wanted = filter_tickets(asked, user)
    if asked.search:
        return TicketPage(*searching.search_page(wanted, asked.search, asked.order, after, PER_PAGE))
    found = list(asked.order.filter_after(wanted, after)[: PER_PAGE + 1])
    return TicketPage(found[:PER_PAGE], asked.order.make_token(found[PER_PAGE - 1]) if len(found) > PER_PAGE else "")


def filter_tickets(asked: TicketFilter, user: User) -> QuerySet[Ticket]:
    """Return the tickets that match the filter except for its words, unordered."""
    every = Ticket.objects.select_related("member", "assignee").filter(merged_into=None)
    of_state = {"ours": Q(state__in=OURS), "waiting": Q(state=Ticket.State.WAITING), "solved": Q(state=Ticket.State.SOLVED)}
    of_whom = {"mine": Q(assignee=user), "nobody": Q(assignee=None)}
    found = every.filter(of_state.get(asked.state, Q()), of_whom.get(asked.whose, Q()))
    return found.filter(_match_tag(asked.tag)) if asked.tag else found


def _match_tag(tag: str) -> Q:
    """Return a condition for the tag: the ids of a rare tag, found by its index, or a test of each row for a common tag.

    The planner does not know which tags are rare, and would choose the wrong plan.
    """
    few = list(Ticket.objects.order_by().filter(tags__contains=[tag]).values_list("pk", flat=True)[: RARE + 1])
    return Q(pk__in=few) if len(few) <= RARE else Q(tags__contains=[tag])


@read_with_frame
def _count_unsolved() -> QuerySet[Ticket, tuple[str, int]]:
    """Return the numbers by state. Solved ones are not counted, because they only grow in number."""
    return Ticket.objects.order_by().exclude(state=Ticket.State.SOLVED).values_list("state").annotate(Count("pk"))


def count_by_turn() -> dict[str, int]:
    """Return how many tickets wait for staff and how many for the asker."""
    unsolved = dict(_count_unsolved())
    return {"ours": sum(unsolved.get(state, 0) for state in OURS), "waiting": unsolved.get(Ticket.State.WAITING, 0)}


def count_for_navigation(_request: HttpRequest) -> NavigationCount | None:
    """Return the number beside “Tickets” in the navigation."""
    return NavigationCount(count_by_turn()["ours"])


def list_messages(ticket: Ticket) -> QuerySet[Message]:
    """Return all messages of the ticket with their files, the oldest first."""
    files = Prefetch("attachments", Attachment.objects.order_by("id"))
    return ticket.messages.select_related("author").prefetch_related(files).order_by("at", "id")


def list_merges_and_splits(ticket: Ticket) -> list[Move]:
    """Return the merges and splits into the ticket and the splits out of it, without merges that were undone."""
    between = Move.objects.filter(Q(target=ticket) | Q(source=ticket, kind=Move.Kind.SPLIT), undone_at=None)
    return list(between.select_related("by", "source", "target").order_by("id"))


@cache_rows
def list_member_tickets(member: Member, most: int = 5) -> QuerySet[Ticket]:
    """Return the member's last touched tickets. Read once for all parts of a page."""
    rows = Ticket.objects.filter(member=member, merged_into=None).select_related("assignee")
    return rows.order_by("-touched_at", "-id")[:most]


def list_ticket_with_number(text: str) -> list[Ticket]:
    """Return the ticket with this number, `#1203` or `1203`, or the one that it was merged into; an empty list if there is none."""
    number = searching.parse_number(text)
    return list(Ticket.objects.filter(pk=resolve_merged(number)).select_related("member")) if number else []


def search_tickets(text: str, most: int) -> list[Ticket]:
    """Return the last touched tickets that match the words."""
    rows = Ticket.objects.filter(merged_into=None).select_related("member")
    return searching.search_page(rows, text, NEWEST_FIRST, "", most)[0]


def list_answerers() -> list[User]:
    """Return the users who may answer tickets, by name."""
    return sorted(
        User.objects.filter(is_active=True, roles__overlap=list_roles_with_right(Right.ANSWER)), key=lambda user: user.name.lower()
    )


@dataclass(frozen=True)
class FirstAnswers:
    """First answers to tickets opened LATELY. median: seconds until the first answer; unanswered: unsolved tickets without an answer."""

    median: float | None
    unanswered: int


@cache_per_request
def compute_first_answers() -> FirstAnswers:
    """Return the times of first answers. Takes one query, over the index of `opened_at`."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM first_answered_at - opened_at))
                          FILTER (WHERE first_answered_at > opened_at),
                      count(*) FILTER (WHERE first_answered_at IS NULL AND state <> 'solved')
               FROM tickets_ticket WHERE opened_at > %s""",
            [timezone.now() - LATELY],
        )
        median, unanswered = cursor.fetchone()
    return FirstAnswers(median, unanswered)
