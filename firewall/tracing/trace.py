"""Traces a packet through a whole gateway: prerouting, routing, then input or forward and postrouting; and the answer when it is
refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from firewall.ruleset import Reject, RejectType, Ruleset, Synproxy, Verdict
from firewall.tracing.hook_traversal import HookTraversal
from firewall.tracing.packet import ANSWERS, ICMP, ICMPV6, SYN, TCP, ConntrackState, Icmp, Packet, TrackedConnection
from firewall.tracing.packet_in_transit import PacketInTransit
from firewall.tracing.result import Ending, LeavingPacket, Trace, TraceOutcome
from firewall.tracing.routes import RoutingTable
from firewall.tracing.tracking import compute_state

_PROHIBITED = {4: Icmp(3, 13), 6: Icmp(1, 1)}  # RFC 1812, 5.2.7.1; RFC 4443, 3.1
_LAST_INFORMATIVE = 18  # no error is sent about an ICMP message of a later type, as about an error (NR_ICMP_TYPES)

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Conversation:
    """Traces of the first packet of a connection, of an answer to it, and of the next packet; None for what cannot follow.

    Where the gateway answers in the server's stead, the next packet brings the cookie back, and the answer is the server's first
    one after the gateway has connected to it too.
    """

    first: Trace
    answer: Trace | None = None
    next: Trace | None = None


def trace(ruleset: Ruleset, packet: Packet, routes: RoutingTable, *, now: int) -> Trace:
    """Return what the ruleset does to the packet at `now` (Unix seconds).

    Rates count as not exceeded. Raises TraceError for a part or field that no trace understands.
    """
    if packet.fragment:
        return Trace(packet, TraceOutcome.WAITS_FOR_FRAGMENTS, compute_state(packet))
    walk = HookTraversal(ruleset, PacketInTransit(ruleset, packet, now=now, begins=packet.begins))
    outcome, ending = _traverse_own(walk, routes) if not packet.interface else _traverse_forward(walk, routes)
    result = _build_trace(packet, walk, outcome)
    match ending:
        case Reject(refusal):
            own, begins = _build_refusal(walk.passage, refusal, routes), not packet.begins
            result = replace(result, refusal=refusal)
        case Synproxy():
            own, begins = _build_stand_in(packet), True
        case _:
            return result
    answer = _trace_answer(ruleset, own, routes, now, begins=begins) if own else None
    return replace(
        result,
        answer=answer,
        elements=_sum_counts(result.elements, answer.elements if answer else {}),
        counters=_sum_counts(result.counters, answer.counters if answer else {}),
    )


def trace_flow(ruleset: Ruleset, packet: Packet, routes: RoutingTable, *, now: int) -> Conversation:
    """Return the traces of a connection: of its first packet, then of an answer to it and of a further packet."""
    first = trace(ruleset, packet, routes, now=now)
    if first.outcome is TraceOutcome.ANSWERED:
        return _trace_guarded(ruleset, first, routes, now)
    flow = first.build_tracked_connection()
    if flow is None or first.outcome is not TraceOutcome.FORWARDED:
        return Conversation(first)
    known = replace(flow, replied=True)
    further = replace(packet, flow=known, flags=frozenset({"ack"}))
    back = further.rewrite_ends(flow.original)
    if packet.icmp:
        back = replace(back, icmp=replace(packet.icmp, type=ANSWERS[packet.protocol][packet.icmp.type]))
    back = replace(back.rewrite_ends(flow.reply), interface=first.interface)
    return Conversation(first, trace(ruleset, back, routes, now=now), trace(ruleset, further, routes, now=now))


def _trace_guarded(ruleset: Ruleset, first: Trace, routes: RoutingTable, now: int) -> Conversation:
    """Trace a connection that the gateway makes with both sides."""
    packet = first.packet
    following = trace(ruleset, replace(packet, flags=frozenset({"ack"}), cookie=True), routes, now=now)
    begun = following.answer
    if begun is None or begun.outcome is not TraceOutcome.FORWARDED:
        return Conversation(first, next=following)
    flow = TrackedConnection(packet.ends, packet.ends.swap_sides())
    back = replace(packet, interface=begun.interface, flow=flow, flags=frozenset({"ack"})).rewrite_ends(flow.reply)
    return Conversation(first, trace(ruleset, back, routes, now=now), following)


def _traverse_forward(walk: HookTraversal, routes: RoutingTable) -> tuple[TraceOutcome, Ending | None]:
    """Take a packet from outside through the hooks."""
    passage = walk.passage
    ending = walk.run_hook("prerouting")
    if ending:
        return _get_outcome(ending), ending
    if routes.is_own(passage.packet.destination):
        ending = walk.run_hook("input")
        return (_get_outcome(ending) if ending else TraceOutcome.DELIVERED), ending
    passage.interface = routes.find_interface(passage.packet.destination)
    if not passage.interface:
        return TraceOutcome.UNROUTED, None
    passage.own = routes.find_interface_address(passage.interface, passage.packet.version)
    ending = walk.run_hook("forward") or walk.run_hook("postrouting")
    return (_get_outcome(ending) if ending else TraceOutcome.FORWARDED), ending


def _traverse_own(walk: HookTraversal, routes: RoutingTable) -> tuple[TraceOutcome, Ending | None]:
    """Take a packet of the gateway's own through the hooks."""
    passage = walk.passage
    passage.interface = routes.find_interface(passage.packet.destination)
    if not passage.interface:
        return TraceOutcome.UNROUTED, None
    ending = walk.run_hook("output") or walk.run_hook("postrouting")
    return (_get_outcome(ending) if ending else TraceOutcome.FORWARDED), ending


