"""The one line of truth on top of a member's page: connected, limited (how fast, until, why), blocked (why, until,
whom to ask), or not yet.

In words for the member, who is "you". Nothing here asks a gateway: what the database wants is on them within a second.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.bans.blocks.models import Block
from apps.bans.blocks.selectors import current, notice_of
from apps.lib.ui.states import Kind
from apps.members.models import Member
from apps.nat.selectors import mappings_of
from apps.network.models import Holding
from apps.traffic.rates import selectors
from apps.traffic.rates.rate_texts import rates, sentence


@dataclass(frozen=True)
class Truth:
    """What is so, and what follows. block: shown with its reason; contact: whom to ask."""

    kind: Kind
    title: str
    words: str = ""
    block: Block | None = None
    contact: str = ""


def truth(member: Member, holdings: Sequence[Holding]) -> Truth:
    """What is true of the member's connection now."""
    if member.state == Member.State.LEFT:
        return Truth(Kind.PLAIN, _("Your membership has ended"), _("None of your addresses work here any more."))
    if block := current(member):
        return Truth(Kind.BAD, _("Your internet access is blocked"), block=block, contact=_contact(holdings))
    if member.state == Member.State.PENDING:
        return Truth(Kind.WAIT, _("You are not connected yet"), _("Your membership waits for an administrator to activate it."))
    if not holdings:
        return Truth(Kind.WARN, _("You are not connected"), _("You have no address yet. Ask the administrators."))
    if not mappings_of(member) and all(each.prefix.version == 4 for each in holdings):
        return Truth(Kind.WARN, _("You reach this network, not the internet"), _("You have no public address yet. Ask the administrators."))
    return _connected(member)


def _connected(member: Member) -> Truth:
    """As fast as it goes, or not."""
    limit, applies = selectors.current(member), selectors.applies(member)
    if limit and applies:
        return Truth(Kind.WARN, _("You are connected, with a limited rate"), sentence(limit))
    if applies and (tariff := rates(member.tariff)):
        return Truth(Kind.OK, _("You are connected"), _("Your tariff lets through %(rate)s. No block.") % {"rate": tariff})
    return Truth(Kind.OK, _("You are connected"), _("No limit, no block."))


def _contact(holdings: Sequence[Holding]) -> str:
    notice = notice_of(holdings[0].prefix.network_address) if holdings else None
    return notice.contact if notice else ""
