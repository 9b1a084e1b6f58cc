"""Policies of networks of any size, for measurements."""

from ipaddress import IPv4Address, IPv4Network, IPv6Network

from firewall.policy import BanSpec, ForwardSpec, GatewaySpec, Interfaces, Management, NatMappingSpec, Policy, TransportProtocol

GATEWAY = GatewaySpec("nat-1", Interfaces("lan0", "wan0", "mgmt0", "sync0"), Management((IPv4Network("172.31.0.0/24"),)))
PRIVATE, PUBLIC, BANNED = 10 << 24, 198 << 24 | 18 << 16, 203 << 24  # 198.18.0.0/15 is for benchmarks (RFC 2544)
PREFIXES = 0x20010DB8 << 96


def build_policy(members: int) -> Policy:
    """Build a network: each member has an address, a mapping and a prefix; 15 % have three forwards; there are 55 bans for 100 members."""
    return Policy(
        GATEWAY,
        addresses=tuple(IPv4Address(PRIVATE + at) for at in range(members)),
        prefixes=tuple(IPv6Network((PREFIXES + (at << 64), 64)) for at in range(members)),
        mappings=tuple(NatMappingSpec(IPv4Address(PRIVATE + at), _compute_public(at)) for at in range(members)),
        forwards=tuple(build_forward(at, number) for at in range(members * 15 // 100) for number in range(3)),
        bans=tuple(BanSpec(at, IPv4Network((BANNED + at, 32)), f"seen {at} times" if at % 2 else "") for at in range(members * 55 // 100)),
    )


def build_one_member(at: int) -> Policy:
    """Build the part of one more member: an address, a mapping, a prefix, three forwards."""
    address = IPv4Address(PRIVATE + at)
    return Policy(
        GATEWAY,
        addresses=(address,),
        prefixes=(IPv6Network((PREFIXES + (at << 64), 64)),),
        mappings=(NatMappingSpec(address, _compute_public(at)),),
        forwards=tuple(build_forward(at, number) for number in range(3)),
    )


def build_forward(at: int, number: int) -> ForwardSpec:
    """Build the member's forward of that number."""
    port = 1024 + (at // 256 * 3 + number) % 64_000
    return ForwardSpec(at * 3 + number, TransportProtocol.TCP, _compute_public(at), port, IPv4Address(PRIVATE + at), 8080 + number)


def _compute_public(at: int) -> IPv4Address:
    return IPv4Address(PUBLIC + at % 256)
