"""Random policies with few addresses, ports and prefixes, so that packets often concern what the policy contains.

To add a kind of object, add a line in `policy`, and packets that reach it in tests/packets/packet_sources.py.
"""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from random import Random
from typing import Any

from firewall.elements.bans import LENGTHS as BAN_LENGTHS
from firewall.policy import (
    Address,
    AllowEntrySpec,
    BanDirection,
    BanSpec,
    BlockedMemberSpec,
    ConnectionLimits,
    ForwardSpec,
    GatewayGroupSettings,
    GatewaySpec,
    Hole,
    Management,
    NatMappingSpec,
    NoticeSpec,
    PinholeSpec,
    Policy,
    Prefix,
    ProtectionSpec,
    RateLimitSpec,
    ReachableService,
    RoutingPeer,
    RoutingProtocol,
    ServerListenerSpec,
    SharingMode,
    TransportProtocol,
)
from tests.packets.gateway_cables import OWN
from tests.policies import NAT_1, PROBE, PROBES_MAPPING

NOW = 1_800_000_000
MEMBERS = [IPv4Address("10.16.0.0") + n for n in range(1, 7)]
PUBLIC = [IPv4Address("198.51.100.0") + n for n in range(1, 4)]
FOREIGN = [IPv4Address("203.0.113.0") + n for n in (1, 2, 65, 130)] + [IPv4Address("192.0.2.7")]
PRIVATE_ELSEWHERE = [IPv4Address("10.99.0.1"), IPv4Address("100.64.0.9"), IPv4Address("172.31.0.9"), IPv4Address("192.168.7.7")]
PROBE4, PROBE6 = IPv4Address("172.31.254.2"), IPv6Address("2001:db8:b1::2")
MEMBERS6 = [IPv6Address(f"2001:db8:a{n}:{m}::7") for n in range(3) for m in range(2)]
FOREIGN6 = [IPv6Address(f"2001:db8:ff{n}::1") for n in range(3)]
OWN4 = [each for _, each in OWN if isinstance(each, IPv4Address)]
OWN6 = [each for _, each in OWN if isinstance(each, IPv6Address)]
ADMIN4, ADMIN6 = IPv4Address("172.31.0.9"), IPv6Address("2001:db8:1:3::9")
LINK_LOCAL = IPv6Address("fe80::77")
# The network's own servers: behind an interface of their own, or among the members; one of them has a private address.
SERVERS4 = [IPv4Address("192.0.2.129"), IPv4Address("192.0.2.130"), IPv4Address("192.168.9.53")]
SERVERS6 = [IPv6Address("2001:db8:99::1"), IPv6Address("2001:db8:98::1")]
SERVERS: list[Address] = [*SERVERS4, *SERVERS6]
NOTICE4, NOTICE6 = IPv4Address("192.168.9.80"), IPv6Address("2001:db8:99::80")
BANNED: list[Address] = [*FOREIGN, *FOREIGN6, *FOREIGN, *MEMBERS, *MEMBERS6, *PUBLIC]
PORTS = [22, 25, 80, 179, 443, 3780, 51820]
LISTENING = [(TransportProtocol.TCP, 443), (TransportProtocol.TCP, 80), (TransportProtocol.UDP, 51820)]
OPEN: list[tuple[Any, ...]] = [  # of an address: everything, all ports of a protocol, one port or more
    (),
    (TransportProtocol.UDP,),
    (TransportProtocol.TCP, 443),
    (TransportProtocol.TCP, 79, 2),
    (TransportProtocol.UDP, 51815, 6),
    (TransportProtocol.UDP, 51815, 5),
]


