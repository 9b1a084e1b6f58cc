"""The status line on top of a member's page.

Connected, limited (rate, end, reason), blocked (reason, end, contact), or not yet active. The texts address the member as “you”.
No gateway is contacted: the desired state is on the gateways within a second.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.bans.blocks.models import Block
from apps.bans.blocks.selectors import find_current_block, find_notice_for_address
from apps.lib.ui.states import StateKind
from apps.members.models import Member
from apps.nat.selectors import list_member_mappings
from apps.network.models import Holding
from apps.traffic.rates import selectors
from apps.traffic.rates.rate_texts import describe_limit, format_rates


@dataclass(frozen=True)
class ConnectionStatus:
    """The status and its explanation. block: shown with its reason; contact: how to reach the administrators."""

    kind: StateKind
    title: str
    words: str = ""
    block: Block | None = None
    contact: str = ""


def build_connection_status(member: Member, holdings: Sequence[Holding]) -> ConnectionStatus:
    """Return the current status of the member's connection."""
    if member.state == Member.State.LEFT:
        return ConnectionStatus(StateKind.PLAIN, _("Your membership has ended"), _("None of your addresses work here any more."))
    if block := find_current_block(member):
        return ConnectionStatus(StateKind.BAD, _("Your internet access is blocked"), block=block, contact=_find_contact(holdings))
    if member.state == Member.State.PENDING:
        return ConnectionStatus(
            StateKind.WAIT, _("You are not connected yet"), _("Your membership waits for an administrator to activate it.")
        )
    if not holdings:
        return ConnectionStatus(StateKind.WARN, _("You are not connected"), _("You have no address yet. Ask the administrators."))
    if not list_member_mappings(member) and all(each.prefix.version == 4 for each in holdings):
        return ConnectionStatus(
            StateKind.WARN, _("You reach this network, not the internet"), _("You have no public address yet. Ask the administrators.")
        )
    return _build_connected(member)


def _build_connected(member: Member) -> ConnectionStatus:
    """Return the status of a connected member, with the rate limit or the tariff's rate."""
    limit, applies = selectors.find_current_limit(member), selectors.is_rate_limiting_on(member)
    if limit and applies:
        return ConnectionStatus(StateKind.WARN, _("You are connected, with a rate limit"), describe_limit(limit))
    if applies and (tariff := format_rates(member.tariff)):
        return ConnectionStatus(StateKind.OK, _("You are connected"), _("Your tariff allows %(rate)s. No block.") % {"rate": tariff})
    return ConnectionStatus(StateKind.OK, _("You are connected"), _("No limit, no block."))


def _find_contact(holdings: Sequence[Holding]) -> str:
    notice = find_notice_for_address(holdings[0].prefix.network_address) if holdings else None
    return notice.contact if notice else ""
