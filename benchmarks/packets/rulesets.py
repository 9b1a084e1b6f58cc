"""Competitors: the product's whole ruleset with everything on, the same without one feature, and a single masquerade rule."""

from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from benchmarks import networks
from firewall.policy import (
    AllowEntrySpec,
    BanDirection,
    BanSpec,
    BlockedMemberSpec,
    ConnectionLimits,
    GatewayGroupSettings,
    Hole,
    NoticeSpec,
    PinholeSpec,
    Policy,
    ProbeSpec,
    ProtectionSpec,
    ReachableService,
    RoutingPeer,
    RoutingProtocol,
    ServerListenerSpec,
    TransportProtocol,
)

FULL, PLAIN, WITH_QUEUES = "full", "masquerade", "queues"  # competitors; the last is the first with fair queues
FEED = 120_000
MASQUERADE = 'table ip nat { chain out { type nat hook postrouting priority srcnat; oifname "wan0" masquerade; }; }'
PUBLICS = (IPv4Network("198.18.0.0/15"),)
SERVERS = tuple(IPv4Address("192.0.2.64") + n for n in range(20))
LIMITS = ConnectionLimits(
    member_rate=100_000, member_burst=100_000, member_open=100_000, source_rate=100_000, source_burst=100_000, source_open=100_000,
    mail_rate=100, sampled=True, exempt=(IPv4Network("192.0.2.0/24"),),
)  # fmt: skip


def build_full_policy(members: int, bans: list[IPv4Address] | None = None) -> Policy:
    """Build a network with everything that a group can switch on. bans: a feed's addresses; None: as many invented ones as a
    large feed has.
    """
    plain = networks.build_policy(members)
    feed = invent_feed(FEED) if bans is None else bans
    return replace(
        plain,
        gateway=replace(
            plain.gateway,
            interfaces=replace(plain.gateway.interfaces, server="srv0"),
            probe=ProbeSpec("probe0", IPv4Address("172.31.254.2"), IPv4Address("192.0.2.251"), IPv6Address("2001:db8:ffff:b1::2")),
            settings=GatewayGroupSettings(
                clamp_mss=True, flood_mode=False, publics=PUBLICS, protection=_build_protection(), limits=LIMITS, notice=_build_notice()
            ),
        ),
        pinholes=tuple(PinholeSpec(n, Hole(_compute_host6(n), TransportProtocol.TCP, 443)) for n in range(members // 10)),
        bans=(*(BanSpec(n, IPv4Network(address)) for n, address in enumerate(feed)), *_build_prefix_bans()),
        allowed=(
            AllowEntrySpec(1, IPv4Network("9.9.9.9/32")),
            AllowEntrySpec(2, IPv4Network("9.9.8.0/24")),
            AllowEntrySpec(3, IPv6Network("2620:fe::/48")),
        ),
        blocks=tuple(BlockedMemberSpec(n, IPv4Network(address)) for n, address in enumerate(plain.addresses[-members // 100 :])),
        listeners=tuple(ServerListenerSpec(n, address, TransportProtocol.UDP, 53) for n, address in enumerate(SERVERS)),
    )


def _compute_host6(member: int) -> IPv6Address:
    return IPv6Address(networks.PREFIXES + (member << 64) + 1)


def invent_feed(number: int) -> list[IPv4Address]:
    """Return addresses spread over a range that nothing else here uses."""
    return list(dict.fromkeys(IPv4Address((100 << 24) + (n * 2_654_435_761 % (1 << 22)) + (1 << 23)) for n in range(number)))


def _build_prefix_bans() -> tuple[BanSpec, ...]:
    """Return bans of whole networks, some in one direction only, and of IPv6: each prefix length is a lookup of its own."""
    wide = [BanSpec(FEED + n, IPv4Network((101 << 24 | n << 8, 24))) for n in range(1000)]
    wide += [BanSpec(FEED + 2000 + n, IPv4Network((102 << 24 | n << 16, 16))) for n in range(100)]
    one_way = [
        BanSpec(FEED + 3000 + n, IPv4Network(f"103.0.{n}.0/24"), direction=way) for n, way in enumerate((BanDirection.IN, BanDirection.OUT))
    ]
    six = [BanSpec(FEED + 4000 + length, IPv6Network((0x2A0E << 112, length))) for length in (32, 48, 64, 128)]
    return (*wide, *one_way, *six)


def _build_protection() -> ProtectionSpec:
    peers = (RoutingPeer(IPv4Address("192.0.2.9"), RoutingProtocol.BGP), RoutingPeer(IPv4Address("192.0.2.9"), RoutingProtocol.OSPF))
    return ProtectionSpec(bogons=True, own=PUBLICS, peers=peers, ftp_ports=(), sip_ports=())


def _build_notice() -> NoticeSpec:
    name_server = ReachableService(IPv4Address("192.168.9.53"), TransportProtocol.UDP, 53)
    return NoticeSpec(IPv4Address("192.168.9.80"), reachable=(name_server,))


def _replace_settings(policy: Policy, settings: GatewayGroupSettings) -> Policy:
    return replace(policy, gateway=replace(policy.gateway, settings=settings))


def _remove_servers(policy: Policy) -> Policy:
    gateway = replace(policy.gateway, interfaces=replace(policy.gateway.interfaces, server=""))
    plain = replace(policy, listeners=(), gateway=gateway)
    return _replace_settings(plain, replace(gateway.settings, notice=NoticeSpec()))


def _replace_limits(policy: Policy, limits: ConnectionLimits) -> Policy:
    return _replace_settings(policy, replace(policy.gateway.settings, limits=limits))


WITHOUT: dict[str, Callable[[Policy], Policy]] = {
    "bans": lambda policy: replace(policy, bans=(), allowed=()),
    "allow list": lambda policy: replace(policy, allowed=()),
    "listeners": lambda policy: replace(policy, listeners=()),
    "servers": _remove_servers,
    "limits": lambda policy: _replace_limits(policy, ConnectionLimits()),
    "sampling": lambda policy: _replace_limits(policy, replace(LIMITS, sampled=False)),
    "open limits": lambda policy: _replace_limits(policy, replace(LIMITS, member_open=0, source_open=0)),
    "bogons": lambda policy: _replace_settings(policy, replace(policy.gateway.settings, protection=ProtectionSpec())),
    "clamping": lambda policy: _replace_settings(policy, replace(policy.gateway.settings, clamp_mss=False)),
    "public pools": lambda policy: _replace_settings(policy, replace(policy.gateway.settings, publics=())),
    "probe": lambda policy: replace(policy, gateway=replace(policy.gateway, probe=None)),
    "IPv6 prefixes": lambda policy: replace(policy, prefixes=(), pinholes=()),
    "all of these": lambda policy: networks.build_policy(len(policy.addresses)),
}
