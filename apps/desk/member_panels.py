"""Contexts for the panels of a member's page: addresses with their mappings and activations, and devices."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.desk.forms import AssignAddressWithNatForm
from apps.lib.activation import Activation, list_activations
from apps.lib.ui.activation_status import NEWS
from apps.lib.ui.states import GatewaySymbol, SymbolState
from apps.members.forms import DeviceForm
from apps.members.models import Device, Member
from apps.members.selectors import list_cached_devices
from apps.nat.models import NatMapping
from apps.nat.selectors import list_member_mappings
from apps.network.models import Holding
from apps.network.selectors import PreviousHolder, list_cached_holdings, list_previous_holders


@dataclass(frozen=True)
class MemberAddressRow:
    """A holding of the member, with its NAT mapping, its previous holder, and its activation on each gateway."""

    holding: Holding
    mapping: NatMapping | None
    before: PreviousHolder | None
    gateways: list[Activation]
    alive: bool

    @property
    def posts(self) -> list[GatewaySymbol]:
        """The state on each gateway; hollow while the member is not active, because then the gateways have nothing of it."""
        there = SymbolState.FULL if self.alive else SymbolState.HOLLOW
        return [GatewaySymbol(each.gateway, there if each.since else SymbolState.HALF) for each in self.gateways]

    @property
    def waits_for(self) -> list[str]:
        return [each.gateway for each in self.gateways if not each.since] if self.alive else []

    @property
    def reasons(self) -> list[Activation]:
        """The activations, for gateways that should have the holding."""
        return self.gateways if self.alive else []

    @property
    def took(self) -> float | None:
        """Seconds from saving to the last gateway's confirmation, None until then."""
        times = [each.since for each in self.gateways if isinstance(each.since, datetime)]
        return max(0.0, (max(times) - self.holding.changed_at).total_seconds()) if times and not self.waits_for else None


def build_addresses_context(
    member: Member, *, form: AssignAddressWithNatForm | None = None, added: int = 0, released: str = ""
) -> dict[str, Any]:
    """Return the context of desk/member/_addresses.html.

    `added`: the id of a holding that was just given; `released`: what just ended, in words.
    """
    rows = _list_rows(member)
    moving = any(row.waits_for for row in rows)
    return {
        "member": member,
        "holdings": rows,
        "hold_form": form or AssignAddressWithNatForm(member),
        "added": next((row for row in rows if row.holding.pk == added), None),
        "released": released,
        "poll_addresses": f"every {'500ms' if added else '5s'}, {NEWS}" if moving else "",
    }


def _list_rows(member: Member) -> list[MemberAddressRow]:
    holdings = list_cached_holdings(member)
    mappings = {mapping.holding_id: mapping for mapping in list_member_mappings(member)}
    before = list_previous_holders(holdings)
    alive = member.state == Member.State.ACTIVE
    return [
        MemberAddressRow(holding, mappings.get(holding.pk), before.get(holding.pk), known, alive)
        for holding, known in list_activations(holdings)
    ]


@dataclass(frozen=True)
class DeviceRow:
    """A device and its addresses."""

    device: Device
    addresses: list[str]


def build_devices_context(member: Member, *, form: DeviceForm | None = None, saved: int = 0, removed: str = "") -> dict[str, Any]:
    """Return the context of desk/member/_devices.html.

    `saved`: the id of a device that was just saved; `removed`: the name of one that was just deleted.
    """
    held: dict[int, list[str]] = defaultdict(list)
    for holding in list_cached_holdings(member):
        if holding.device_id:
            held[holding.device_id].append(holding.address)
    owned = [DeviceRow(device, held[device.pk]) for device in list_cached_devices(member)]
    return {
        "member": member,
        "devices": owned,
        "device_form": form or DeviceForm(),
        "device_saved": next((each.device for each in owned if each.device.pk == saved), None),
        "device_removed": removed,
    }
