"""Compares a trace's predictions with the packets that leave a gateway, for one ruleset at a time."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import ip_address

from firewall.compile import compile_policy
from firewall.diff import diff
from firewall.policy import Policy
from firewall.render import render_rule
from firewall.ruleset import EMPTY, HookPriority, Ruleset
from firewall.tracing import ConntrackState, Endpoints, Icmp, Packet, Trace, TraceOutcome, TrackedConnection, trace
from firewall.tracing.packet import ICMP, ICMPV6, TCP, UDP
from gateway.kernel import KernelTable
from gateway.table import ElementCounts
from tests.packets import frames
from tests.packets.coverage import RuleCoverage
from tests.packets.events import Again, Cookie, Event, Fault, First, ReplyPacket
from tests.packets.gateway_cables import ROUTES, GatewayWires, SeenFrame
from tests.packets.packet_sources import ERRORS, ERRORS6
from tests.packets.scenes import NOW

FAULTS = {4: [(3, 1), (3, 3), (11, 0), (12, 0)], 6: [(1, 4), (2, 0), (3, 0), (100, 0)]}
UNREACHABLE_PORT = {4: (3, 3), 6: (1, 4)}
UNKNOWN_PROTOCOL = {4: (3, 2), 6: (4, 1)}
ROUTER = {4: "192.0.2.99", 6: "2001:db8:ff9::99"}
PADDING = b"netzwart" * 8


class TracedGateway:
    """A kernel in a namespace; each policy replaces its table."""

    def __init__(self) -> None:
        self.wires = GatewayWires()
        self._kernel: KernelTable = self.wires.gateway.do(KernelTable)
        self._running = EMPTY
        self._fragmented = 0
        self.reads_along = self.wires.reads_along()

    def ident(self) -> int:
        """Return an IP identification that no waiting fragment has."""
        self._fragmented = self._fragmented % 65535 + 1
        return self._fragmented

    def load(self, ruleset: Ruleset) -> None:
        """Replace the table. Counters and connections of the previous ruleset are deleted."""
        self._do(lambda: self._kernel.commit(diff(self._running, EMPTY), NOW))
        self._running = EMPTY
        self._do(lambda: self._kernel.commit(diff(EMPTY, ruleset), NOW))
        self._running = ruleset
        self._do(lambda: self._kernel.cut(self._kernel.list_flows()))

    def read_counters(self) -> dict[str, int]:
        """Return packet counts that are not zero: of elements by `set key`, and of named counters by name."""
        counts = {name: packets for name, (packets, _) in self._do(self._kernel.read_named_counters).items()}
        for name in (name for name, declaration in self._running.sets.items() if declaration.counter):
            counts |= {f"{name} {key.hex()}": packets for key, (packets, _) in self._do(partial(self._tally, name)).items()}
        return {name: packets for name, packets in counts.items() if packets}

    def _tally(self, name: str) -> ElementCounts:
        tally: ElementCounts = {}
        for _part in self._kernel.read_counts(name, self._running.elements[name], tally):
            continue
        return tally

    def _do[T](self, call: Callable[[], T]) -> T:
        return self.wires.gateway.do(call)

    def close(self) -> None:
        """Close the kernel handle and the wires."""
        self._do(self._kernel.close)
        self.wires.close()


@dataclass
class Open:
    """A connection that passed.

    octets: its last packet as it left, by interface; here: the gateway itself answers.
    """

    protocol: int
    flow: TrackedConnection
    card: str
    leaves: str
    icmp: Icmp | None
    octets: dict[str, bytes] = field(default_factory=dict)
    here: bool = False
    answered: int = 0


@dataclass
class Talk:
    """State of a comparison under one policy.

    drawn, drawn_anew: connections for which the kernel could choose another source port, and for which it did. asked: SYNs that the
    gateway answered on the server's behalf, with the sequence number of its SYN-ACK.
    """

    gateway: TracedGateway
    policy: Policy
    ruleset: Ruleset
    open: list[Open] = field(default_factory=list)
    elements: Counter[str] = field(default_factory=Counter)
    sent: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    coverage: RuleCoverage = field(default_factory=RuleCoverage)
    drawn: int = 0
    drawn_anew: int = 0
    asked: list[tuple[Packet, int]] = field(default_factory=list)

    @classmethod
    def about(cls, gateway: TracedGateway, policy: Policy, coverage: RuleCoverage | None = None) -> "Talk":
        """Load the policy and return a new talk that adds to the given coverage."""
        ruleset = compile_policy(policy)
        gateway.load(ruleset)
        talk = cls(gateway, policy, ruleset, coverage=coverage or RuleCoverage())
        talk.coverage.add_ruleset(ruleset)
        return talk

    def happen(self, event: Event) -> None:
        """Send the event's packet, and compare what leaves the gateway with the trace."""
        match event:
            case First():
                self._first(event)
            case Cookie():
                self._cookie(event)
            case Again() | ReplyPacket() | Fault() if self.open:
                about = self.open[event.flow % len(self.open)]
                if not about.here or isinstance(event, Again):
                    self._further(event, about)

    def compare_counters(self) -> None:
        """Fail unless the kernel's counters are what the traces predicted."""
        wanted, counted = {name: count for name, count in self.elements.items() if count}, self.gateway.read_counters()
        assert wanted == counted, f"the trace counts {wanted}\nthe kernel counted {counted}\n{self.policy}"

    def _first(self, event: First) -> None:
        self.sent += 1
        packet = self._packet(event)
        known = next((each for each in self.open if each.protocol == packet.protocol and self._is_of(packet, each)), None)
        if known and event.own_port:
            return  # a new connection from a server's port: what becomes of the old one depends on its sequence numbers
        if known:
            packet = replace(packet, flow=known.flow)
        foretold = trace(self.ruleset, replace(packet, fragment=event.parts == 0), ROUTES, now=NOW)
        flow = foretold.build_tracked_connection()
        if known is None and flow and any(each.protocol == packet.protocol and _clash(each.flow, flow) for each in self.open):
            return  # two connections with equal ends: the kernel drops one, which no trace can predict
        seen = self._compare(foretold, packet, self._octets(packet, event.parts))
        if foretold.outcome is TraceOutcome.ANSWERED and seen:
            self.asked.append((packet, int.from_bytes(seen[0].octets[_sequence(packet)])))
        if known and _is_tracked(foretold):
            known.flow = replace(known.flow, replied=known.flow.replied or not packet.begins or self._answers_itself(foretold))
        elif not known and foretold.state is ConntrackState.NEW and foretold.leaves:
            self._note_opened(foretold, packet, seen)

    def _cookie(self, event: Cookie) -> None:
        if self.asked:
            asked, number = self.asked.pop(event.flow % len(self.asked))
            packet = replace(asked, flags=frozenset({"ack"}), cookie=True)
            self._compare(trace(self.ruleset, packet, ROUTES, now=NOW), packet, [frames.octets(packet, sequence=(101, number + 1))])

    def _is_of(self, packet: Packet, each: Open) -> bool:
        return packet.ends in (each.flow.original, each.flow.reply)

    def _packet(self, event: First) -> Packet:
        port = event.own_port or event.source_class + self.sent
        packet = Packet(event.card, event.source, event.destination, event.protocol, flags=event.flags)
        if event.protocol in (ICMP, ICMPV6):
            return replace(packet, icmp=self._icmp(event), hop_limit=event.hops)
        return replace(packet, source_port=port, destination_port=event.port) if event.protocol in (TCP, UDP) else packet

    def _icmp(self, event: First) -> Icmp:
        """Return the event's ICMP header. An error quotes a packet that was never sent."""
        if event.icmp in (ERRORS if event.protocol == ICMP else ERRORS6):
            return Icmp(event.icmp, quoted=Endpoints(event.destination, event.source, event.port, 20_000 + self.sent))
        return Icmp(event.icmp, id=event.source_class + self.sent)

    def _octets(self, packet: Packet, parts: int) -> list[bytes]:
        inner = b""
        if packet.icmp and packet.icmp.quoted:
            about = packet.icmp.quoted
            inner = frames.octets(
                Packet("", about.source, about.destination, UDP, about.source_port, about.destination_port), payload=PADDING
            )
        whole = frames.octets(packet, payload=PADDING, inner=inner, sequence=(100, 0))
        return [whole] if parts == 1 else frames.fragments(whole, self.gateway.ident())[: parts or 1]

    def _note_opened(self, foretold: Trace, packet: Packet, seen: list[SeenFrame]) -> None:
        here = foretold.outcome is TraceOutcome.DELIVERED
        if (here or not packet.interface) and packet.protocol == TCP:
            return  # a reset has closed it
        flow = foretold.build_tracked_connection(None if here else seen[0].packet.ends.source_port)
        assert flow
        if not here and foretold.leaves and len(foretold.leaves.source_ports) > 1:
            self.drawn += 1
            self.drawn_anew += seen[0].packet.ends.source_port != packet.ends.source_port
        flow = replace(flow, replied=here and self._answers_itself(foretold))
        each = Open(packet.protocol, flow, packet.interface, foretold.interface, packet.icmp, here=here)
        if not here:
            each.octets[foretold.interface] = seen[0].octets
        self.open.append(each)

    def _answers_itself(self, foretold: Trace) -> bool:
        """Return whether the gateway's own answer belongs to the same connection."""
        icmp = foretold.packet.icmp
        return bool(icmp and foretold.outcome is TraceOutcome.DELIVERED and ROUTES.find_interface(foretold.packet.source))

    def _further(self, event: Again | ReplyPacket | Fault, about: Open) -> None:
        match event:
            case Again():
                packet, octets = self._more(about)
            case ReplyPacket():
                packet, octets = self._answer(about, event)
            case Fault():
                packet, octets = self._fault(about, event)
        foretold = trace(self.ruleset, packet, ROUTES, now=NOW)
        seen = self._compare(foretold, packet, [octets])
        if isinstance(event, ReplyPacket) and _is_tracked(foretold):
            about.flow = replace(about.flow, replied=True)
            about.answered += 1
        if foretold.outcome is TraceOutcome.FORWARDED and not isinstance(event, Fault):
            about.octets[foretold.interface] = seen[0].octets

    def _more(self, about: Open) -> tuple[Packet, bytes]:
        packet = self._of(about, about.card, about.flow.original, about.icmp.type if about.icmp else 0)
        flags = frozenset({"ack"} if about.answered else {"syn"})
        packet = replace(packet, flags=flags)
        return packet, frames.octets(packet, payload=PADDING, sequence=(101, 301) if about.answered else (100, 0))

    def _answer(self, about: Open, event: ReplyPacket) -> tuple[Packet, bytes]:
        kind = {8: 0, 128: 129}.get(about.icmp.type, 0) if about.icmp else 0
        packet = self._of(about, event.card or about.leaves, about.flow.reply, kind)
        packet = replace(packet, flags=frozenset({"ack"} if about.answered else {"syn", "ack"}))
        return packet, frames.octets(packet, payload=b"", sequence=(301 if about.answered else 300, 101))

    def _of(self, about: Open, card: str, ends: Endpoints, icmp: int) -> Packet:
        if about.icmp:
            told = Icmp(icmp, id=ends.source_port or ends.destination_port)
            return Packet(card, ends.source, ends.destination, about.protocol, icmp=told, flow=about.flow)
        return Packet(card, ends.source, ends.destination, about.protocol, ends.source_port, ends.destination_port, flow=about.flow)

    def _fault(self, about: Open, event: Fault) -> tuple[Packet, bytes]:
        card, quoted = list(about.octets.items())[event.kind % len(about.octets)]
        about_packet = frames.parse(quoted)
        version = about_packet.version
        kind, code = FAULTS[version][event.kind]
        source = ip_address(ROUTER[version]) if event.router else about_packet.destination
        icmp = Icmp(kind, code, quoted=about_packet.ends)
        packet = Packet(card, source, about_packet.source, ICMP if version == 4 else ICMPV6, icmp=icmp, flow=about.flow)
        return packet, frames.octets(packet, inner=quoted)

    def _compare(self, foretold: Trace, packet: Packet, parts: list[bytes]) -> list[SeenFrame]:
        """Send the packet and return the frames that left the gateway. Fail unless they are what the trace predicted."""
        wanted = list(self._list_expected(foretold))
        seen = self.gateway.wires.exchange(packet.interface, parts)
        self.outcomes[f"{foretold.outcome} {foretold.state}"] += 1
        if len(seen) != len(wanted) or not all(map(_is, seen, wanted)):
            raise AssertionError(self._differ(foretold, wanted, seen))
        return seen

    def _list_expected(self, foretold: Trace) -> Iterable[Trace]:
        """Yield the traces of packets that must leave the gateway, and count every trace on the way."""
        self._count(foretold)
        if foretold.outcome is TraceOutcome.FORWARDED:
            yield foretold
        if foretold.answer and foretold.answer.outcome is TraceOutcome.FORWARDED:
            yield foretold.answer
        own = _own_answer(foretold)
        if own:
            said = trace(self.ruleset, own, ROUTES, now=NOW)
            self._count(said)
            if said.outcome is TraceOutcome.FORWARDED:
                yield said

    def _count(self, foretold: Trace) -> None:
        self.coverage.add_trace(foretold)
        members = [name for name, _key in foretold.elements if name.startswith(("up", "down"))]
        if foretold.outcome is not TraceOutcome.FORWARDED and members:
            raise AssertionError(f"{foretold.packet} is {foretold.outcome}, and counts in {members}\npolicy    {self.policy}")
        self.elements.update({f"{name} {key.hex()}": count for (name, key), count in foretold.elements.items()})
        self.elements.update(foretold.counters)

    def _differ(self, foretold: Trace, wanted: list[Trace], seen: list[SeenFrame]) -> str:
        came = [f"{each.interface}: {frames.describe_packet(each.packet)}" for each in seen] or ["nothing"]
        expected = [
            f"{each.leaves.interface}: {frames.describe_packet(each.leaves.packet)}, source port in {each.leaves.source_ports}"
            for each in wanted
            if each.leaves
        ] or ["nothing"]
        packet = foretold.packet
        return "\n".join(
            [
                "trace and kernel differ",
                f"packet    {packet.interface}: {frames.describe_packet(packet)}, {foretold.state}, flow {packet.flow}",
                f"trace     {foretold.outcome}",
                *(f"  wanted  {each}" for each in expected),
                *(f"  came    {each}" for each in came),
                *_path(foretold),
                f"policy    {self.policy}",
            ]
        )


