"""Random events on a gateway's cables: first packets, along paths from tests/packets/packet_sources.py, and packets that follow them."""

from dataclasses import dataclass
from random import Random

from firewall.policy import Address, Policy
from tests.packets.packet_sources import ANYWHERE, KINDS, LISTENERS_QUERY, NEIGHBOUR_SOLICITATION, PROTOCOLS, PacketWay, ways_of
from tests.packets.scenes import OWN6


@dataclass(frozen=True)
class First:
    """A packet that belongs to no connection yet.

    Its source port is chosen when it is sent: `own_port`, or `source_class` plus the number of first packets sent so far.

    card: the interface where it arrives, "" if the gateway itself sends it. own_port: the port that a server listens on, 0 for a chosen
    one. flags: TCP flags. icmp: the type of an ICMP message; hops: its hop limit. parts: 1 for a whole packet, 2 for two fragments, 0
    for the first fragment alone.
    """

    card: str
    source: Address
    destination: Address
    protocol: int
    port: int
    source_class: int
    flags: frozenset[str]
    icmp: int
    parts: int
    hops: int
    own_port: int


@dataclass(frozen=True)
class Again:
    """A further packet in the same direction as the first packet of an open connection."""

    flow: int


@dataclass(frozen=True)
class Cookie:
    """The next packet of a client, after the gateway answered its SYN on the server's behalf."""

    flow: int


@dataclass(frozen=True)
class ReplyPacket:
    """A packet in the reply direction; card: the interface where it arrives, "" for the one by which the connection leaves."""

    flow: int
    card: str = ""


@dataclass(frozen=True)
class Fault:
    """An ICMP error about the last packet of a connection that passed; from its receiver, or with `router` from a router on the path."""

    flow: int
    router: bool
    kind: int


type Event = First | Again | Cookie | ReplyPacket | Fault


def events(random: Random, policy: Policy) -> list[Event]:
    """Return random events for a gateway with this policy, in order."""
    about = list(ways_of(policy).values())
    return [_event(random, about) for _ in range(random.choice([60, 60, 60, random.randint(1, 60)]))]


def _event(random: Random, about: list[list[PacketWay]]) -> Event:
    flow = random.randint(0, 9)
    match random.choice(["first"] * 6 + ["again", "cookie", "answer", "answer", "fault"]):
        case "first":
            return _first(random, random.choice(random.choice([*about, *about, ANYWHERE])))
        case "again":
            return Again(flow)
        case "cookie":
            return Cookie(flow)
        case "answer":
            return ReplyPacket(flow, random.choice([""] * 6 + ["lan0", "wan0", "srv0"]))
        case _:
            return Fault(flow, random.random() < 0.5, random.randint(0, 3))


def _first(random: Random, way: PacketWay) -> First:
    source, destination = random.choice(way.pairs)
    card, kind = random.choice(way.cards), random.choice(way.kinds or KINDS[source.version])
    return First(
        card,
        source,
        destination,
        random.choice(way.protocols or PROTOCOLS[source.version]),
        random.choice(way.ports),
        random.choice([20_000, 20_000, 100, 600]),
        random.choice([frozenset({"syn"})] * 5 + [frozenset({"ack"}), frozenset({"syn", "ack"}), frozenset({"rst"})]),
        kind,
        random.choice([1] * 8 + [2, 2, 0]) if card else 1,
        _hops(kind) if destination in OWN6 else 64,
        random.choice(way.own_ports),
    )


def _hops(kind: int) -> int:
    """Return the hop limit that a message must have on its own link (RFC 4861, RFC 2710)."""
    return {NEIGHBOUR_SOLICITATION: 255, LISTENERS_QUERY: 1}.get(kind, 64)
