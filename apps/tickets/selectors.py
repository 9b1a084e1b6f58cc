"""Reading tickets, for staff."""

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
WHOSE: Final[dict[str, str | Promise]] = {"": _("anybody’s"), "mine": _("mine"), "nobody": _("nobody’s")}
URGENT_FIRST: Final = KeysetOrder(("-priority", "touched_at", "id"))
NEWEST_FIRST: Final = KeysetOrder(("-touched_at", "-id"))
RARE: Final = 1000  # tickets with a tag
LATELY: Final = timedelta(days=30)


@dataclass(frozen=True)
class TicketFilter:
    """Which tickets: of a state, whose, with a tag, with words."""

    state: str = "ours"
    whose: str = ""
    tag: str = ""
    search: str = ""

    @property
    def order(self) -> KeysetOrder:
        """What waits for us: the urgent first, then what has waited longest. Otherwise what was touched last."""
        return URGENT_FIRST if self.state == "ours" and not self.search else NEWEST_FIRST


@dataclass(frozen=True)
class TicketPage:
    """A page of tickets; where the next one begins, "" after the last."""

    tickets: list[Ticket]
    next: str


def get_page(asked: TicketFilter, user: User, after: str = "") -> TicketPage:
    """One page of what was asked for; the number of queries is bounded."""
    wanted = filter_tickets(asked, user)
    if asked.search:
        return TicketPage(*searching.search_page(wanted, asked.search, asked.order, after, PER_PAGE))
    found = list(asked.order.after(wanted, after)[: PER_PAGE + 1])
    return TicketPage(found[:PER_PAGE], asked.order.token(found[PER_PAGE - 1]) if len(found) > PER_PAGE else "")


def filter_tickets(asked: TicketFilter, user: User) -> QuerySet[Ticket]:
    """What was asked for, but for the words; without order."""
    every = Ticket.objects.select_related("member", "assignee").filter(merged_into=None)
    of_state = {"ours": Q(state__in=OURS), "waiting": Q(state=Ticket.State.WAITING), "solved": Q(state=Ticket.State.SOLVED)}
    of_whom = {"mine": Q(assignee=user), "nobody": Q(assignee=None)}
    found = every.filter(of_state.get(asked.state, Q()), of_whom.get(asked.whose, Q()))
    return found.filter(_match_tag(asked.tag)) if asked.tag else found


def _match_tag(tag: str) -> Q:
    """Of a rare tag all tickets by its index, of a common one whatever comes first has it: the planner takes the one for the other."""
    few = list(Ticket.objects.order_by().filter(tags__contains=[tag]).values_list("pk", flat=True)[: RARE + 1])
    return Q(pk__in=few) if len(few) <= RARE else Q(tags__contains=[tag])


@cache_per_request
def count_by_turn() -> dict[str, int]:
    """How many wait for us and for them; what is solved is not counted, because it only grows."""
    unsolved = dict(Ticket.objects.order_by().exclude(state=Ticket.State.SOLVED).values_list("state").annotate(Count("pk")))
    return {"ours": sum(unsolved.get(state, 0) for state in OURS), "waiting": unsolved.get(Ticket.State.WAITING, 0)}


def count_for_navigation(_request: HttpRequest) -> NavigationCount | None:
    """The number beside “Tickets”."""
    return NavigationCount(count_by_turn()["ours"])


def list_messages(ticket: Ticket) -> QuerySet[Message]:
    """All that was written, with its files."""
    files = Prefetch("attachments", Attachment.objects.order_by("id"))
    return ticket.messages.select_related("author").prefetch_related(files).order_by("at", "id")


def list_moves(ticket: Ticket) -> list[Move]:
    """What came from other tickets, and what went to others; what was undone is left out."""
    between = Move.objects.filter(Q(target=ticket) | Q(source=ticket, kind=Move.Kind.SPLIT), undone_at=None)
    return list(between.select_related("by", "source", "target").order_by("id"))


def list_member_tickets(member: Member, most: int = 5) -> list[Ticket]:
    """The member's last tickets."""
    rows = Ticket.objects.filter(member=member, merged_into=None).select_related("assignee")
    return list(rows.order_by("-touched_at", "-id")[:most])


def list_by_number(text: str) -> list[Ticket]:
    """The ticket of this number, `#1203` or `1203`, or the one that it was merged into."""
    number = searching.parse_number(text)
    return list(Ticket.objects.filter(pk=resolve_merged(number)).select_related("member")) if number else []


def search_tickets(text: str, most: int) -> list[Ticket]:
    """The last touched of those that the words find."""
    rows = Ticket.objects.filter(merged_into=None).select_related("member")
    return searching.search_page(rows, text, NEWEST_FIRST, "", most)[0]


def list_answerers() -> list[User]:
    """Who may answer tickets, by name."""
    return sorted(
        User.objects.filter(is_active=True, roles__overlap=list_roles_with_right(Right.ANSWER)), key=lambda user: user.name.lower()
    )


@dataclass(frozen=True)
class FirstAnswers:
    """Of tickets opened LATELY: in how many seconds half of those that were answered had their first answer, and how many had none yet."""

    median: float | None
    unanswered: int


@cache_per_request
def compute_first_answers() -> FirstAnswers:
    """One question to the database, over the index of `opened_at`."""
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
