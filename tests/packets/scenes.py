"""Random policies, and what happens on the cables of their gateway, for hypothesis.

Few addresses, ports and prefixes, so that packets often meet what the policy is about. Another kind of object joins by a line in
`policies`, and by addresses or ports that lead to it in `packets`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Any

from hypothesis import strategies as st

from firewall.elements.bans import LENGTHS as BAN_LENGTHS
from firewall.policy import (
    Address,
    Allowed,
    Ban,
    Block,
    Direction,
    Forward,
    Hole,
    Limits,
    Listener,
    Peer,
    Pinhole,
    Policy,
    Prefix,
    Protection,
    Protocol,
    Routing,
    Settings,
)
from tests.packets.wires import CARDS, OWN
from tests.policies import NAT_1, PROBED, PROBES_MAPPING, mappings_of

NOW = 1_800_000_000
MEMBERS = [IPv4Address("10.16.0.0") + n for n in range(1, 7)]
PUBLIC = [IPv4Address("198.51.100.0") + n for n in range(1, 4)]
FOREIGN = [IPv4Address("203.0.113.0") + n for n in (1, 2, 65, 130)] + [IPv4Address("192.0.2.7")]
PRIVATE_ELSEWHERE = [IPv4Address("10.99.0.1"), IPv4Address("100.64.0.9"), IPv4Address("172.31.0.9"), IPv4Address("192.168.7.7")]
PROBE4, PROBE6 = IPv4Address("172.31.254.2"), IPv6Address("2001:db8:b1::2")
MEMBERS6 = [IPv6Address(f"2001:db8:a{n}:{m}::7") for n in range(3) for m in range(2)]
FOREIGN6 = [IPv6Address(f"2001:db8:ff{n}::1") for n in range(3)]
SERVERS: list[Address] = [IPv4Address("192.0.2.130"), IPv6Address("2001:db8:5e::80")]
OWN4 = [each for _, each in OWN if isinstance(each, IPv4Address)]
OWN6 = [each for _, each in OWN if isinstance(each, IPv6Address)]
BANNED: list[Address] = [*FOREIGN, *FOREIGN6, *FOREIGN, *MEMBERS, *MEMBERS6, *PUBLIC]
PORTS = [22, 80, 179, 443, 3780, 51820]
OPEN: list[tuple[Any, ...]] = [  # of an address: everything, all ports of a protocol, a port or more
    (),
    (Protocol.UDP,),
    (Protocol.TCP, 443),
    (Protocol.TCP, 79, 2),
    (Protocol.UDP, 51815, 6),
    (Protocol.UDP, 51815, 5),
]
TCP, UDP, ICMP, ESP, ICMPV6, VRRP = 6, 17, 1, 50, 58, 112


@dataclass(frozen=True)
class First:
    """A packet that belongs to no connection. its source port is chosen when it is sent, from that on which is free.

    flags: TCP's; icmp: the type of an ICMP message; parts: 1 whole, 2 in fragments, 0 its first fragment alone.
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


@dataclass(frozen=True)
class Again:
    """A further packet the same way as the first of a connection that is open."""

    flow: int


@dataclass(frozen=True)
class Cookie:
    """The next packet of a client whose SYN the gateway answered in the server's stead."""

    flow: int


@dataclass(frozen=True)
class Answer:
    """A packet the other way; card: where it comes in, "" where the connection leaves."""

    flow: int
    card: str = ""


@dataclass(frozen=True)
class Fault:
    """An ICMP error about the last packet of a connection that got through, from its receiver or, with `router`, from on the way."""

    flow: int
    router: bool
    kind: int


type Event = First | Again | Cookie | Answer | Fault


