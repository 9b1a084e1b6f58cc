"""Factories for readings as an agent sends them."""

from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from struct import pack

from apps.bans.models import Direction
from apps.lib.fields import Prefix
from firewall import owners
from firewall.counters import OwnerTraffic
from firewall.elements.bans import FAMILIES
from firewall.wire import Counts, Gone, Reading

type Pair = tuple[int, int]  # packets and octets
type Element = tuple[str, int]  # address or prefix, and the id of its holding (0: unknown)


def counts(given: Mapping[Element, Pair]) -> Counts:
    """Build the counts of these elements of one set."""
    numbers = f">{len(given)}Q"
    return Counts(
        len(given),
        b"".join(ip_network(each).network_address.packed for each, _ in given),
        pack(numbers, *(packets for packets, _ in given.values())),
        pack(numbers, *(octets for _, octets in given.values())),
        b"".join(owners.encode_holding_id(owner) for _, owner in given) if any(owner for _, owner in given) else b"",
    )


def reading(sequence: int, *gone: Gone, boot: str = "boot", table: int = 1, log: str = "log", **sets: Mapping[Element, Pair]) -> Reading:
    """Build a reading of these counters."""
    return Reading(boot, table, log, sequence, 0, {name: counts(given) for name, given in sets.items()}, gone, {})


def make_gone(number: int, *, boot: str = "boot", table: int = 1, **sets: Mapping[Element, Pair]) -> Gone:
    """Build the final counts of deleted elements."""
    return Gone(number, boot, table, {name: counts(given) for name, given in sets.items()})


def hit(given: Mapping[tuple[Prefix, Direction], Pair]) -> dict[str, list[OwnerTraffic]]:
    """Build what elements of bans counted between two readings, by set."""
    found: dict[str, list[OwnerTraffic]] = {}
    for (prefix, direction), (packets, octets) in given.items():
        name = f"{_FAMILIES[direction]}{prefix.version}_{prefix.prefixlen}"
        found.setdefault(name, []).append(OwnerTraffic(0, _network(prefix).network_address.packed, packets, octets))
    return found


_FAMILIES = {Direction(direction): start for direction, start in FAMILIES.items()}


def _network(prefix: Prefix) -> IPv4Network | IPv6Network:
    return ip_network(prefix)
