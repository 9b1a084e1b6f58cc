"""A packet and the connection it belongs to, with the fields that rules can read."""

from dataclasses import dataclass, replace
from enum import StrEnum

from firewall.policy import Address

ICMP, TCP, UDP, ICMPV6 = 1, 6, 17, 58  # IANA protocol numbers
WITH_PORTS = frozenset({TCP, UDP, 33, 132, 136})  # also DCCP, SCTP, UDP-Lite
ANSWERS = {ICMP: {8: 0, 13: 14, 15: 16, 17: 18}, ICMPV6: {128: 129, 139: 140}}  # type of the answer, by the type of the query
SYN = frozenset({"syn"})


class ConntrackState(StrEnum):
    """States that connection tracking gives a packet, in nft's words (man nft, "CONNTRACK EXPRESSIONS")."""

    NEW = "new"
    ESTABLISHED = "established"
    RELATED = "related"
    INVALID = "invalid"
    UNTRACKED = "untracked"


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Source and destination with their ports. The id of an ICMP query is the port of its sender; a missing port is 0."""

    source: Address
    destination: Address
    source_port: int = 0
    destination_port: int = 0

    def swap_sides(self) -> "Endpoints":
        """Return the endpoints of a packet the other way."""
        return Endpoints(self.destination, self.source, self.destination_port, self.source_port)


@dataclass(frozen=True, slots=True)
class TrackedConnection:
    """A tracked connection: its endpoints as the first packet had them, and as an answer has them when it arrives.

    NAT shows as the difference between the two. replied: True if connection tracking has seen an answer.
    """

    original: Endpoints
    reply: Endpoints
    replied: bool = True

    @property
    def source_changed(self) -> bool:
        """True if NAT rewrote the source."""
        return (self.original.source, self.original.source_port) != (self.reply.destination, self.reply.destination_port)

    @property
    def destination_changed(self) -> bool:
        """True if NAT rewrote the destination."""
        return (self.original.destination, self.original.destination_port) != (self.reply.source, self.reply.source_port)


@dataclass(frozen=True, slots=True)
class Icmp:
    """An ICMP or ICMPv6 message. id: of a query and its answer. quoted: endpoints of the packet that an error is about, as the
    error has them.
    """

    type: int
    code: int = 0
    id: int = 0
    quoted: Endpoints | None = None


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet as it arrives. interface: where it comes in, "" for the gateway's own. protocol: its IANA number.

    flow: the connection that it belongs to, None for the first packet of one. state: computed from flow, protocol and flags unless
    it is given. fragment: True if only a part of it arrives. cookie: True if it acknowledges one of the gateway's own (`Synproxy`).
    """

    interface: str
    source: Address
    destination: Address
    protocol: int
    source_port: int = 0
    destination_port: int = 0
    icmp: Icmp | None = None
    flags: frozenset[str] = SYN
    hop_limit: int = 64
    fragment: bool = False
    cookie: bool = False
    flow: TrackedConnection | None = None
    state: ConntrackState | None = None

    @property
    def version(self) -> int:
        """The version of IP: 4 or 6."""
        return self.source.version

    @property
    def ends(self) -> Endpoints:
        """The packet's endpoints."""
        ports = (self.source_port, self.destination_port)
        if self.icmp:
            ports = (0, self.icmp.id) if self._is_answer else (self.icmp.id, 0)
        return Endpoints(self.source, self.destination, *ports)

    @property
    def _is_answer(self) -> bool:
        return self.icmp is not None and self.icmp.type in ANSWERS.get(self.protocol, {}).values()

    @property
    def begins(self) -> bool:
        """True if the packet goes the way of its connection's first packet.

        An error goes the other way than the packet it quotes (RFC 792).
        """
        if self.flow is None:
            return True
        if self.icmp and self.icmp.quoted:
            return self.icmp.quoted.swap_sides() == self.flow.original
        return self.ends == self.flow.original

    def rewrite_ends(self, ends: Endpoints) -> "Packet":
        """Return the packet with other endpoints, as NAT rewrites it. Of an error only the addresses change here, not the packet it
        quotes.
        """
        if self.icmp is None:
            return replace(
                self,
                source=ends.source,
                destination=ends.destination,
                source_port=ends.source_port,
                destination_port=ends.destination_port,
            )
        port = ends.destination_port if self._is_answer else ends.source_port
        icmp = self.icmp if self.icmp.quoted else replace(self.icmp, id=port)
        return replace(self, source=ends.source, destination=ends.destination, icmp=icmp)
