"""Policies for tests: small fixed ones, random ones for hypothesis, large ones by number of members."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from hypothesis import strategies as st

from firewall.elements.bans import LENGTHS as BAN_LENGTHS
from firewall.policy import (
    AllowEntrySpec,
    BanDirection,
    BanSpec,
    BlockedMemberSpec,
    ConnectionLimits,
    ForwardSpec,
    GatewayGroupSettings,
    GatewaySpec,
    Hole,
    Interfaces,
    Management,
    NatMappingSpec,
    NoticeSpec,
    PinholeSpec,
    Policy,
    Port,
    PrefixOwner,
    ProbeSpec,
    Profile,
    ProtectionSpec,
    RateLimitSpec,
    ReachableService,
    RoutingPeer,
    RoutingProtocol,
    ServerListenerSpec,
    SharingMode,
    TransportProtocol,
)

NAT_1 = GatewaySpec("nat-1", Interfaces("lan0", "wan0", "mgmt0", "sync0"), Management((IPv4Network("172.31.0.0/24"),)))
PROBE = ProbeSpec("probe0", IPv4Address("172.31.254.2"), IPv4Address("192.0.2.251"), IPv6Address("2001:db8:b1::2"))
PROBED = replace(NAT_1, probe=PROBE)
NOTICE = NoticeSpec(
    IPv4Address("192.168.9.80"),
    IPv6Address("2001:db8:99::80"),
    reachable=(
        ReachableService(IPv4Address("192.168.9.53"), TransportProtocol.UDP, 53),
        ReachableService(IPv6Address("2001:db8:99::53"), TransportProtocol.UDP, 53),
        ReachableService(IPv4Address("203.0.113.10"), TransportProtocol.TCP, 80),
        ReachableService(IPv4Address("203.0.113.11"), TransportProtocol.TCP, 80),
    ),
)
SERVING = replace(NAT_1, interfaces=replace(NAT_1.interfaces, server="srv0"), settings=GatewayGroupSettings(notice=NOTICE))
PROBES_MAPPING = NatMappingSpec(IPv4Address("172.31.254.2"), IPv4Address("192.0.2.251"))

LIMITS = ConnectionLimits(
    member_rate=50,
    member_burst=200,
    member_open=2000,
    source_rate=20,
    source_burst=40,
    source_open=200,
    mail_rate=10,
    refuses=True,
    exempt=(IPv4Network("10.16.0.99/32"), IPv6Network("2001:db8:cafe::/48")),
)

LATE = 1 << 32  # an end in the year 2106
PRIVATE = int(IPv4Address("10.16.0.0"))
PUBLIC = int(IPv4Address("198.51.100.0"))
PREFIXES = int(IPv6Address("2001:db8:a0::"))
SERVERS: list[IPv4Address | IPv6Address] = [IPv4Address("192.0.2.129"), IPv4Address("192.0.2.130"), IPv6Address("2001:db8:99::1")]


def network(members: int) -> Policy:
    """Build a policy with this many members, each with an address, a prefix and a mapping; every third with forwards; some bans."""
    addresses = tuple(IPv4Address(PRIVATE + n) for n in range(members))
    return Policy(
        NAT_1,
        addresses=addresses,
        prefixes=tuple(IPv6Network((PREFIXES + (n << 64), 64)) for n in range(members)),
        mappings=tuple(NatMappingSpec(address, IPv4Address(PUBLIC + n % 256)) for n, address in enumerate(addresses)),
        forwards=tuple(
            ForwardSpec(n, TransportProtocol.TCP, IPv4Address(PUBLIC + n % 256), 1024 + n // 256, addresses[n], 80)
            for n in range(0, members, 3)
        ),
        bans=tuple(BanSpec(n, IPv4Network((int(IPv4Address("203.0.0.0")) + n, 32))) for n in range(min(members, 1000))),
    )


ports = st.integers(1, 65535)
private_addresses = st.integers(0, 5000).map(lambda n: IPv4Address(PRIVATE + n))
public_addresses = st.integers(0, 20).map(lambda n: IPv4Address(PUBLIC + n))
texts = st.text(max_size=200) | st.sampled_from(['"}; flush ruleset', "a\nb", "\\", "ü" * 130, '" drop; add rule', "#", "$x", "@up4", "*"])


@st.composite
def prefixes6(draw: st.DrawFn) -> IPv6Network:
    length = draw(st.sampled_from([48, 56, 60, 64]))
    return IPv6Network((PREFIXES + (draw(st.integers(0, 40)) << (128 - length)), length))


@st.composite
def ban_prefixes(draw: st.DrawFn) -> IPv4Network | IPv6Network:
    family = draw(st.sampled_from([4, 6]))
    length = draw(st.sampled_from(list(BAN_LENGTHS[family])))
    if family == 4:
        return IPv4Network((draw(st.integers(0, 2**32 - 1)), length), strict=False)
    return IPv6Network((draw(st.integers(0, 2**128 - 1)), length), strict=False)


@st.composite
def bans(draw: st.DrawFn) -> BanSpec:
    ends = draw(st.just(0) | st.integers(1, 2**32))
    return BanSpec(draw(st.integers(1, 10**6)), draw(ban_prefixes()), draw(texts), ends, draw(st.sampled_from(BanDirection)))


@st.composite
def allow_entries(draw: st.DrawFn) -> AllowEntrySpec:
    return AllowEntrySpec(draw(st.integers(1, 10**6)), draw(ban_prefixes()), draw(texts), draw(st.just(0) | st.integers(1, 2**32)))


@st.composite
def forwards(draw: st.DrawFn) -> ForwardSpec:
    return ForwardSpec(
        draw(st.integers(1, 10**6)),
        draw(st.sampled_from(TransportProtocol)),
        draw(public_addresses),
        draw(ports.filter(lambda port: port < 65500)),
        draw(private_addresses),
        draw(ports.filter(lambda port: port < 65500)),
        draw(st.sampled_from([1, 1, 2, 20])),
    )


limits = st.builds(
    ConnectionLimits,
    member_rate=st.sampled_from([0, 10, 50]),
    member_open=st.sampled_from([0, 500, 2_000]),
    source_rate=st.sampled_from([0, 10]),
    source_open=st.sampled_from([0, 100]),
    mail_rate=st.sampled_from([0, 10]),
    sampled=st.booleans(),
    refuses=st.booleans(),
    exempt=st.sampled_from([(), (IPv4Network("203.0.113.0/24"), IPv4Network("203.0.113.9/32"), IPv6Network("2001:db8:a0::/48"))]),
)
protections = st.builds(
    ProtectionSpec,
    bogons=st.booleans(),
    own=st.sampled_from([(), (IPv4Network("203.0.113.0/24"), IPv6Network("2001:db8::/32"))]),
    ftp_ports=st.sampled_from([(), (21,), (21, 2121)]),
    sip_ports=st.sampled_from([(), (5060,)]),
    peers=st.sampled_from(
        [(), (RoutingPeer(IPv4Address("192.0.2.1"), RoutingProtocol.BGP), RoutingPeer(IPv6Address("fe80::1"), RoutingProtocol.OSPF))]
    ),
)
profiles = st.none() | st.builds(
    Profile,
    connections=st.integers(12, 16).map(lambda power: 1 << power),
    buckets=st.integers(8, 1024).map(lambda steps: steps * 8192),
    udp=st.sampled_from([30, 60]),
    tcp_loose=st.booleans(),
    first_port=st.integers(1024, 32768),
)
settings = st.just(GatewayGroupSettings()) | st.builds(
    GatewayGroupSettings, clamp_mss=st.booleans(), protection=protections, limits=limits, profile=profiles, rates_off=st.booleans()
)


@st.composite
def mappings_of(draw: st.DrawFn, private: IPv4Address, publics: st.SearchStrategy[IPv4Address]) -> NatMappingSpec:
    """Draw any kind of mapping of this address."""
    sharing = draw(st.sampled_from(SharingMode))
    if sharing is not SharingMode.BLOCKS:
        return NatMappingSpec(private, draw(publics), sharing)
    first = draw(st.sampled_from([1, 1024, 2048, 64512]))
    return NatMappingSpec(private, draw(publics), sharing, first, first + draw(st.sampled_from([1, 255, 1023])))


@st.composite
def pinholes(draw: st.DrawFn) -> PinholeSpec:
    address = IPv6Address(PREFIXES + (draw(st.integers(0, 3)) << 64) + draw(st.integers(1, 2)))
    protocol = draw(st.sampled_from([None, *TransportProtocol]))
    port = draw(st.just(0) | ports.filter(lambda port: port < 65500)) if protocol else 0
    return PinholeSpec(draw(st.integers(1, 10**6)), Hole(address, protocol, port, draw(st.sampled_from([1, 1, 2, 20])) if port else 1))


def disjoint(found: list[PinholeSpec]) -> tuple[PinholeSpec, ...]:
    """Return at most one pinhole for each address and protocol: others might overlap."""
    return tuple({(each.hole.address, each.hole.protocol): each for each in found}.values())


def apart(found: list[ForwardSpec]) -> tuple[ForwardSpec, ...]:
    """Drop forwards that share a public port with an earlier one."""
    taken: set[Port] = set()
    kept = []
    for each in found:
        wanted = {(each.protocol, each.public, port) for port in range(each.public_port, each.public_port + each.ports)}
        if not wanted & taken:
            kept.append(each)
            taken |= wanted
    return tuple(kept)


@st.composite
def listeners(draw: st.DrawFn) -> ServerListenerSpec:
    address = draw(st.sampled_from(SERVERS))
    protocol = draw(st.sampled_from(TransportProtocol))
    guard = draw(st.none() | st.sampled_from([7, 10])) if protocol is TransportProtocol.TCP else None
    return ServerListenerSpec(draw(st.integers(1, 10**6)), address, protocol, draw(st.integers(1, 4)), draw(texts), guard)


def block_specs(draw: st.DrawFn, held: list[IPv4Address], prefixes: list[IPv6Network]) -> tuple[BlockedMemberSpec, ...]:
    """Draw blocks for some of the members' addresses and prefixes."""
    own: list[IPv4Network | IPv6Network] = [*(IPv4Network(address) for address in held), *prefixes]
    picked = draw(st.lists(st.sampled_from(own), unique=True, max_size=4)) if own else []
    return tuple(BlockedMemberSpec(draw(st.integers(1, 10**6)), prefix, draw(st.just(0) | st.integers(1, 2**32))) for prefix in picked)


