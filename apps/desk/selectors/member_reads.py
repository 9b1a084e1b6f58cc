"""What a member's page reads: everything that its panels will ask their selectors for, in a few queries ahead of them."""

from typing import Any, Final

from apps.bans.blocks.selectors import list_current_blocks
from apps.lib.activation import list_activations
from apps.lib.models import Deployed
from apps.lib.web.cached_rows import RowReader, read_ahead
from apps.lib.web.frame_reads import read_frame
from apps.members.departures import list_planned_departures
from apps.members.invitation_services import list_open_invitations
from apps.members.models import Member
from apps.members.selectors import list_cached_devices, list_memberships
from apps.nat.moving.services import list_planned_moves
from apps.nat.pinholes.selectors import list_cached_pinholes
from apps.nat.selectors import list_cached_forwards, list_member_mappings
from apps.network.selectors import list_cached_holdings
from apps.tickets.selectors import list_member_tickets
from apps.traffic.rates.selectors import list_current_limits, list_unlimited_uplinks

ROWS_OF_MEMBER: Final[tuple[RowReader[[Member], Any], ...]] = (
    list_cached_holdings,
    list_member_mappings,
    list_cached_forwards,
    list_cached_pinholes,
    list_cached_devices,
    list_current_blocks,
    list_current_limits,
    list_unlimited_uplinks,
    list_planned_departures,
    list_planned_moves,
    list_open_invitations,
    list_memberships,
    list_member_tickets,
)


def read_member(member: Member) -> None:
    """Read the frame, then all rows of the member, then since when the gateways have those that reach them."""
    read_frame()
    read_ahead(member, *ROWS_OF_MEMBER)
    list_activations(_list_deployed(member))


def _list_deployed(member: Member) -> list[Deployed]:
    """Return all rows of the member that reach gateways."""
    addresses = [*list_cached_holdings(member), *list_member_mappings(member)]
    openings: list[Deployed] = [*list_cached_forwards(member), *list_cached_pinholes(member)]
    return [*addresses, *openings, *list_current_blocks(member), *list_current_limits(member)]
