"""Names of members' devices as master files (RFC 1035, section 5).

The files have no SOA and NS records: the zone that has these includes them. <device>.m-<number> has the device's IPv4 addresses.
m-<number> has the addresses without a known device, and the first address of the member's IPv6 prefixes. In the reverse zone each
address has one name. Labels are letters, digits and hyphens, so nothing needs escaping.
"""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from apps.desk.exports.device_addresses import ExportHost
from apps.lib.fields import Address, Prefix

TTL = 300  # seconds


def render_forward_zone(zone: str, hosts: Iterable[ExportHost]) -> Iterator[str]:
    """Yield the forward zone."""
    yield f"$ORIGIN {zone}.\n$TTL {TTL}\n"
    for host in hosts:
        address = compute_record_address(host.prefix)
        yield f"{make_name(host)} IN {'A' if address.version == 4 else 'AAAA'} {address}\n"


def render_reverse_zone(origin: str, zone: str, hosts: Iterable[ExportHost]) -> Iterator[str]:
    """Yield the reverse zone `origin`, with those of the hosts that are in it."""
    yield f"$ORIGIN {origin}.\n$TTL {TTL}\n"
    ending = f".{origin}"
    for host in hosts:
        pointer = compute_record_address(host.prefix).reverse_pointer
        if pointer.endswith(ending):
            yield f"{pointer.removesuffix(ending)} IN PTR {make_name(host)}.{zone}.\n"


def make_name(host: ExportHost) -> str:
    """Return the host's name relative to the zone."""
    single = host.prefix.prefixlen == host.prefix.max_prefixlen
    return f"{host.card.label}.{host.member_label}" if host.card and single else host.member_label


def compute_record_address(prefix: Prefix) -> Address:
    """Return the address itself, or the first one after a prefix's network address: the router's."""
    first: IPv4Address | IPv6Address = prefix.network_address
    return first if prefix.prefixlen == prefix.max_prefixlen else first + 1


def iter_reverse_origins(prefix: IPv4Network | IPv6Network) -> Iterator[tuple[str, Prefix]]:
    """Yield a pool's reverse zones and the part of the pool in each.

    Zones are cut at whole octets, in IPv6 at whole nibbles (RFC 3596, section 2.5).
    """
    bits = 8 if prefix.version == 4 else 4
    length = min(-(-max(prefix.prefixlen, bits) // bits) * bits, prefix.max_prefixlen - bits)
    parts = [prefix] if length <= prefix.prefixlen else prefix.subnets(new_prefix=length)
    labels = (prefix.max_prefixlen - length) // bits
    for part in parts:
        yield ".".join(part.network_address.reverse_pointer.split(".")[labels:]), part
