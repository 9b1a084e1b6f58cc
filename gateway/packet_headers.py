"""Parses the first octets of a packet, as a trace carries them.

Layouts: RFC 791, RFC 8200, RFC 9293, RFC 768, RFC 792, RFC 4443.
"""

from ipaddress import IPv4Address, IPv6Address
from struct import Struct

from firewall.live_trace import Headers

_PORTS = Struct(">HH")
_WITH_PORTS = frozenset({6, 17, 33, 132, 136})  # TCP, UDP, DCCP, SCTP, UDP-Lite
_TCP, _ICMP = 6, frozenset({1, 58})
_TCP_FLAGS_AT = 13
_FLAGS = ("fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr")  # from the lowest bit on
_FRAGMENT_OFFSET = 0x1FFF


def read_packet_headers(network: bytes, transport: bytes) -> Headers | None:
    """Return the packet's header values; None if there are too few octets. IPv6 extension headers are not parsed."""
    if len(network) >= 20 and network[0] >> 4 == 4:
        later = int.from_bytes(network[6:8]) & _FRAGMENT_OFFSET  # a later fragment has no transport header
        source, destination = IPv4Address(network[12:16]), IPv4Address(network[16:20])
        return _build_headers(source, destination, network[9], int.from_bytes(network[2:4]), b"" if later else transport)
    if len(network) >= 40 and network[0] >> 4 == 6:
        ends = IPv6Address(network[8:24]), IPv6Address(network[24:40])
        return _build_headers(*ends, network[6], 40 + int.from_bytes(network[4:6]), transport)
    return None


def _build_headers(
    source: IPv4Address | IPv6Address, destination: IPv4Address | IPv6Address, protocol: int, length: int, transport: bytes
) -> Headers:
    ports: tuple[int, int] = _PORTS.unpack_from(transport) if protocol in _WITH_PORTS and len(transport) >= _PORTS.size else (0, 0)
    flags = transport[_TCP_FLAGS_AT] if protocol == _TCP and len(transport) > _TCP_FLAGS_AT else 0
    icmp = f"{transport[0]}/{transport[1]}" if protocol in _ICMP and len(transport) > 1 else ""
    return Headers(source, destination, protocol, *ports, length, tuple(name for at, name in enumerate(_FLAGS) if flags >> at & 1), icmp)
