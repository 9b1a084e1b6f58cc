"""What is compared: the product's whole ruleset with everything on, the same without one thing, and a single masquerade rule."""

from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from benchmarks import networks
from firewall.policy import (
    Allowed,
    Ban,
    Block,
    Direction,
    Hole,
    Limits,
    Listener,
    Notice,
    Peer,
    Pinhole,
    Policy,
    Probe,
    Protection,
    Protocol,
    Reachable,
    Routing,
    Settings,
)

FEED = 120_000
MASQUERADE = 'table ip nat { chain out { type nat hook postrouting priority srcnat; oifname "wan0" masquerade; }; }'
PUBLICS = (IPv4Network("198.18.0.0/15"),)
SERVERS = tuple(IPv4Address("192.0.2.64") + n for n in range(20))
LIMITS = Limits(
    member_rate=100_000, member_burst=100_000, member_open=100_000, source_rate=100_000, source_burst=100_000, source_open=100_000,
    mail_rate=100, exempt=(IPv4Network("192.0.2.0/24"),),
)  # fmt: skip


def everything(members: int, bans: list[IPv4Address] | None = None) -> Policy:
    """A network with all that a group can switch on. bans: a feed's addresses, or as many invented ones as a large feed has."""
    plain = networks.policy(members)
    feed = _invented() if bans is None else bans
    return replace(
        plain,
        gateway=replace(
            plain.gateway,
            interfaces=replace(plain.gateway.interfaces, server="srv0"),
            probe=Probe("probe0", IPv4Address("172.31.254.2"), IPv4Address("192.0.2.251"), IPv6Address("2001:db8:ffff:b1::2")),
            settings=Settings(clamp_mss=True, flood_mode=False, publics=PUBLICS, protection=_protection(), limits=LIMITS, notice=_notice()),
        ),
        pinholes=tuple(Pinhole(n, Hole(_host6(n), Protocol.TCP, 443)) for n in range(members // 10)),
        bans=(*(Ban(n, IPv4Network(address)) for n, address in enumerate(feed)), *_prefixes_banned()),
        allowed=(Allowed(1, IPv4Network("9.9.9.9/32")), Allowed(2, IPv4Network("9.9.8.0/24")), Allowed(3, IPv6Network("2620:fe::/48"))),
        blocks=tuple(Block(n, IPv4Network(address)) for n, address in enumerate(plain.addresses[-members // 100 :])),
        listeners=tuple(Listener(n, address, Protocol.UDP, 53) for n, address in enumerate(SERVERS)),
    )


def _host6(member: int) -> IPv6Address:
    return IPv6Address(networks.PREFIXES + (member << 64) + 1)


def _invented() -> list[IPv4Address]:
    """Spread over addresses that nothing here uses."""
    return list(dict.fromkeys(IPv4Address((100 << 24) + (n * 2_654_435_761 % (1 << 22)) + (1 << 23)) for n in range(FEED)))


def _prefixes_banned() -> tuple[Ban, ...]:
    """Whole networks, some only one way, and IPv6: each length is a lookup of its own."""
    wide = [Ban(FEED + n, IPv4Network((101 << 24 | n << 8, 24))) for n in range(1000)]
    wide += [Ban(FEED + 2000 + n, IPv4Network((102 << 24 | n << 16, 16))) for n in range(100)]
    one_way = [Ban(FEED + 3000 + n, IPv4Network(f"103.0.{n}.0/24"), direction=way) for n, way in enumerate((Direction.IN, Direction.OUT))]
    six = [Ban(FEED + 4000 + length, IPv6Network((0x2A0E << 112, length))) for length in (32, 48, 64, 128)]
    return (*wide, *one_way, *six)


def _protection() -> Protection:
    peers = (Peer(IPv4Address("192.0.2.9"), Routing.BGP), Peer(IPv4Address("192.0.2.9"), Routing.OSPF))
    return Protection(bogons=True, own=PUBLICS, peers=peers, ftp_ports=(), sip_ports=())


def _notice() -> Notice:
    name_server = Reachable(IPv4Address("192.168.9.53"), Protocol.UDP, 53)
    return Notice(IPv4Address("192.168.9.80"), reachable=(name_server,))


def _set(policy: Policy, settings: Settings) -> Policy:
    return replace(policy, gateway=replace(policy.gateway, settings=settings))


def _without_servers(policy: Policy) -> Policy:
    gateway = replace(policy.gateway, interfaces=replace(policy.gateway.interfaces, server=""))
    plain = replace(policy, listeners=(), gateway=gateway)
    return _set(plain, replace(gateway.settings, notice=Notice()))


def _limited(policy: Policy, limits: Limits) -> Policy:
    return _set(policy, replace(policy.gateway.settings, limits=limits))


WITHOUT: dict[str, Callable[[Policy], Policy]] = {
    "bans": lambda policy: replace(policy, bans=(), allowed=()),
    "allow list": lambda policy: replace(policy, allowed=()),
    "listeners": lambda policy: replace(policy, listeners=()),
    "servers": _without_servers,
    "limits": lambda policy: _limited(policy, Limits()),
    "open limits": lambda policy: _limited(policy, replace(LIMITS, member_open=0, source_open=0)),
    "bogons": lambda policy: _set(policy, replace(policy.gateway.settings, protection=Protection())),
    "clamping": lambda policy: _set(policy, replace(policy.gateway.settings, clamp_mss=False)),
    "public pools": lambda policy: _set(policy, replace(policy.gateway.settings, publics=())),
    "probe": lambda policy: replace(policy, gateway=replace(policy.gateway, probe=None)),
    "IPv6 prefixes": lambda policy: replace(policy, prefixes=(), pinholes=()),
    "all of these": lambda policy: networks.policy(len(policy.addresses)),
}
