"""Reads the remaining times of all connections: datagram by datagram, so that little memory is needed, and not longer than it may take.

Layouts: linux/netfilter/nfnetlink_conntrack.h; 6 µs of work for each connection. Must not know addresses: it counts.
"""

import socket
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from time import monotonic
from typing import TypeAlias

from firewall.conntrack_timeouts import ANSWERED, STATES, TCP, UNANSWERED, TimeoutHistogram, TimeoutsAre, find_bucket_start
from gateway.conntrack import iter_flows
from gateway.evidence.part import Deadline
from gateway.netlink import CONNTRACK, Netlink
from gateway.netlink_attributes import iter_attribute_spans, parse_attributes, parse_number

_STATUS, _PROTOCOL_INFO, _TIMEOUT = 3, 4, 7  # CTA_STATUS, CTA_PROTOINFO, CTA_TIMEOUT
_INFO_TCP, _TCP_STATE = 1, 1  # CTA_PROTOINFO_TCP, CTA_PROTOINFO_TCP_STATE
_SEEN_REPLY = 1 << 1  # IPS_SEEN_REPLY

TimeoutCounts: TypeAlias = Counter[tuple[int, str, int]]  # connections by protocol, state, and the first second of their bucket


def read_timeouts(deadline: Deadline) -> TimeoutsAre:
    """Read the connection table of the calling thread's network namespace. Raises TableError."""
    begun, is_whole = monotonic(), True
    found: TimeoutCounts = Counter()
    with closing(Netlink(CONNTRACK)) as own:
        for flows in iter_flows(own, socket.AF_UNSPEC):
            count_timeouts(((flow.protocol, flow.handle) for flow in flows), found)
            if deadline.is_over:
                is_whole = False
                break
    return build_answer(found, is_whole=is_whole, milliseconds=int((monotonic() - begun) * 1000))


def count_timeouts(flows: Iterable[tuple[int, bytes]], found: TimeoutCounts) -> None:
    """Add connections: the number of each one's protocol, and its attributes. One without a remaining time is about to go."""
    for protocol, body in flows:
        spans = {kind: (start, end) for kind, start, end in iter_attribute_spans(body)}
        if place := spans.get(_TIMEOUT):
            start = find_bucket_start(int.from_bytes(body[slice(*place)]))
            found[protocol, _read_state(protocol, body, spans), start] += 1


def _read_state(protocol: int, body: bytes, spans: dict[int, tuple[int, int]]) -> str:
    if protocol == TCP and (place := spans.get(_PROTOCOL_INFO)):
        info = parse_attributes(parse_attributes(body[slice(*place)]).get(_INFO_TCP, b""))
        number = parse_number(info.get(_TCP_STATE, b""))
        return STATES[number] if number < len(STATES) else STATES[0]
    status = parse_number(body[slice(*spans[_STATUS])]) if _STATUS in spans else 0
    return ANSWERED if status & _SEEN_REPLY else UNANSWERED


def build_answer(found: TimeoutCounts, *, is_whole: bool, milliseconds: int) -> TimeoutsAre:
    """Return the counts as a message, sorted."""
    by_state: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for (protocol, state, start), number in sorted(found.items()):
        by_state.setdefault((protocol, state), []).append((start, number))
    histograms = tuple(
        TimeoutHistogram(*key, tuple(start for start, _ in each), tuple(number for _, number in each)) for key, each in by_state.items()
    )
    return TimeoutsAre(histograms, found.total(), is_whole, milliseconds)