def _path(foretold: Trace) -> list[str]:
    lines = []
    for step in foretold.steps:
        text = render_rule(step.rule) if step.rule else "policy"
        mark = "*" if step.has_matched else " "
        lines.append(f"  {mark} {step.chain.name:16} {step.number:2} {text}")
    return lines


def _sequence(packet: Packet) -> slice:
    """Return the position of TCP's sequence number in a packet without options."""
    at = 24 if packet.version == 4 else 44
    return slice(at, at + 4)


def _clash(one: TrackedConnection, other: TrackedConnection) -> bool:
    taken = {one.original, one.reply}
    return other.original in taken or other.reply in taken


def _is(seen: SeenFrame, foretold: Trace) -> bool:
    leaves = foretold.leaves
    if leaves is None or seen.interface != leaves.interface:
        return False
    came, wanted = _sourceless(seen.packet), _sourceless(leaves.packet)
    if came.ends.source_port not in leaves.source_ports:
        return False
    if came.protocol != wanted.protocol or replace(came.ends, source_port=0) != replace(wanted.ends, source_port=0):
        return False
    if came.icmp and wanted.icmp:
        return (came.icmp.type, came.icmp.code, came.icmp.quoted) == (wanted.icmp.type, wanted.icmp.code, wanted.icmp.quoted)
    return came.protocol != TCP or came.flags == wanted.flags


