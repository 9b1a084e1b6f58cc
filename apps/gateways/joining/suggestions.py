"""Suggestions for the interfaces of a joining machine, from what it reports. Pure: facts in, names out.

What the machine shows counts first (which interface the portal came in by, where the default route leaves), then the names that the
other gateways of the group have, then what is left over.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from ipaddress import ip_network

from apps.lib.fields import Address, Prefix
from firewall.machine import MachineFacts, MachineInterface

PRIVATE = tuple(map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")))


@dataclass(frozen=True, slots=True)
class TwinNames:
    """Interfaces of another gateway of the group."""

    lan: str
    wan: str
    management: str
    sync: str


@dataclass(frozen=True, slots=True)
class SuggestedInterfaces:
    """Names for the choice, "" where the facts suggest none. networks: management networks that include the portal."""

    lan: str
    wan: str
    management: str
    sync: str
    networks: tuple[Prefix, ...]


def suggest_interfaces(
    facts: MachineFacts,
    *,
    address: Address,
    portal: Address | None,
    pools: Collection[Prefix] = (),
    twins: Sequence[TwinNames] = (),
    twin_networks: Collection[Prefix] = (),
) -> SuggestedInterfaces:
    """Suggest interfaces. address: where the portal reaches the machine; pools: the members' prefixes; twins: the group's gateways."""
    free = {each.name: each for each in facts.interfaces}
    management = _take(free, [each for each in facts.interfaces if address in _list_addresses(each)])
    ways = sorted(facts.interfaces, key=lambda each: (not each.default4, not each.is_up))
    wan = _take(free, [each for each in ways if each.default4 or each.default6], [twin.wan for twin in twins])
    inside = [each for each in facts.interfaces if any(own in pool for own in _list_addresses(each) for pool in pools)]
    private = [each for each in facts.interfaces if any(own in net for own in _list_addresses(each) for net in PRIVATE) and each.is_up]
    lan = _take(free, inside, [twin.lan for twin in twins], private, [each for each in free.values() if each.is_up])
    sync = _take(free, [twin.sync for twin in twins if twin.sync])
    if not management:
        management = _take(free, [twin.management for twin in twins])
    return SuggestedInterfaces(lan, wan, management, sync, _suggest_networks(facts, management, portal, twin_networks))


def _take(free: dict[str, MachineInterface], *choices: Sequence[MachineInterface | str]) -> str:
    """Return the first free interface of the choices, which is not free from then on; "" if there is none."""
    for each in (each for choice in choices for each in choice):
        name = each if isinstance(each, str) else each.name
        if free.pop(name, None):
            return name
    return ""


def _list_addresses(interface: MachineInterface) -> list[Address]:
    return [each.address for each in interface.addresses]


def _suggest_networks(facts: MachineFacts, management: str, portal: Address | None, twins: Collection[Prefix]) -> tuple[Prefix, ...]:
    """Return the networks of the other gateways, else that of the management interface; with the portal in any case."""
    own = [
        ip_network((own.address, own.length), strict=False)
        for each in facts.interfaces
        if each.name == management
        for own in each.addresses
    ]
    networks: list[Prefix] = list(twins) or [each for each in own if portal is None or portal.version == each.version]
    if portal and not any(portal in each for each in networks):
        networks.append(ip_network(portal))
    return tuple(dict.fromkeys(networks))
