"""Conversion between a trace's packets and octets on a cable."""

import struct
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address

from firewall.policy import Address
from firewall.tracing import Endpoints, Icmp, Packet
from firewall.tracing.packet import ICMP, ICMPV6, TCP, UDP
from lab.datagram import compute_checksum

FLAGS = {"fin": 1, "syn": 2, "rst": 4, "ack": 16}
FRAGMENT_HEADER = 44
ETHERTYPES = {4: b"\x08\x00", 6: b"\x86\xdd"}


def octets(packet: Packet, *, payload: bytes = b"", inner: bytes = b"", sequence: tuple[int, int] = (0, 0), ident: int = 0) -> bytes:
    """Return the packet's octets from its IP header on.

    inner: the packet that an ICMP error quotes; sequence: TCP's sequence and acknowledgement numbers.
    """
    body = _transport(packet, payload, inner, sequence)
    return _header(packet, len(body), ident) + body


def fragments(whole: bytes, ident: int) -> list[bytes]:
    """Split the packet into two fragments, the first with 24 octets after the IP header."""
    if whole[0] >> 4 == 4:
        header, body = whole[:20], whole[20:]
        return [_fragment4(header, body[:24], ident, 0x2000), _fragment4(header, body[24:], ident, 24 >> 3)]
    header, body = whole[:40], whole[40:]
    return [_fragment6(header, body[:24], ident, 1), _fragment6(header, body[24:], ident, 24)]


def _fragment4(header: bytes, part: bytes, ident: int, place: int) -> bytes:
    bare = header[:2] + struct.pack("!HHH", 20 + len(part), ident, place) + header[8:10] + b"\0\0" + header[12:]
    return bare[:10] + struct.pack("!H", compute_checksum(bare)) + bare[12:] + part


def _fragment6(header: bytes, part: bytes, ident: int, place: int) -> bytes:
    bare = header[:4] + struct.pack("!HB", 8 + len(part), FRAGMENT_HEADER) + header[7:]
    return bare + struct.pack("!BBHI", header[6], 0, place, ident) + part


def _header(packet: Packet, length: int, ident: int) -> bytes:
    if packet.version == 6:
        return struct.pack("!IHBB", 6 << 28, length, packet.protocol, packet.hop_limit) + packet.source.packed + packet.destination.packed
    bare = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, ident, 0, packet.hop_limit, packet.protocol, 0)
    bare += packet.source.packed + packet.destination.packed
    return bare[:10] + struct.pack("!H", compute_checksum(bare)) + bare[12:]


def _transport(packet: Packet, payload: bytes, inner: bytes, sequence: tuple[int, int]) -> bytes:
    if packet.icmp:
        rest = struct.pack("!HH", packet.icmp.id, 1) + payload
        if inner:
            rest = struct.pack("!I", 1280 if (packet.protocol, packet.icmp.type) == (ICMPV6, 2) else 0) + inner
        return _add_checksum(packet, struct.pack("!BBH", packet.icmp.type, packet.icmp.code, 0) + rest, 2)
    ports = struct.pack("!HH", packet.source_port, packet.destination_port)
    match packet.protocol:
        case 6:
            flags = sum(FLAGS[flag] for flag in packet.flags)
            return _add_checksum(packet, ports + struct.pack("!IIBBHHH", *sequence, 5 << 4, flags, 65535, 0, 0) + payload, 16)
        case 17:
            return _add_checksum(packet, ports + struct.pack("!HH", 8 + len(payload), 0) + payload, 6)
        case _:
            # The body is shaped like VRRP (RFC 9568): the kernel verifies checksums of other protocols, too
            return _add_checksum(packet, b"\x31\1\1\1\0\1\0\0" + payload, 6)


def _add_checksum(packet: Packet, body: bytes, at: int) -> bytes:
    """Return the body with its checksum in place. TCP, UDP and everything over IPv6 include a pseudo header."""
    pseudo = packet.source.packed + packet.destination.packed + struct.pack("!II", len(body), packet.protocol)
    total = compute_checksum(pseudo + body if packet.version == 6 or packet.protocol in (TCP, UDP) else body) or 0xFFFF
    return body[:at] + struct.pack("!H", total) + body[at + 2 :]