@st.composite
def ban_prefixes(draw: st.DrawFn) -> Prefix:
    about = draw(st.sampled_from(BANNED))
    lengths = [each for each in BAN_LENGTHS[about.version] if each >= about.max_prefixlen // 4]
    length = draw(st.sampled_from(lengths[-len(lengths) // 2 :] * 2 + lengths))  # the wide ones leave little to look at
    return ip_network((about, length), strict=False)


ENDS = st.sampled_from([0, 0, NOW + 3600, NOW - 1, NOW])


@st.composite
def bans(draw: st.DrawFn) -> Ban:
    return Ban(draw(st.integers(1, 99)), draw(ban_prefixes()), "", draw(ENDS), draw(st.sampled_from(Direction)))


@st.composite
def allowed(draw: st.DrawFn) -> Allowed:
    return Allowed(draw(st.integers(1, 99)), draw(ban_prefixes()), "", draw(ENDS))


protections = st.builds(
    Protection,
    bogons=st.sampled_from([False, True]),
    own=st.sampled_from(
        [(IPv4Network("192.0.0.0/7"), IPv6Network("2001:db8::/32")), (IPv4Network("203.0.113.0/26"), IPv4Network("10.99.0.0/16")), ()]
    ),
    peers=st.sampled_from([(), tuple(Peer(each, Routing.BGP) for each in (FOREIGN[0], MEMBERS[0], FOREIGN6[0]))]),
)
# So high that nobody is over: a trace is that of a packet whose sender is not.
limits = st.just(Limits()) | st.builds(
    Limits,
    member_rate=st.just(100_000),
    member_burst=st.just(100_000),
    member_open=st.sampled_from([0, 1_000_000]),
    source_rate=st.just(100_000),
    source_burst=st.just(100_000),
    source_open=st.sampled_from([0, 1_000_000]),
    exempt=st.sampled_from([(), (IPv4Network("203.0.113.0/24"), IPv4Network("10.16.0.1/32"))]),
)


@st.composite
def listeners(draw: st.DrawFn) -> list[Listener]:
    """What servers among the members have open: guarded with one window scale or another, or not.

    None over IPv6: no card has checked these packets, and then the kernel drops their SYNs (docs/adr/0015-guarded-services.md).
    """
    places = [(address, port) for address in SERVERS for port in PORTS]
    how = [(Protocol.TCP, 7), (Protocol.TCP, 7), (Protocol.TCP, 10), (Protocol.TCP, None), (Protocol.UDP, None), None]
    chosen = zip(places, draw(st.lists(_one(how), min_size=len(places), max_size=len(places))), strict=True)
    return [
        Listener(n, address, each[0], port, "", each[1] if address.version == 4 else None)
        for n, ((address, port), each) in enumerate(chosen)
        if each
    ]


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """A policy of every kind of object there is."""
    addresses = draw(_most(MEMBERS))
    mapped = draw(_most(MEMBERS))
    prefixes = [IPv6Network((each, draw(st.sampled_from([48, 56, 64]))), strict=False) for each in draw(_most(MEMBERS6))]
    forwards = [
        Forward(
            n,
            draw(st.sampled_from(Protocol)),
            draw(_one(PUBLIC)),
            draw(_one(PORTS)),
            draw(_one(MEMBERS)),
            draw(_one(PORTS)),
            draw(_one([1, 1, 1, 2])),
        )
        for n in range(draw(st.integers(0, 6)))
    ]
    holes = [Hole(draw(_one(MEMBERS6)), *draw(_one(OPEN))) for _ in range(draw(st.integers(0, 4)))]
    held: list[IPv4Network | IPv6Network] = [*map(IPv4Network, addresses), *dict.fromkeys(prefixes)]
    blocks: list[IPv4Network | IPv6Network] = draw(st.just([]) | st.lists(st.sampled_from(held), unique=True, max_size=2)) if held else []
    publics = draw(_one([(), (IPv4Network("198.51.100.0/24"),)]))
    settings = Settings(draw(st.booleans()), draw(st.booleans()), publics, draw(protections), draw(limits))
    plain = Policy(
        replace(NAT_1, settings=settings),
        addresses=tuple(addresses),
        prefixes=tuple(dict.fromkeys(prefixes)),
        mappings=tuple(draw(mappings_of(each, _one(PUBLIC))) for each in mapped),
        forwards=tuple({(each.protocol, each.public, each.public_port): each for each in forwards}.values()),
        pinholes=tuple(Pinhole(n, hole) for n, hole in enumerate({(each.address, each.protocol): each for each in holes}.values())),
        bans=tuple({each.prefix: each for each in draw(st.lists(bans(), max_size=3) | st.lists(bans(), min_size=2, max_size=3))}.values()),
        allowed=tuple({each.prefix: each for each in draw(st.lists(allowed(), max_size=2))}.values()),
        blocks=tuple(Block(n, each, draw(_one([0, NOW + 3600]))) for n, each in enumerate(blocks)),
        listeners=tuple(draw(st.just([]) | listeners())),
    )
    probed = replace(plain, gateway=replace(PROBED, settings=settings), mappings=(*plain.mappings, PROBES_MAPPING))
    return draw(st.sampled_from([plain, probed]))


# So that each way of a guarded service is gone at least once.
GUARDED = Policy(NAT_1, addresses=tuple(MEMBERS), listeners=(Listener(1, SERVERS[0], Protocol.TCP, 443, "", 7),))
SYN = First("wan0", FOREIGN[0], SERVERS[0], TCP, 443, 20_000, frozenset({"syn"}), 8, 1)


def _most[T](of: list[T]) -> st.SearchStrategy[list[T]]:
    """All but a few."""
    return st.lists(st.sampled_from(of), unique=True, max_size=3).map(lambda left_out: [each for each in of if each not in left_out])


def _one[T](of: list[T]) -> st.SearchStrategy[T]:
    return st.sampled_from(of)


# Where a packet may come in, from whom to whom. The first are those that policies are about; the last are anything.
WAYS: list[tuple[tuple[str, ...], Sequence[Address], Sequence[Address]]] = [
    (("lan0",), MEMBERS, FOREIGN),
    (("lan0",), MEMBERS, FOREIGN),
    (("wan0",), FOREIGN, PUBLIC),
    (("wan0",), FOREIGN, PUBLIC),
    (("wan0",), [*PRIVATE_ELSEWHERE, *MEMBERS], PUBLIC),
    (("lan0",), MEMBERS, PUBLIC),
    (("lan0",), MEMBERS, MEMBERS),
    (("lan0",), MEMBERS6, FOREIGN6),
    (("lan0",), MEMBERS6, FOREIGN6),
    (("lan0",), MEMBERS6, MEMBERS6),
    (("wan0",), FOREIGN6, MEMBERS6),
    (("wan0", "lan0"), [*FOREIGN6, *MEMBERS6], SERVERS[1:]),
    (("lan0",), SERVERS[:1], [*FOREIGN, *MEMBERS]),
    (("probe0",), [PROBE4], FOREIGN),
    (("probe0",), [PROBE6], FOREIGN6),
    (CARDS, [*MEMBERS, *FOREIGN, *PRIVATE_ELSEWHERE], OWN4),
    (CARDS, [*MEMBERS6, *FOREIGN6], OWN6),
    (CARDS, [*MEMBERS, *PUBLIC, *FOREIGN, *PRIVATE_ELSEWHERE, PROBE4], [*MEMBERS, *PUBLIC, *FOREIGN, *PRIVATE_ELSEWHERE, PROBE4]),
    (CARDS, [*MEMBERS6, *FOREIGN6, PROBE6], [*MEMBERS6, *FOREIGN6, PROBE6]),
]


@st.composite
def packets(draw: st.DrawFn) -> First:
    cards, sources, destinations = draw(st.sampled_from(WAYS))
    source: Address = draw(st.sampled_from(sources))
    destination: Address = draw(st.sampled_from([each for each in destinations if each != source]))
    queries = ICMP if source.version == 4 else ICMPV6
    echo = (8, 0) if source.version == 4 else (128, 129)
    return First(
        draw(st.sampled_from(cards)),
        source,
        destination,
        draw(st.sampled_from([TCP, TCP, UDP, UDP, queries, queries, ESP, VRRP])),
        draw(st.sampled_from(PORTS)),
        draw(st.sampled_from([20_000, 20_000, 100, 600])),
        draw(st.sampled_from([frozenset({"syn"})] * 4 + [frozenset({"ack"}), frozenset({"syn", "ack"}), frozenset({"rst"})])),
        draw(st.sampled_from([echo[0]] * 4 + [echo[1]])),
        draw(st.sampled_from([1] * 6 + [2, 0])),
    )


def calls() -> st.SearchStrategy[First]:
    """TCP to the server's ports."""
    flags = [frozenset({"syn"}), frozenset({"syn"}), frozenset({"ack"}), frozenset({"syn", "ack"}), frozenset({"rst"})]
    sources = [*(("wan0", each) for each in FOREIGN), *(("lan0", each) for each in MEMBERS)]
    made = st.tuples(_one(sources), _one(PORTS), _one(flags), _one([1, 1, 1, 2]))
    return made.map(lambda of: First(*of[0], SERVERS[0], TCP, of[1], 20_000, of[2], 8, of[3]))


def events() -> st.SearchStrategy[list[Event]]:
    """What happens, in order."""
    flow = st.integers(0, 9)
    some: st.SearchStrategy[Event] = st.one_of(
        packets(),
        packets(),
        st.builds(Again, flow),
        st.builds(Cookie, flow),
        calls(),
        st.builds(Answer, flow, st.sampled_from(["", "", "", "lan0", "wan0"])),
        st.builds(Answer, flow),
        st.builds(Fault, flow, st.booleans(), st.integers(0, 2)),
    )
    return st.sampled_from([1, 40, 40, 40]).flatmap(lambda least: st.lists(some, min_size=least, max_size=60))
