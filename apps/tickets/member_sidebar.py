"""What staff wants to know of a member beside the ticket: may they use the network, what did they use, what was changed last."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from apps.audit.entries import Entry
from apps.audit.selectors import history_of
from apps.bans.blocks.selectors import current
from apps.bans.models import Block
from apps.lib.ui import formats
from apps.lib.ui.states import Kind, State
from apps.members.models import Member
from apps.network.models import Holding
from apps.network.selectors import holdings_of
from apps.tickets.models import Ticket
from apps.tickets.selectors import of_member
from apps.traffic.models import RateLimit
from apps.traffic.rates import selectors as rates
from apps.traffic.rates.rate_texts import sentence
from apps.traffic.selectors import Octets, used

CHANGES = 4
OTHERS = 5


@dataclass(frozen=True)
class Aside:
    """`used`: octets of the last 24 hours. `others`: the member's other tickets. `source`: for the question “why?”."""

    member: Member
    block: Block | None
    limit: RateLimit | None
    used: Octets
    holdings: list[Holding]
    changes: list[Entry]
    others: list[Ticket]

    @property
    def state(self) -> State:
        """Of the membership, and whether it is cut off."""
        if self.block and self.member.state != Member.State.LEFT:
            return State(Kind.BAD, self.block.get_reason_display(), "blocked")
        kinds = {Member.State.ACTIVE: Kind.ACTIVE, Member.State.PENDING: Kind.WAIT, Member.State.LEFT: Kind.PLAIN}
        return State(kinds[Member.State(self.member.state)], self.member.get_state_display())

    @property
    def limited(self) -> str:
        """In a sentence; "" when nothing is limited."""
        return sentence(self.limit) if self.limit else ""

    @property
    def source(self) -> str:
        return f"M-{self.member.number}"

    @property
    def paid(self) -> str:
        return formats.day(self.member.paid_until) if self.member.paid_until else ""


def aside(ticket: Ticket) -> Aside | None:
    """Of whoever asked; None where nobody knows who that is."""
    member = ticket.member
    if member is None:
        return None
    now = timezone.now()
    limit = rates.current(member) if rates.applies(member) else None
    others = [each for each in of_member(member, OTHERS + 1) if each.pk != ticket.pk][:OTHERS]
    recent = used(member, now - timedelta(hours=24), now, now=now)
    return Aside(member, current(member), limit, recent, list(holdings_of(member)), history_of(member, CHANGES), others)