def parse(data: bytes) -> Packet:
    """Parse a packet from its IP header on. A packet quoted in an ICMP error may be truncated."""
    source, destination, protocol, body = _open(data)
    if protocol in (ICMP, ICMPV6):
        return Packet("", source, destination, protocol, icmp=_icmp(protocol, body))
    if protocol not in (TCP, UDP):
        return Packet("", source, destination, protocol)
    sport, dport = struct.unpack_from("!HH", body)
    flags = frozenset(name for name, bit in FLAGS.items() if protocol == TCP and len(body) > 13 and body[13] & bit)
    return Packet("", source, destination, protocol, sport, dport, flags=flags)


def _open(data: bytes) -> tuple[Address, Address, int, bytes]:
    if data[0] >> 4 == 4:
        return IPv4Address(data[12:16]), IPv4Address(data[16:20]), data[9], data[20:]
    return IPv6Address(data[8:24]), IPv6Address(data[24:40]), data[6], data[40:]


def _icmp(protocol: int, body: bytes) -> Icmp:
    kind, code = body[0], body[1]
    if kind in ((3, 4, 5, 11, 12) if protocol == ICMP else range(1, 128)):  # undefined types below 128 are errors too (RFC 4443, 2.1)
        return Icmp(kind, code, quoted=parse(body[8:]).ends)
    return Icmp(kind, code, int.from_bytes(body[4:6]))


class Reassembly:
    """Reassembly of fragments that arrive in any order."""

    def __init__(self) -> None:
        self._parts: dict[bytes, dict[int, tuple[bool, bytes]]] = {}

    def feed(self, data: bytes) -> bytes | None:
        """Add a packet or fragment; return the whole packet, or None while fragments are missing."""
        found = _fragment4_of(data) if data[0] >> 4 == 4 else _fragment6_of(data)
        if found is None:
            return data
        key, place, more, header, part = found
        parts = self._parts.setdefault(key, {})
        parts[place] = more, part
        body = b"".join(_in_order(parts))
        if not body:
            return None
        del self._parts[key]
        return _join_fragments(header, body)


def _join_fragments(header: bytes, body: bytes) -> bytes:
    """Return the packet as it was before fragmentation."""
    if header[0] >> 4 == 6:
        return header[:4] + struct.pack("!H", len(body)) + header[6:] + body
    bare = header[:2] + struct.pack("!HHH", 20 + len(body), 0, 0) + header[8:10] + b"\0\0" + header[12:]
    return bare[:10] + struct.pack("!H", compute_checksum(bare)) + bare[12:] + body


def _in_order(parts: dict[int, tuple[bool, bytes]]) -> Iterator[bytes]:
    """Yield the fragments' bodies in order if all have arrived, else nothing."""
    at, bodies = 0, []
    while at in parts:
        more, part = parts[at]
        bodies.append(part)
        at += len(part)
        if not more:
            yield from bodies
            return


def _fragment4_of(data: bytes) -> tuple[bytes, int, bool, bytes, bytes] | None:
    place = int.from_bytes(data[6:8])
    if not place & 0x3FFF:
        return None
    return data[4:6] + data[9:10] + data[12:20], (place & 0x1FFF) << 3, bool(place & 0x2000), data[:20], data[20:]


def _fragment6_of(data: bytes) -> tuple[bytes, int, bool, bytes, bytes] | None:
    if data[6] != FRAGMENT_HEADER:
        return None
    place = int.from_bytes(data[42:44])
    header = data[:6] + data[40:41] + data[7:40]
    return data[44:48] + data[8:40], place & ~7, bool(place & 1), header, data[48:]


def describe_packet(packet: Packet) -> str:
    """Describe the packet in one line, for error messages."""
    name = {ICMP: "icmp", ICMPV6: "icmpv6", TCP: "tcp", UDP: "udp"}.get(packet.protocol, str(packet.protocol))
    ends = _describe_ends(packet.ends)
    if packet.icmp:
        about = f" about {_describe_ends(packet.icmp.quoted)}" if packet.icmp.quoted else ""
        return f"{name} {packet.icmp.type}/{packet.icmp.code} {ends}{about}"
    flags = f" [{' '.join(sorted(packet.flags))}]" if packet.protocol == TCP else ""
    return f"{name} {ends}{flags}"


def _describe_ends(ends: Endpoints) -> str:
    return f"{ends.source} port {ends.source_port} -> {ip_address(ends.destination)} port {ends.destination_port}"
