"""Cuts packets down to their headers. Takes octets and returns octets; no octet of a payload is among them.

Lengths in a packet come from whoever sent it, so each is checked against what is there. Options that could hold anything are
overwritten by zeros, in place, so that tools still find the headers behind them. Layouts: RFC 791, 8200, 826, 9293, 768, 792, 4443,
4861.
"""

from collections.abc import Mapping
from types import MappingProxyType

LONGEST = 256  # octets of a packet that its headers are looked for in

_IPV4, _ARP, _IPV6, _VLANS = 0x0800, 0x0806, 0x86DD, frozenset({0x8100, 0x88A8})
_ARP_ETHERNET = b"\0\1\x08\0\6\4"  # hardware, protocol, and the lengths of their addresses
_TCP, _ICMP6 = 6, 58
_HEADERS: Mapping[int, int] = MappingProxyType({1: 8, 2: 8, 17: 8, 33: 12, 47: 4, 50: 8, _ICMP6: 8, 112: 8, 132: 12, 136: 8})
"""Octets of the fixed headers of ICMP, IGMP, UDP, DCCP, GRE, ESP, ICMPv6, VRRP, SCTP and UDP-Lite."""
_NEIGHBOURS, _NEIGHBOUR_LENGTH = frozenset({135, 136}), 24  # solicitation and advertisement, with the target's address
_WITH_OPTIONS, _FRAGMENT = frozenset({0, 43, 60}), 44  # IPv6: hop-by-hop, routing, destination
_MOST_EXTENSIONS = 8
_END, _NOTHING = 0, 1
_TCP_OPTIONS: Mapping[int, frozenset[int]] = MappingProxyType(
    {2: frozenset({4}), 3: frozenset({3}), 4: frozenset({2}), 5: frozenset({10, 18, 26, 34}), 8: frozenset({10})}
)
"""Options that are kept, with the lengths they can have: segment size, window scaling, SACK permitted, SACK, time stamps."""


def cut_packet(protocol: int, packet: bytes) -> bytes:
    """Return the headers of a packet. protocol: its EtherType. packet: without the link's header, and perhaps not whole."""
    if protocol in _VLANS and len(packet) >= 4:
        return packet[:4] + _cut_network(int.from_bytes(packet[2:4]), packet[4:])
    return _cut_network(protocol, packet)


def _cut_network(protocol: int, packet: bytes) -> bytes:
    if protocol == _IPV4 and len(packet) >= 20 and packet[0] >> 4 == 4:
        return _cut_ipv4(packet)
    if protocol == _IPV6 and len(packet) >= 40 and packet[0] >> 4 == 6:
        return _cut_ipv6(packet)
    return packet[:28] if protocol == _ARP and packet.startswith(_ARP_ETHERNET) else b""


def _cut_ipv4(packet: bytes) -> bytes:
    length, total = (packet[0] & 15) * 4, int.from_bytes(packet[2:4]) or len(packet)  # 0: larger than the field can say
    if not 20 <= length <= min(len(packet), total):
        return packet[:20]
    header = packet[:20] + bytes(length - 20)
    is_first = not int.from_bytes(packet[6:8]) & 0x1FFF
    return header + _cut_transport(packet[9], packet[length:total]) if is_first else header


def _cut_ipv6(packet: bytes) -> bytes:
    end = 40 + (int.from_bytes(packet[4:6]) or len(packet))
    packet = packet[:end]
    kept, kind, at = packet[:40], packet[6], 40
    for _ in range(_MOST_EXTENSIONS):
        if kind not in _WITH_OPTIONS and kind != _FRAGMENT:
            return kept + _cut_transport(kind, packet[at:])
        if at + 8 > len(packet):
            return kept
        length = 8 if kind == _FRAGMENT else (packet[at + 1] + 1) * 8
        if at + length > len(packet):
            return kept
        kept += packet[at : at + 8] if kind == _FRAGMENT else packet[at : at + 2] + bytes(length - 2)
        if kind == _FRAGMENT and int.from_bytes(packet[at + 2 : at + 4]) >> 3:
            return kept  # a later fragment has no transport header
        kind, at = packet[at], at + length
    return kept


def _cut_transport(protocol: int, octets: bytes) -> bytes:
    if protocol == _TCP:
        return _cut_tcp(octets)
    if protocol == _ICMP6 and octets[:1] and octets[0] in _NEIGHBOURS:
        return octets[:_NEIGHBOUR_LENGTH]
    return octets[: _HEADERS.get(protocol, 0)]


def _cut_tcp(octets: bytes) -> bytes:
    length = (octets[12] >> 4) * 4 if len(octets) > 12 else 0
    if not 20 <= length <= len(octets):
        return octets[:20]
    return octets[:20] + _blank_unknown_options(octets[20:length])


def _blank_unknown_options(options: bytes) -> bytes:
    """Return the options with zeros for all values that are not known to be harmless, and for everything behind the last one."""
    kept, at = bytearray(len(options)), 0
    while at < len(options) and options[at] != _END:
        kind = options[at]
        length = 1 if kind == _NOTHING else options[at + 1] if at + 1 < len(options) else 0
        if not (kind == _NOTHING or 2 <= length <= len(options) - at):
            break
        shown = length if kind == _NOTHING or length in _TCP_OPTIONS.get(kind, ()) else 2
        kept[at : at + shown] = options[at : at + shown]
        at += length
    return bytes(kept)