LIMITED: dict[str, Any] = {
    "member_rate": 100_000,
    "member_burst": 100_000,
    "source_rate": 100_000,
    "source_burst": 100_000,
}  # too high to be exceeded: see firewall/tracing
OWN_PREFIXES: list[tuple[Prefix, ...]] = [
    (),
    (IPv4Network("192.0.0.0/7"), IPv6Network("2001:db8:ff1::/48")),
    (IPv4Network("203.0.113.0/26"), IPv4Network("10.99.0.0/16")),
]
PEERS = tuple(RoutingPeer(each, routing) for routing in RoutingProtocol for each in (FOREIGN[0], MEMBERS[0], FOREIGN6[0]))
EXEMPT: tuple[Prefix, ...] = (IPv4Network("203.0.113.0/26"), IPv4Network("10.16.0.1/32"), IPv6Network("2001:db8:ff1::/48"))
RATES = [(10**9, 10**9), (10**10, 0), (0, 10**8)]
ENDS = [0, 0, NOW + 3600, NOW - 1, NOW]
NOTICE = NoticeSpec(
    NOTICE4,
    NOTICE6,
    reachable=(
        ReachableService(SERVERS4[2], TransportProtocol.UDP, 51820),
        ReachableService(FOREIGN[0], TransportProtocol.TCP, 80),
        ReachableService(FOREIGN6[0], TransportProtocol.TCP, 443),
        ReachableService(SERVERS6[0], TransportProtocol.UDP, 51820),
    ),
)
SERVING = replace(NAT_1, interfaces=replace(NAT_1.interfaces, server="srv0"))
MANAGED = replace(NAT_1, management=Management((IPv4Network("172.31.0.0/24"), IPv6Network("2001:db8:1:3::/64"))))


def policy(random: Random) -> Policy:
    """Return a random policy with every kind of object."""
    gateway, held, held6 = _gateway(random), _most(random, MEMBERS), _prefixes(random)
    mappings = [_mapping(random, each) for each in _most(random, MEMBERS)]
    return Policy(
        gateway,
        addresses=tuple(held),
        prefixes=tuple(held6),
        mappings=(*mappings, *([PROBES_MAPPING] if gateway.probe else [])),
        forwards=tuple({(each.protocol, each.public, each.public_port): each for each in _forwards(random)}.values()),
        pinholes=tuple(_pinholes(random)),
        bans=tuple({each.prefix: each for each in _bans(random)}.values()),
        allowed=tuple({each.prefix: each for each in _iter_allow_entries(random)}.values()),
        blocks=tuple(_blocks(random, [*map(IPv4Network, held), *held6])),
        listeners=tuple(_listeners(random)),
        tariff_rates=tuple(_rates(random, [*map(IPv4Network, held), *held6], [0])),
        rate_limits=tuple(_rates(random, [*map(IPv4Network, held), *held6], ENDS)),
    )


def without_helpers(policy: Policy) -> Policy:
    """Return the policy without connection tracking helpers, for kernels that have none."""
    settings = policy.gateway.settings
    protection = replace(settings.protection, ftp_ports=(), sip_ports=())
    return replace(policy, gateway=replace(policy.gateway, settings=replace(settings, protection=protection)))


def _gateway(random: Random) -> GatewaySpec:
    settings = GatewayGroupSettings(
        clamp_mss=random.random() < 0.5,
        flood_mode=random.random() < 0.5,
        publics=random.choice([(), (IPv4Network("198.51.100.0/24"),)]),
        protection=_protection(random),
        limits=_limits(random),
        notice=random.choice([NoticeSpec(), NOTICE, NOTICE]),
        rates_off=random.random() < 0.3,
    )
    return replace(random.choice([SERVING, MANAGED]), settings=settings, probe=random.choice([None, PROBE]))


def _protection(random: Random) -> ProtectionSpec:
    return ProtectionSpec(
        bogons=random.random() < 0.5,
        own=random.choice(OWN_PREFIXES),
        peers=random.choice([(), PEERS]),
        ftp_ports=random.choice([(), (443,)]),
        sip_ports=random.choice([(), (51820,)]),
    )


def _limits(random: Random) -> ConnectionLimits:
    if random.random() < 0.5:
        return ConnectionLimits()
    return ConnectionLimits(
        **LIMITED,
        member_open=random.choice([0, 1_000_000]),
        source_open=random.choice([0, 1_000_000]),
        sampled=random.choice([False, True]),
        mail_rate=random.choice([0, 100_000, 100_000]),
        refuses=random.random() < 0.5,
        exempt=random.choice([(), EXEMPT]),
    )


