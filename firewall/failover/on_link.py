"""Finds the public addresses of members that are on the uplink's own link.

The uplink routes other pools to a virtual address. For these it asks by ARP (RFC 826), so the carrier of IPv4 has to hold each of them.
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network

from firewall.failover.spec import FailoverSpec, InterfaceSide

MOST_ON_LINK = 1024  # addresses


def list_on_link(spec: FailoverSpec) -> tuple[IPv4Address, ...]:
    """Return the addresses, in order. A link's network and broadcast address, and virtual addresses, are not among them."""
    taken = {each.address for each in spec.addresses}
    found = {address for link, part in _iter_parts(spec) for address in part if _is_host(address, link)}
    return tuple(sorted(found - taken))


def count_on_link(spec: FailoverSpec) -> int:
    """Return how many addresses these are at most, without looking at each."""
    return sum(part.num_addresses for part in {part for _link, part in _iter_parts(spec)})


def _iter_parts(spec: FailoverSpec) -> Iterator[tuple[IPv4Network, IPv4Network]]:
    """Yield each link on the outside, and what is on it of each pool."""
    outside = {each.network for each in spec.list_addresses(4) if each.side is InterfaceSide.WAN}
    for link in outside:
        for pool in spec.list_pools(4):
            if isinstance(link, IPv4Network) and isinstance(pool, IPv4Network) and link.overlaps(pool):
                yield link, max(link, pool, key=lambda each: each.prefixlen)


def _is_host(address: IPv4Address, link: IPv4Network) -> bool:
    return link.prefixlen > 30 or address not in (link.network_address, link.broadcast_address)  # RFC 3021: two hosts on a /31
