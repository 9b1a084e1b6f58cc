"""Addresses as text, from the kernel's octets and several times faster than with `ipaddress`: a ruleset is mostly addresses.

The text is the same under every version of Python, unlike `str` of an address: 3.13 writes ::ffff:0.0.0.0 where 3.11 wrote
::ffff:0:0.
"""

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from struct import Struct

# RFC 1918 and RFC 6598: addresses that must never be seen on the uplink
PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16")))

_unpack_groups = Struct("!8H").unpack
_ZEROS = re.compile(r"\b0(?::0)+\b")


def parse_prefix(text: str, *, strict: bool = True) -> IPv4Network | IPv6Network:
    """Return the network that people write as an address and a decimal length. Raises ValueError for anything else.

    `ipaddress` also reads netmasks, wildcards (`203.0.113.0/0.0.0.255`) and `/024`, which other programs understand differently,
    and zones of a host (RFC 4007), which mean nothing here. strict: bits behind the length are an error too; otherwise they are
    dropped.
    """
    _address, slash, length = text.partition("/")
    if "%" in text or (slash and not (length.isascii() and length.isdecimal() and len(length) <= 3 and str(int(length)) == length)):
        raise ValueError(f"{text!r}: write the length in decimal, such as /24")
    return ip_network(text, strict=strict)


def format_ipv4(octets: bytes) -> str:
    """Return four octets in dotted decimal."""
    return "%d.%d.%d.%d" % tuple(octets)  # noqa: UP031 - half the time of an f-string


def format_ipv6(octets: bytes) -> str:
    """Return sixteen octets in the canonical form of RFC 5952: lower case, the first longest run of zero groups as `::`."""
    text = "%x:%x:%x:%x:%x:%x:%x:%x" % _unpack_groups(octets)  # noqa: UP031 - half the time of an f-string
    runs = [found.span() for found in _ZEROS.finditer(text)]
    if not runs:
        return text
    start, end = runs[0] if len(runs) == 1 else max(runs, key=lambda run: run[1] - run[0])
    return f"{text[:start].rstrip(':')}::{text[end:].lstrip(':')}"


def format_address(address: IPv4Address | IPv6Address) -> str:
    """Return an address in its canonical form."""
    return format_ipv4(address.packed) if address.version == 4 else format_ipv6(address.packed)


def format_prefix(prefix: IPv4Network | IPv6Network) -> str:
    """Return a prefix in its canonical form, with its length."""
    return f"{format_address(prefix.network_address)}/{prefix.prefixlen}"