def _mapping(random: Random, private: IPv4Address) -> NatMappingSpec:
    """Return a random mapping for this address."""
    public, sharing = random.choice(PUBLIC), random.choice(list(SharingMode))
    if sharing is not SharingMode.BLOCKS:
        return NatMappingSpec(private, public, sharing)
    first = random.choice([1, 1024, 2048, 64512])
    return NatMappingSpec(private, public, sharing, first, first + random.choice([1, 255, 1023]))


def _prefixes(random: Random) -> list[IPv6Network]:
    lengths = random.choice([[64], [48, 64], [48, 56, 64], [48, 56, 64]])
    return list(dict.fromkeys(IPv6Network((each, random.choice(lengths)), strict=False) for each in _most(random, MEMBERS6)))


def _forwards(random: Random) -> Iterator[ForwardSpec]:
    for n in range(random.randint(0, 6)):
        public, private = (random.choice(PUBLIC), random.choice(PORTS)), (random.choice(MEMBERS), random.choice(PORTS))
        yield ForwardSpec(n, random.choice(list(TransportProtocol)), *public, *private, random.choice([1, 1, 1, 2]))


def _pinholes(random: Random) -> Iterator[PinholeSpec]:
    """Return at most one pinhole for each address and protocol, because others may overlap."""
    holes = [Hole(random.choice(MEMBERS6), *random.choice(OPEN)) for _ in range(random.randint(0, 4))]
    return (PinholeSpec(n, hole) for n, hole in enumerate({(each.address, each.protocol): each for each in holes}.values()))


def _bans(random: Random) -> Iterator[BanSpec]:
    for n in range(random.randint(0, 3)):
        yield BanSpec(n, _prefix(random), "", random.choice(ENDS), random.choice(list(BanDirection)))


def _iter_allow_entries(random: Random) -> Iterator[AllowEntrySpec]:
    for n in range(random.randint(0, 2)):
        yield AllowEntrySpec(n, _prefix(random), "", random.choice(ENDS))


def _prefix(random: Random) -> Prefix:
    """Return a prefix with a length that a ban may have. Wide prefixes are rare, because they leave few packets to compare."""
    about = random.choice(BANNED)
    lengths = [each for each in BAN_LENGTHS[about.version] if each >= about.max_prefixlen // 4]
    return ip_network((about, random.choice(lengths[-len(lengths) // 2 :] * 2 + lengths)), strict=False)


def _blocks(random: Random, held: list[Prefix]) -> Iterator[BlockedMemberSpec]:
    blocked = random.sample(held, min(random.randint(0, 2), len(held)))
    return (BlockedMemberSpec(n, each, random.choice([0, NOW + 3600])) for n, each in enumerate(blocked))


def _rates(random: Random, held: list[Prefix], ends: list[int]) -> Iterator[RateLimitSpec]:
    """Return rate limits in one or both directions, so high that no packet exceeds them."""
    limited = random.sample(held, min(random.randint(0, 3), len(held)))
    return (RateLimitSpec(n, each, *random.choice(RATES), random.choice(ends)) for n, each in enumerate(limited))


def _listeners(random: Random) -> Iterator[ServerListenerSpec]:
    """Return listeners of many servers or none; some are guarded, with different window scales."""
    places = [(address, *service) for address in SERVERS for service in LISTENING]
    found = random.sample(places, random.choice([0, random.randint(5, 10)]))
    return (ServerListenerSpec(n, *place, window_scale=_guard(random, *place)) for n, place in enumerate(found))


def _guard(random: Random, address: Address, protocol: TransportProtocol, _port: int) -> int | None:
    """Return a window scale or None.

    Always None over IPv6: no network card has verified these packets' checksums, and then the kernel drops their SYNs
    (docs/adr/0015-guarded-services.md).
    """
    return random.choice([None, 7, 7, 10]) if protocol is TransportProtocol.TCP and address.version == 4 else None


def _most[T](random: Random, of: list[T]) -> list[T]:
    """Return all but at most three of the items."""
    left_out = random.sample(of, random.randint(0, 3))
    return [each for each in of if each not in left_out]