def _sourceless(packet: Packet) -> Packet:
    """Return the packet without a source if it is the gateway's own ICMP error: kernels differ in which of their addresses they use."""
    own = packet.icmp and packet.icmp.quoted and ROUTES.is_own(packet.source)
    return replace(packet, source=ip_address("::")) if own else packet


def _is_tracked(foretold: Trace) -> bool:
    """Return whether connection tracking saw the packet. It does not see packets that a raw chain drops."""
    return any(step.chain.hook and step.chain.hook.priority is not HookPriority.RAW for step in foretold.steps)


def _own_answer(foretold: Trace) -> Packet | None:
    """Return the kernel's answer to a packet that reached the gateway itself, where no program listens."""
    packet = foretold.packet
    if foretold.outcome is not TraceOutcome.DELIVERED:
        return None
    flow = foretold.build_tracked_connection()
    if flow is not None:
        flow = replace(flow, replied=True)
    turned = replace(packet.rewrite_ends(packet.ends.swap_sides()), interface="", flow=flow)
    if packet.icmp:
        answers = {8: 0, 128: 129}
        return replace(turned, icmp=replace(packet.icmp, type=answers[packet.icmp.type])) if packet.icmp.type in answers else None
    if packet.protocol == TCP:
        reset = frozenset({"rst"} if "ack" in packet.flags else {"rst", "ack"})
        return None if "rst" in packet.flags else replace(turned, flags=reset)
    kind, code = (UNREACHABLE_PORT if packet.protocol == UDP else UNKNOWN_PROTOCOL)[packet.version]
    told = Icmp(kind, code, quoted=packet.ends)
    protocol = ICMP if packet.version == 4 else ICMPV6
    state = ConntrackState.RELATED if flow else ConntrackState.INVALID
    return Packet("", packet.destination, packet.source, protocol, icmp=told, state=state)