def _get_outcome(ending: Ending) -> TraceOutcome:
    match ending:
        case Reject():
            return TraceOutcome.REJECTED
        case Synproxy():
            return TraceOutcome.ANSWERED
        case Verdict():
            return TraceOutcome.DROPPED


def _build_trace(packet: Packet, walk: HookTraversal, outcome: TraceOutcome) -> Trace:
    passage, leaves = walk.passage, None
    if outcome in (TraceOutcome.FORWARDED, TraceOutcome.DELIVERED):
        kept = passage.packet.ends.source_port
        leaves = LeavingPacket(passage.interface, passage.packet, passage.source_ports or range(kept, kept + 1), passage.is_source_known)
    elements, counters = dict(passage.elements), dict(passage.counters)
    return Trace(packet, outcome, passage.state, tuple(walk.steps), passage.interface, leaves, elements=elements, counters=counters)


def _build_stand_in(packet: Packet) -> Packet:
    """Return what the gateway sends in the other side's stead: a SYN-ACK to a client, or a SYN to the server once the cookie has come back.

    The first belongs to no connection, the second begins one (`synproxy_send_client_synack`, `synproxy_send_server_syn`).
    """
    if "syn" in packet.flags:
        return replace(packet, interface="", flags=frozenset({"syn", "ack"}), flow=None, state=ConntrackState.INVALID).rewrite_ends(
            packet.ends.swap_sides()
        )
    return replace(packet, interface="", flags=SYN, flow=None, state=None, cookie=False)


def _trace_answer(ruleset: Ruleset, packet: Packet, routes: RoutingTable, now: int, *, begins: bool) -> Trace:
    """Trace the gateway's own packet."""
    passage = PacketInTransit(ruleset, packet, now=now, begins=begins)
    passage.track()
    walk = HookTraversal(ruleset, passage)
    outcome, _ = _traverse_own(walk, routes)
    return _build_trace(packet, walk, outcome)


def _build_refusal(refused: PacketInTransit, refusal: RejectType, routes: RoutingTable) -> Packet | None:
    """Return the gateway's own packet that refuses another one, None if it sends none.

    It belongs to the connection that it refuses (`nf_ct_attach`), so that connection's NAT applies to it too.
    """
    packet, known = refused.packet, refused.build_current_flow()
    back = routes.find_interface(packet.source)
    if refusal is RejectType.TCP_RESET:
        if packet.protocol != TCP or "rst" in packet.flags or not back:
            return None
        reset = frozenset({"rst"} if "ack" in packet.flags else {"rst", "ack"})  # RFC 9293, 3.10.7.1
        turned = replace(packet, interface="", flags=reset, flow=known, state=ConntrackState.RELATED if known else ConntrackState.INVALID)
        return turned.rewrite_ends(packet.ends.swap_sides())
    source = routes.find_interface_address(back, packet.version)
    if source is None or _is_unanswerable(packet):
        return None
    protocol, told = (ICMP, _PROHIBITED[4]) if packet.version == 4 else (ICMPV6, _PROHIBITED[6])
    state = ConntrackState.RELATED if known else ConntrackState.INVALID
    return Packet("", source, packet.source, protocol, icmp=replace(told, quoted=packet.ends), flow=known, state=state)


def _is_unanswerable(packet: Packet) -> bool:
    """True if the packet is an error: no error is sent about an error (RFC 1122, 3.2.2; RFC 4443, 2.4)."""
    if packet.icmp is None:
        return False
    if packet.protocol == ICMPV6:
        return packet.icmp.type < 128
    return packet.icmp.type > _LAST_INFORMATIVE or packet.icmp.type in (3, 4, 5, 11, 12)


def _sum_counts(one: Mapping[Key, int], other: Mapping[Key, int]) -> dict[Key, int]:
    return {key: one.get(key, 0) + other.get(key, 0) for key in (*one, *(key for key in other if key not in one))}
