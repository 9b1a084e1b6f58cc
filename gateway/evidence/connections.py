"""Reads the connection table: its statistics, its largest connections, and which addresses have most of them.

A large table is read datagram by datagram, so that little memory is needed. Layouts: linux/netfilter/nfnetlink_conntrack.h.
"""

import heapq
import socket
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from ipaddress import ip_address
from types import MappingProxyType
from typing import NamedTuple

from firewall.evidence import MOST_FLOWS, EvidenceKind
from gateway.conntrack import iter_flows, read_core_statistics
from gateway.evidence.part import Deadline, PartContent, build_text
from gateway.netlink import CONNTRACK, Netlink
from gateway.netlink_attributes import parse_attributes, parse_number

_COUNTERS_ORIG, _COUNTERS_REPLY, _PACKETS, _OCTETS = 9, 10, 1, 2
_PROTOCOLS: Mapping[int, str] = MappingProxyType({1: "icmp", 6: "tcp", 17: "udp", 47: "gre", 50: "esp", 58: "icmp6", 132: "sctp"})
_NO_ACCOUNTING = "Accounting of connections is off (net.netfilter.nf_conntrack_acct), so their packets and octets are not known."


class CountedFlow(NamedTuple):
    """Packets and octets of a connection in both directions, and a text that names it."""

    octets: int
    packets: int
    text: str


def read_connection_statistics(_deadline: Deadline) -> PartContent:
    """Return the statistics of each core as `conntrack -S` does. Raises TableError or OSError."""
    cores = read_core_statistics()
    lines = [f"cpu={core} " + " ".join(f"{name}={count}" for name, count in counts.items()) for core, counts in cores.items()]
    return build_text(EvidenceKind.CONNTRACK, lines)


def read_flows(deadline: Deadline) -> PartContent:
    """Return the connections with most octets and most packets, and the addresses with most connections. Raises TableError or OSError."""
    found = FlowSummary()
    with closing(Netlink(CONNTRACK)) as own:
        is_whole = found.read(own, deadline)
    notes = ([] if found.is_accounted or not found.number else [_NO_ACCOUNTING]) + ([] if is_whole else ["There was no time to read all."])
    return build_text(EvidenceKind.FLOWS, found.iter_lines(), " ".join(notes))


class FlowSummary:
    """What is kept of the connections read so far."""

    def __init__(self) -> None:
        self.number = 0
        self.is_accounted = False
        self._sources: Counter[bytes] = Counter()
        self._protocols: Counter[int] = Counter()
        self._by_octets: list[CountedFlow] = []
        self._by_packets: list[tuple[int, CountedFlow]] = []

    def read(self, own: Netlink, deadline: Deadline) -> bool:
        """Read the table. False if the time was over before its end."""
        for bodies in iter_flows(own, socket.AF_UNSPEC):
            for flow in bodies:
                self.number += 1
                self._sources[flow.source] += 1
                self._protocols[flow.protocol] += 1
                octets, packets = _read_counters(flow.handle)
                self.is_accounted = self.is_accounted or packets > 0
                if self._is_large(octets, packets):
                    ends = (f"{_format_end(flow.source, flow.source_port)} {_format_end(flow.destination, flow.destination_port)}", "reply")
                    back = f"{_format_end(flow.reply_source, flow.reply_source_port)} "
                    back += _format_end(flow.reply_destination, flow.reply_destination_port)
                    self._keep(CountedFlow(octets, packets, " ".join((_name_protocol(flow.protocol), *ends, back))))
            if deadline.is_over:
                return False
        return True

    def _is_large(self, octets: int, packets: int) -> bool:
        room = len(self._by_octets) < MOST_FLOWS
        return packets > 0 and (room or octets > self._by_octets[0].octets or packets > self._by_packets[0][0])

    def _keep(self, flow: CountedFlow) -> None:
        add = heapq.heappush if len(self._by_octets) < MOST_FLOWS else heapq.heappushpop
        add(self._by_octets, flow)
        add(self._by_packets, (flow.packets, flow))

    def iter_lines(self) -> Iterator[str]:
        """Yield the text."""
        protocols = ", ".join(f"{_name_protocol(number)} {count}" for number, count in self._protocols.most_common(10))
        yield f"{self.number} connections{': ' if protocols else ''}{protocols}"
        yield f"\nAddresses with most connections ({len(self._sources)} in all)"
        yield from (f"{count} {ip_address(source)}" for source, count in self._sources.most_common(MOST_FLOWS) if source)
        for title, flows in (
            ("octets", sorted(self._by_octets, reverse=True)),
            ("packets", [flow for _, flow in sorted(self._by_packets, reverse=True)]),
        ):
            if flows:
                yield f"\nConnections with most {title}: octets, packets, protocol, first direction, reply"
                yield from (f"{flow.octets} {flow.packets} {flow.text}" for flow in flows)


def _read_counters(body: bytes) -> tuple[int, int]:
    """Return octets and packets of both directions; 0 if they are not counted."""
    given = parse_attributes(body)
    both = [parse_attributes(given[kind]) for kind in (_COUNTERS_ORIG, _COUNTERS_REPLY) if kind in given]
    return sum(parse_number(each.get(_OCTETS, b"")) for each in both), sum(parse_number(each.get(_PACKETS, b"")) for each in both)


def _name_protocol(number: int) -> str:
    return _PROTOCOLS.get(number, str(number))


def _format_end(address: bytes, port: int) -> str:
    text = str(ip_address(address)) if address else "?"
    return f"[{text}]:{port}" if len(address) == 16 else f"{text}:{port}"
