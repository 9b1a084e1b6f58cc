"""Sends a UDP datagram from any address and port of this host, without occupying the port.

A bound socket would take datagrams away from the socket that serves the port. So this module writes the headers itself (RFC 791,
RFC 8200, RFC 768) and sends through a raw socket.
"""

import socket
import struct

UDP = 17
HOPS = 64


def send_from(source: tuple[str, int], target: tuple[str, int], payload: bytes) -> None:
    """Send the payload. Both addresses are of the same IP version; the payload must fit into one packet."""
    family = socket.AF_INET6 if ":" in source[0] else socket.AF_INET
    one, other = (socket.inet_pton(family, address) for address, _ in (source, target))
    length = 8 + len(payload)
    udp = struct.pack("!4H", source[1], target[1], length, 0) + payload
    udp = udp[:6] + struct.pack("!H", compute_checksum(one + other + struct.pack("!2H", UDP, length) + udp) or 0xFFFF) + udp[8:]
    header = _pack_ipv6(one, other, length) if family == socket.AF_INET6 else _pack_ipv4(one, other, length)
    with socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        raw.sendto(header + udp, (target[0], 0))


def compute_checksum(data: bytes) -> int:
    """Return the internet checksum (RFC 1071)."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _pack_ipv4(source: bytes, target: bytes, length: int) -> bytes:
    """Pack an IPv4 header; the kernel fills in identification and checksum (raw(7))."""
    return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + length, 0, 0, HOPS, UDP, 0, source, target)


def _pack_ipv6(source: bytes, target: bytes, length: int) -> bytes:
    return struct.pack("!IHBB16s16s", 6 << 28, length, UDP, HOPS, source, target)
