"""Counts packets that arrive on a card with a source address that should not appear there, such as packets that left without NAT.

Runs until SIGTERM or SIGINT, or for a number of seconds, reads the packets that the kernel still holds for it, and prints a
report.
"""

import signal
import socket
import struct
import time
from argparse import ArgumentParser
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from lab.measure.output import report, report_ready

PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")  # RFC 1918, RFC 6598, RFC 4193
ETH_P_ALL, ETH_P_IP, ETH_P_IPV6 = 0x0003, 0x0800, 0x86DD
SOL_PACKET, PACKET_STATISTICS = 263, 6
SO_RCVBUFFORCE = 33
BUFFER = 64 << 20
SNAP = 40  # octets; the addresses of both IP versions lie within
EXAMPLES = 5


class SniffReport(NamedTuple):
    """The sniffer's counts.

    `seen`: IP packets that arrived; `leaked`: those with a watched source; `dropped`: packets that the kernel could not hand over
    (if it is not 0, the other two are too small); `examples`: source and destination of the first leaks.
    """

    seen: int
    leaked: int
    dropped: int
    examples: tuple[str, ...]


class LeakCounter:
    """Counts packets with a source address in the given prefixes."""

    def __init__(self, prefixes: tuple[str, ...]) -> None:
        networks = [ip_network(prefix) for prefix in prefixes]
        self._four = [_get_bits(network) for network in networks if network.version == 4]
        self._six = [_get_bits(network) for network in networks if network.version == 6]
        self.seen = self.leaked = 0
        self.examples: list[str] = []

    def look(self, protocol: int, packet: bytes) -> None:
        """Count a packet; `packet` starts with its IP header."""
        if protocol == ETH_P_IP:
            self._count(packet[12:16], packet[16:20], self._four)
        elif protocol == ETH_P_IPV6:
            self._count(packet[8:24], packet[24:40], self._six)

    def _count(self, source: bytes, target: bytes, watched: list[tuple[int, int]]) -> None:
        self.seen += 1
        value = int.from_bytes(source)
        if any(value & mask == network for network, mask in watched):
            self.leaked += 1
            if len(self.examples) < EXAMPLES:
                self.examples.append(f"{ip_address(source)} -> {ip_address(target)}")


def _get_bits(network: IPv4Network | IPv6Network) -> tuple[int, int]:
    return int(network.network_address), int(network.netmask)


def sniff(device: str, prefixes: tuple[str, ...], seconds: float) -> SniffReport:
    stopped: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: stopped.append(received))
    watch = LeakCounter(prefixes)
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL)) as tap:
        tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
        tap.bind((device, ETH_P_ALL))
        report_ready()
        end = time.monotonic() + seconds
        tap.settimeout(0.02)
        while not stopped and time.monotonic() < end:
            _take(tap, watch)
        tap.setblocking(False)
        while _take(tap, watch) and time.monotonic() < end + 1:
            pass
        _, dropped = struct.unpack("II", tap.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
    return SniffReport(watch.seen, watch.leaked, dropped, tuple(watch.examples))


def _take(tap: socket.socket, watch: LeakCounter) -> bool:
    """Count the next packet; return False if there was none."""
    try:
        packet, (_, protocol, kind, *_) = tap.recvfrom(SNAP)
    except (TimeoutError, BlockingIOError):
        return False
    if kind != socket.PACKET_OUTGOING:
        watch.look(protocol, packet)
    return True


def main() -> None:
    parser = ArgumentParser("python -m lab.measure.sniff", description=__doc__)
    parser.add_argument("device")
    parser.add_argument("--source", action="append", metavar="PREFIX", help="watch for this one; default: all private ones")
    parser.add_argument("--seconds", type=float, default=3600)
    options = parser.parse_args()
    report(sniff(options.device, tuple(options.source or PRIVATE), options.seconds))


if __name__ == "__main__":
    main()
