"""A packet on its way: what rules can read and change, and what connection tracking and NAT do in between.

The object changes from step to step, and is used for one packet only. It knows no chain. Source: linux/net/netfilter/nf_nat_core.c
(which packets NAT changes, and how).
"""

from collections import Counter
from dataclasses import replace

from firewall.policy import Address
from firewall.ruleset import Element, Ruleset, Set, Verdict, VerdictAction
from firewall.tracing import ports
from firewall.tracing.packet import ConntrackState, Endpoints, Packet, TrackedConnection
from firewall.tracing.result import TraceError
from firewall.tracing.tracking import compute_state


class PacketInTransit:
    """A packet inside a gateway. packet: as it is now; state: its connection tracking state by now.

    interface: where it leaves; own: the gateway's address there, None if not known. begins: True if it goes the way of its
    connection's first packet.
    """

    accepted = Verdict(VerdictAction.ACCEPT)

    def __init__(self, ruleset: Ruleset, packet: Packet, *, now: int, begins: bool) -> None:
        self._ruleset, self._now, self._begins, self._arrived = ruleset, now, begins, packet
        self.packet, self.interface = packet, ""
        self.own: Address | None = None
        self.is_source_known = True
        self.state = ConntrackState.INVALID  # what an expression reads before the packet is tracked
        self.source_ports: range | None = None
        self.elements: Counter[tuple[str, bytes]] = Counter()
        self.counters: Counter[str] = Counter()

    def get_connection_status(self) -> frozenset[str] | None:
        """Return the bits of the connection's status that are set, in nft's words; None without a connection.

        A packet of the other side sets `seen-reply` itself, unless it is an error about the connection (nf_conntrack_core.c,
        `resolve_normal_ct`).
        """
        if self.state in (ConntrackState.INVALID, ConntrackState.UNTRACKED):
            return None
        flow = self._arrived.flow
        if flow:
            replied = flow.replied or (not self._begins and self.state is not ConntrackState.RELATED)
            bits = (("dnat", flow.destination_changed), ("snat", flow.source_changed), ("seen-reply", replied))
        else:
            now, before = self.packet.ends, self._arrived.ends
            destination = (now.destination, now.destination_port) != (before.destination, before.destination_port)
            bits = (("dnat", destination), ("snat", self.source_ports is not None), ("seen-reply", False))
        return frozenset(name for name, is_set in bits if is_set)

    def get_declaration(self, name: str) -> Set:
        """Return the declaration of a set or map."""
        if name not in self._ruleset.sets:
            raise TraceError(f"a rule looks up {name}, which the ruleset does not have")
        return self._ruleset.sets[name]

    def find_element(self, name: str, key: bytes) -> Element | None:
        """Return the element that a set has under a key, unless it has ended."""
        element = self._ruleset.elements[name].get(key)
        ended = element is not None and self.get_declaration(name).timeout and 0 < element.expires <= self._now
        return None if ended else element

    def count_element(self, name: str, key: bytes) -> None:
        """Count a packet for the element's own counter, if it has one."""
        if self.get_declaration(name).counter:
            self.elements[name, key] += 1

    def count_named(self, name: str) -> None:
        """Count a packet for a named counter."""
        self.counters[name] += 1

    def leave_untracked(self) -> None:
        """Exclude the packet from connection tracking, which comes later; do nothing if tracking has seen it."""
        if self.state is ConntrackState.INVALID:
            self.state = ConntrackState.UNTRACKED

    def rewrite_destination(self, address: Address, port: int | None) -> None:
        """Apply destination NAT to a connection's first packet."""
        ends = self.packet.ends
        self.packet = self.packet.rewrite_ends(
            Endpoints(ends.source, address, ends.source_port, ends.destination_port if port is None else port)
        )

    def rewrite_source(self, address: Address, *, random: bool, within: range | None = None) -> None:
        """Apply source NAT to a connection's first packet. within: the ports it may leave with, None for any."""
        ends = self.packet.ends
        self.source_ports = ports.list_candidate_ports(self.packet, random=random, within=within)
        self.packet = self.packet.rewrite_ends(Endpoints(address, ends.destination, ends.source_port, ends.destination_port))

    def masquerade(self) -> None:
        """Let a connection's first packet leave as the gateway's own address; if that is not known, it keeps the source that it has."""
        self.is_source_known = self.own is not None
        self.rewrite_source(self.own or self.packet.source, random=False)

    def track(self) -> None:
        """Let connection tracking see the packet, unless it is excluded."""
        if self.state is ConntrackState.INVALID:
            self.state = compute_state(self._arrived)

    @property
    def _flow(self) -> TrackedConnection | None:
        return None if self.state in (ConntrackState.INVALID, ConntrackState.UNTRACKED) else self._arrived.flow

    def build_current_flow(self) -> TrackedConnection | None:
        """Return the connection as it stands before source NAT; None without one."""
        if self.state in (ConntrackState.INVALID, ConntrackState.UNTRACKED):
            return None
        return self._arrived.flow or TrackedConnection(self._arrived.ends, self.packet.ends.swap_sides(), replied=False)

    def repeat_destination_nat(self) -> None:
        """Rewrite the destination of a known connection's packet as the NAT of its first packet says."""
        flow = self._flow
        if flow and (flow.destination_changed if self._begins else flow.source_changed):
            now, to = self.packet.ends, self._get_sent_ends(flow).swap_sides()
            self.packet = self.packet.rewrite_ends(Endpoints(now.source, to.destination, now.source_port, to.destination_port))
            self._rewrite_quote(source=True, flow=flow)

    def repeat_source_nat(self) -> None:
        """Rewrite the source of a known connection's packet in the same way."""
        flow = self._flow
        if flow and (flow.source_changed if self._begins else flow.destination_changed):
            now, to = self.packet.ends, self._get_sent_ends(flow).swap_sides()
            self.packet = self.packet.rewrite_ends(Endpoints(to.source, now.destination, to.source_port, now.destination_port))
            self._rewrite_quote(source=False, flow=flow)

    def _get_sent_ends(self, flow: TrackedConnection) -> Endpoints:
        """Return the endpoints of a packet of the other side, as that side sends it."""
        return flow.reply if self._begins else flow.original

    def _rewrite_quote(self, *, source: bool, flow: TrackedConnection) -> None:
        """Rewrite the packet quoted by an error to what the error's receiver sent (RFC 3022, 4.3)."""
        icmp = self.packet.icmp
        if icmp and icmp.quoted:
            sent, old = self._get_sent_ends(flow), icmp.quoted
            if source:
                quoted = Endpoints(sent.source, old.destination, sent.source_port, old.destination_port)
            else:
                quoted = Endpoints(old.source, sent.destination, old.source_port, sent.destination_port)
            self.packet = replace(self.packet, icmp=replace(icmp, quoted=quoted))

    @property
    def asks_for_nat(self) -> bool:
        """True if NAT chains see the packet: a connection's first packet alone."""
        return self.state is ConntrackState.NEW and self._arrived.flow is None