def owners(draw: st.DrawFn, addresses: list[IPv4Address], prefixes: list[IPv6Network]) -> tuple[PrefixOwner, ...]:
    """Draw owners for some of these."""
    held: list[IPv4Address | IPv6Network] = [*addresses, *prefixes]
    return tuple(PrefixOwner(each, draw(st.integers(1, 2**40))) for each in held if draw(st.booleans()))


@st.composite
def rate_limits(draw: st.DrawFn, held: list[IPv4Network | IPv6Network]) -> tuple[RateLimitSpec, ...]:
    """Draw rate limits for some of these, in both directions or one."""
    picked = draw(st.lists(st.sampled_from(held), unique=True, max_size=4)) if held else []
    rates = st.sampled_from([(625_000, 2_500_000), (0, 125_000), (1_000, 0), (10**10, 10**10)])
    return tuple(
        RateLimitSpec(draw(st.integers(1, 10**6)), prefix, *draw(rates), draw(st.just(0) | st.integers(1, 2**32))) for prefix in picked
    )


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Draw any policy without contradictions."""
    addresses = draw(st.lists(private_addresses, unique=True, max_size=8))
    prefixes = draw(st.lists(prefixes6(), unique=True, max_size=5))
    held: list[IPv4Network | IPv6Network] = [*map(IPv4Network, addresses), *prefixes]
    return Policy(
        replace(draw(st.sampled_from([NAT_1, SERVING])), settings=draw(settings)),
        addresses=tuple(addresses),
        prefixes=tuple(prefixes),
        mappings=tuple(draw(mappings_of(address, public_addresses)) for address in addresses),
        forwards=apart(draw(st.lists(forwards(), max_size=5))),
        pinholes=disjoint(draw(st.lists(pinholes(), max_size=5))),
        bans=tuple(draw(st.lists(bans(), max_size=5, unique_by=lambda each: each.prefix))),
        allowed=tuple(draw(st.lists(allow_entries(), max_size=5, unique_by=lambda each: each.prefix))),
        blocks=block_specs(draw, addresses, prefixes),
        listeners=tuple(draw(st.lists(listeners(), max_size=5, unique_by=lambda each: (each.protocol, each.address, each.port)))),
        owners=owners(draw, addresses, prefixes),
        tariff_rates=draw(rate_limits(held)),
        rate_limits=draw(rate_limits(held)),
    )


def one_of_each(gateway: GatewaySpec = SERVING) -> Policy:
    """Build a policy with objects for every set that a ruleset can have, in both address families."""
    first, second, third = (IPv4Address(PRIVATE + each) for each in (1, 2, 3))
    inside, wide = IPv6Network("2001:db8:a0:1::/64"), IPv6Network("2001:db8:a0:100::/56")
    public, tcp, udp = IPv4Address(PUBLIC + 7), TransportProtocol.TCP, TransportProtocol.UDP
    banned, banned6 = IPv4Network("203.0.113.0/24"), IPv6Network("2001:db8:bad::/48")
    server, server6 = SERVERS[0], SERVERS[2]
    return Policy(
        gateway,
        addresses=(first, second, third),
        prefixes=(inside, wide),
        owners=(PrefixOwner(first, 11), PrefixOwner(second, 12), PrefixOwner(inside, 13)),
        mappings=(
            NatMappingSpec(first, public),
            NatMappingSpec(second, IPv4Address(PUBLIC + 8), SharingMode.OWN),
            NatMappingSpec(third, IPv4Address(PUBLIC + 9), SharingMode.BLOCKS, 2048, 4095),
        ),
        forwards=(
            ForwardSpec(1, tcp, public, 8443, first, 443),
            ForwardSpec(2, udp, public, 6000, second, 7000, ports=5),
            ForwardSpec(3, tcp, public, 8444, second, 444),
        ),
        pinholes=(
            PinholeSpec(1, Hole(inside[7], tcp, 22)),
            PinholeSpec(2, Hole(inside[7], udp, 5000, 3)),
            PinholeSpec(3, Hole(inside[8], tcp)),
            PinholeSpec(4, Hole(wide[9])),
        ),
        bans=(
            BanSpec(1, banned, "scans"),
            BanSpec(2, IPv4Network("198.18.0.9/32"), direction=BanDirection.IN),
            BanSpec(3, banned6, direction=BanDirection.OUT),
            BanSpec(5, IPv4Network("198.18.0.10/32"), direction=BanDirection.OUT),
            BanSpec(6, IPv6Network("2001:db8:bad:2::/64"), direction=BanDirection.IN),
            BanSpec(4, IPv6Network("2001:db8:bad:1::1/128"), "bot", LATE),
        ),
        allowed=(AllowEntrySpec(1, IPv4Network("203.0.113.5/32"), "mirror"), AllowEntrySpec(2, IPv6Network("2001:db8:bad:7::/64"))),
        blocks=(BlockedMemberSpec(5, IPv4Network(third)), BlockedMemberSpec(5, wide, LATE)),
        listeners=(
            ServerListenerSpec(1, server, tcp, 443, "web"),
            ServerListenerSpec(2, server, tcp, 25, "mail", 7),
            ServerListenerSpec(3, server6, udp, 53, "dns"),
            ServerListenerSpec(4, server6, tcp, 443, "web", 10),
        ),
        tariff_rates=(RateLimitSpec(3, IPv4Network(first), 625_000, 2_500_000), RateLimitSpec(3, inside, 625_000, 2_500_000)),
        rate_limits=(RateLimitSpec(8, IPv4Network(second), 125_000, 250_000, LATE), RateLimitSpec(8, wide, 125_000, 250_000, LATE)),
    )
