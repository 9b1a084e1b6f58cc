"""Single packets: built and sent in one node, watched in another."""

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from lab.datagram import send_from
from lab.lab import Lab
from tests.whole.system import inside

ETH_P_ALL, PACKET_OUTGOING = 0x0003, 4
IPV6_CHECKSUM = 7  # linux/in6.h
TCP_CHECKSUM_AT = 16
SYN, FIN = 0x02, 0x01
MAX_PACKETS = 10_000


class SeenPacket(NamedTuple):
    """A packet from its IP header on, and whether the node itself sent it."""

    packet: bytes
    sent: bool


@contextmanager
def watching(lab: Lab, node: str, port: int) -> Iterator[Callable[[bytes], list[SeenPacket]]]:
    """Record all packets on the node's interfaces. The yielded function waits for a packet with this text, and returns all up to it.

    Datagrams to the port get no answer meanwhile: two hosts of the lab would answer each other's answers forever.
    """
    with inside(lab, node):
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
        silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    silent.bind(("", port))
    tap.settimeout(10)
    with tap, silent:

        def until(mark: bytes) -> list[SeenPacket]:
            seen: list[SeenPacket] = []
            while not seen or mark not in seen[-1].packet:
                assert len(seen) < MAX_PACKETS, f"{MAX_PACKETS} packets, and none with {mark!r}"
                packet, (_card, _protocol, kind, *_) = tap.recvfrom(65535)
                seen.append(SeenPacket(packet, kind == PACKET_OUTGOING))
            return seen

        yield until


def send(lab: Lab, node: str, source: tuple[str, int], target: tuple[str, int], text: bytes) -> None:
    """Send a UDP datagram with any source address from this node."""
    with inside(lab, node):
        send_from(source, target, text)


def send_tcp6(lab: Lab, node: str, ports: tuple[int, int], target: str, flags: int, text: bytes) -> None:
    """Send a TCP segment over IPv6 with any flags (RFC 9293, section 3.1), from the node's own address."""
    segment = struct.pack("!HHIIBBHHH", *ports, 1, 0, 5 << 4, flags, 65535, 0, 0) + text
    with inside(lab, node), socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_TCP) as raw:
        raw.setsockopt(socket.IPPROTO_IPV6, IPV6_CHECKSUM, TCP_CHECKSUM_AT)
        raw.sendto(segment, (target, 0))


def counter(lab: Lab, gateway: str, name: str) -> int:
    """Return the number of packets that the named counter has seen."""
    listed = lab.run(gateway, ["nft", "list", "counter", "inet", "netzwart", name]).stdout
    return int(listed.partition("packets ")[2].split()[0])
