"""A packet through a whole gateway: prerouting, routing, then input or forward and postrouting; and what it is told when it is refused."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from firewall.ruleset import Refusal, Reject, Ruleset
from firewall.tracing.packet import ANSWERS, ICMP, ICMPV6, TCP, Icmp, Packet, State
from firewall.tracing.passage import Passage
from firewall.tracing.result import Leaving, Outcome, Trace
from firewall.tracing.routes import Routes
from firewall.tracing.tracking import state_of
from firewall.tracing.walk import Ending, Walk

_PROHIBITED = {4: Icmp(3, 13), 6: Icmp(1, 1)}  # RFC 1812, 5.2.7.1; RFC 4443, 3.1
_LAST_INFORMATIVE = 18  # an ICMP message of a later type is told nothing, like an error (NR_ICMP_TYPES)

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Conversation:
    """The first packet of a connection, an answer to it, and the next packet; None for what cannot follow."""

    first: Trace
    answer: Trace | None = None
    next: Trace | None = None


def trace(ruleset: Ruleset, packet: Packet, routes: Routes, *, now: int) -> Trace:
    """What the ruleset does to the packet at `now` (Unix seconds).

    Rates count as not exceeded. Raises TraceError for a part or field that no trace understands.
    """
    if packet.fragment:
        return Trace(packet, Outcome.HELD, state_of(packet))
    walk = Walk(ruleset, Passage(ruleset, packet, now=now, begins=packet.begins))
    outcome, ending = _own(walk, routes) if not packet.interface else _through(walk, routes)
    result = _result(packet, walk, outcome)
    if not isinstance(ending, Reject):
        return result
    answer = _answer(ruleset, walk.passage, ending.refusal, routes, now, begins=not packet.begins)
    return replace(
        result,
        refusal=ending.refusal,
        answer=answer,
        elements=_sum(result.elements, answer.elements if answer else {}),
        counters=_sum(result.counters, answer.counters if answer else {}),
    )


def trace_flow(ruleset: Ruleset, packet: Packet, routes: Routes, *, now: int) -> Conversation:
    """The same for a connection: its first packet, then what an answer to it and a further packet meet."""
    first = trace(ruleset, packet, routes, now=now)
    flow = first.flow()
    if flow is None or first.outcome is not Outcome.FORWARDED:
        return Conversation(first)
    known = replace(flow, replied=True)
    further = replace(packet, flow=known, flags=frozenset({"ack"}))
    back = further.moved(flow.original)
    if packet.icmp:
        back = replace(back, icmp=replace(packet.icmp, type=ANSWERS[packet.protocol][packet.icmp.type]))
    back = replace(back.moved(flow.reply), interface=first.interface)
    return Conversation(first, trace(ruleset, back, routes, now=now), trace(ruleset, further, routes, now=now))


def _through(walk: Walk, routes: Routes) -> tuple[Outcome, Ending | None]:
    """A packet from outside."""
    passage = walk.passage
    ending = walk.hook("prerouting")
    if ending:
        return _ended(ending), ending
    if routes.is_own(passage.packet.destination):
        ending = walk.hook("input")
        return (_ended(ending) if ending else Outcome.DELIVERED), ending
    passage.interface = routes.interface(passage.packet.destination)
    if not passage.interface:
        return Outcome.UNROUTED, None
    passage.own = routes.address(passage.interface, passage.packet.version)
    ending = walk.hook("forward") or walk.hook("postrouting")
    return (_ended(ending) if ending else Outcome.FORWARDED), ending


def _own(walk: Walk, routes: Routes) -> tuple[Outcome, Ending | None]:
    """A packet of the gateway's own."""
    passage = walk.passage
    passage.interface = routes.interface(passage.packet.destination)
    if not passage.interface:
        return Outcome.UNROUTED, None
    ending = walk.hook("output") or walk.hook("postrouting")
    return (_ended(ending) if ending else Outcome.FORWARDED), ending


def _ended(ending: Ending) -> Outcome:
    return Outcome.REJECTED if isinstance(ending, Reject) else Outcome.DROPPED


def _result(packet: Packet, walk: Walk, outcome: Outcome) -> Trace:
    passage, leaves = walk.passage, None
    if outcome in (Outcome.FORWARDED, Outcome.DELIVERED):
        kept = passage.packet.ends.source_port
        leaves = Leaving(passage.interface, passage.packet, passage.source_ports or range(kept, kept + 1))
    elements, counters = dict(passage.elements), dict(passage.counters)
    return Trace(packet, outcome, passage.state, tuple(walk.steps), passage.interface, leaves, elements=elements, counters=counters)


def _answer(ruleset: Ruleset, refused: Passage, refusal: Refusal, routes: Routes, now: int, *, begins: bool) -> Trace | None:
    """What becomes of the packet that tells a sender he was refused; None when there is none, or it cannot be known."""
    packet = _refusing(refused, refusal, routes)
    if packet is None:
        return None
    passage = Passage(ruleset, packet, now=now, begins=begins)
    passage.track()
    walk = Walk(ruleset, passage)
    outcome, _ = _own(walk, routes)
    return _result(packet, walk, outcome)


def _refusing(refused: Passage, refusal: Refusal, routes: Routes) -> Packet | None:
    """The gateway's own packet. It belongs to the connection that it refuses (`nf_ct_attach`), whose NAT so holds for it too."""
    packet, known = refused.packet, refused.flow_now()
    back = routes.interface(packet.source)
    if refusal is Refusal.TCP_RESET:
        if packet.protocol != TCP or "rst" in packet.flags or not back:
            return None
        reset = frozenset({"rst"} if "ack" in packet.flags else {"rst", "ack"})  # RFC 9293, 3.10.7.1
        turned = replace(packet, interface="", flags=reset, flow=known, state=State.RELATED)
        return turned.moved(packet.ends.turned())
    source = routes.address(back, packet.version)
    if source is None or _tells_nobody(packet):
        return None
    protocol, told = (ICMP, _PROHIBITED[4]) if packet.version == 4 else (ICMPV6, _PROHIBITED[6])
    state = State.RELATED if known else State.INVALID
    return Packet("", source, packet.source, protocol, icmp=replace(told, quoted=packet.ends), flow=known, state=state)


def _tells_nobody(packet: Packet) -> bool:
    """Nobody is told about an error (RFC 1122, 3.2.2; RFC 4443, 2.4)."""
    if packet.icmp is None:
        return False
    if packet.protocol == ICMPV6:
        return packet.icmp.type < 128
    return packet.icmp.type > _LAST_INFORMATIVE or packet.icmp.type in (3, 4, 5, 11, 12)


def _sum(one: Mapping[Key, int], other: Mapping[Key, int]) -> dict[Key, int]:
    return {key: one.get(key, 0) + other.get(key, 0) for key in (*one, *(key for key in other if key not in one))}
