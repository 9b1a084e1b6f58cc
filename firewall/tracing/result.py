"""The result of a trace: the outcome, the packet as it leaves, the path with everything that was read, and the counters that moved."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from firewall.policy import Address
from firewall.ruleset import Chain, Element, Part, Reject, RejectType, Rule, Synproxy, Verdict
from firewall.tracing.packet import ConntrackState, Endpoints, Packet, TrackedConnection


class TraceError(Exception):
    """A ruleset that no trace understands, or that does not hold together. The message names the part."""


class TraceOutcome(StrEnum):
    """Outcomes of a packet."""

    FORWARDED = "forwarded"
    DELIVERED = "delivered"  # to the gateway itself
    ANSWERED = "answered"  # by the gateway in the server's stead, or taken as the client's answer to that
    DROPPED = "dropped"
    REJECTED = "rejected"
    UNROUTED = "unrouted"  # no route leads to its destination
    WAITS_FOR_FRAGMENTS = "held"  # a fragment that waits for the others


Ending: TypeAlias = Verdict | Reject | Synproxy
Reading: TypeAlias = str | int | Address | frozenset[str] | None


@dataclass(frozen=True, slots=True)
class PartReading:
    """One part of a rule: the values that it read (None: the packet has none), and whether the packet passed it.

    set, key: what was looked up there; element: what was found. verdict: the part's verdict, if it has one.
    """

    part: Part
    values: tuple[Reading, ...] = ()
    passed: bool = True
    set: str = ""
    key: bytes = b""
    element: Element | None = None
    verdict: Ending | None = None


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One rule that the packet met. number: its place in the chain, from 1; 0 for the chain's policy, which has no rule.

    verdict: the rule's verdict on the packet, None when the packet did not match or was only counted. packet: as it was then.
    """

    chain: Chain
    number: int
    rule: Rule | None
    reads: tuple[PartReading, ...]
    verdict: Ending | None
    packet: Packet

    @property
    def has_matched(self) -> bool:
        """True if the packet passed every part."""
        return all(read.passed for read in self.reads)


@dataclass(frozen=True, slots=True)
class LeavingPacket:
    """A packet as it leaves, or as the gateway's own programs get it (then the interface is "").

    source_ports: one port, or those that the kernel chooses from; for an ICMP query its id. source_known: False if it leaves as an
    address of the gateway's own that is not known; then `packet` has the source that it had before.
    """

    interface: str
    packet: Packet
    source_ports: range
    source_known: bool = True

    def get_ends(self, source_port: int | None = None) -> Endpoints:
        """Return the packet's endpoints, with the port that the kernel chose (by default the first that it may)."""
        ends = self.packet.ends
        port = self.source_ports[0] if source_port is None else source_port
        return Endpoints(ends.source, ends.destination, port, ends.destination_port)


@dataclass(frozen=True, slots=True)
class Trace:
    """The effect of a ruleset on a packet, and the steps that lead to it.

    interface: where routing would send the packet, "" if it never came so far. elements, counters: how many packets each element
    (by set and key) and each named counter counts, those of the answer included. answer: trace of the packet that the gateway
    itself sends: a refusal, or what it sends to client or server in the other's stead; None if there is none or its source is not
    known.
    """

    packet: Packet
    outcome: TraceOutcome
    state: ConntrackState
    steps: tuple[TraceStep, ...] = ()
    interface: str = ""
    leaves: LeavingPacket | None = None
    refusal: RejectType | None = None
    elements: Mapping[tuple[str, bytes], int] = field(default_factory=dict)
    counters: Mapping[str, int] = field(default_factory=dict)
    answer: "Trace | None" = None

    @property
    def deciding_step(self) -> TraceStep | None:
        """The step that decided: the last that let the packet go on or ended it."""
        return next((step for step in reversed(self.steps) if step.verdict is not None), None)

    def build_tracked_connection(self, source_port: int | None = None) -> TrackedConnection | None:
        """Return the connection that this packet begins or belongs to, once the kernel has chosen its port; None if there is none."""
        if self.packet.flow or self.leaves is None or self.state is not ConntrackState.NEW:
            return self.packet.flow
        return TrackedConnection(self.packet.ends, self.leaves.get_ends(source_port).swap_sides(), replied=False)
