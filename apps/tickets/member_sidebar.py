"""Facts about the member beside a ticket, for staff: state, block and rate limit, recent usage, holdings, last changes and tickets."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from apps.audit.entries import HistoryEntry
from apps.audit.selectors import list_row_history
from apps.bans.blocks.selectors import find_current_block
from apps.bans.models import Block
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.members.models import Member
from apps.network.models import Holding
from apps.network.selectors import list_held_now
from apps.tickets.models import Ticket
from apps.tickets.selectors import list_member_tickets
from apps.traffic.models import RateLimit
from apps.traffic.rates import selectors as rates
from apps.traffic.rates.rate_texts import describe_limit
from apps.traffic.selectors import OctetsByDirection, sum_member_usage

CHANGES = 4
OTHERS = 5


@dataclass(frozen=True)
class MemberSidebar:
    """Content of the sidebar. used: octets of the last 24 hours; others: the member's other tickets; source: input for the packet trace."""

    member: Member
    block: Block | None
    limit: RateLimit | None
    used: OctetsByDirection
    holdings: list[Holding]
    changes: list[HistoryEntry]
    others: list[Ticket]

    @property
    def state(self) -> StateLabel:
        """State of the membership, or the reason of the block if the member is cut off."""
        if self.block and self.member.state != Member.State.LEFT:
            return StateLabel(StateKind.BAD, self.block.get_reason_display(), "blocked")
        kinds = {Member.State.ACTIVE: StateKind.ACTIVE, Member.State.PENDING: StateKind.WAIT, Member.State.LEFT: StateKind.PLAIN}
        return StateLabel(kinds[Member.State(self.member.state)], self.member.get_state_display())

    @property
    def limit_text(self) -> str:
        """Sentence about the rate limit; "" when there is none."""
        return describe_limit(self.limit) if self.limit else ""

    @property
    def source(self) -> str:
        return f"M-{self.member.number}"

    @property
    def paid_until_text(self) -> str:
        return formats.format_day(self.member.paid_until) if self.member.paid_until else ""


def build_sidebar(ticket: Ticket) -> MemberSidebar | None:
    """Return the sidebar for the ticket's member; None where the ticket has none."""
    member = ticket.member
    if member is None:
        return None
    now = timezone.now()
    limit = rates.find_current_limit(member) if rates.is_rate_limiting_on(member) else None
    others = [each for each in list_member_tickets(member, OTHERS + 1) if each.pk != ticket.pk][:OTHERS]
    recent = sum_member_usage(member, now - timedelta(hours=24), now, now=now)
    return MemberSidebar(
        member, find_current_block(member), limit, recent, list(list_held_now(member)), list_row_history(member, CHANGES), others
    )
