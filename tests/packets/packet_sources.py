"""Sources and destinations of test packets: general ones, and those that concern a policy's own objects."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import NamedTuple

from firewall.policy import Address, Policy, Prefix, SharingMode, TransportProtocol
from tests.packets import scenes
from tests.packets.gateway_cables import CARDS
from tests.packets.scenes import FOREIGN, FOREIGN6, MEMBERS, MEMBERS6, OWN4, OWN6, PORTS, PUBLIC, SERVERS4, SERVERS6

TCP, UDP, ICMP, ESP, ICMPV6, OSPF, VRRP = 6, 17, 1, 50, 58, 89, 112
NUMBERS = {TransportProtocol.TCP: TCP, TransportProtocol.UDP: UDP}
ERRORS, ERRORS6 = (3, 11, 12, 4), (1, 2, 3, 4, 100)  # the last of each is a type that does not pass
NODE_INFORMATION, LISTENERS_QUERY, NEIGHBOUR_SOLICITATION, REDIRECT = 139, 130, 135, 137
PROTOCOLS = {version: [*[TCP, UDP, icmp] * 3, ESP, VRRP, OSPF] for version, icmp in ((4, ICMP), (6, ICMPV6))}
KINDS = {4: [8] * 8 + [0, *ERRORS], 6: [128] * 8 + [129, *ERRORS6, NODE_INFORMATION, LISTENERS_QUERY, NEIGHBOUR_SOLICITATION]}
SYNCED = IPv4Address("10.254.4.9")


class PacketWay(NamedTuple):
    """A set of possible packets: interfaces, sources and destinations. A pair of addresses always has one IP version.

    cards: interfaces where they arrive, "" if the gateway itself sends them; protocols, ports: of the destination, no protocols for
    any; own_ports: source ports, 0 for any; kinds: ICMP types, none for any.
    """

    cards: Sequence[str]
    sources: Sequence[Address]
    destinations: Sequence[Address]
    protocols: Sequence[int] = ()
    ports: Sequence[int] = PORTS
    own_ports: Sequence[int] = (0,)
    kinds: Sequence[int] = ()

    @property
    def pairs(self) -> list[tuple[Address, Address]]:
        """Return the pairs of source and destination that have the same IP version."""
        return [(one, other) for one in self.sources for other in self.destinations if one != other and one.version == other.version]


_ANYBODY4 = [*MEMBERS, *PUBLIC, *FOREIGN, *scenes.PRIVATE_ELSEWHERE, scenes.PROBE4, *SERVERS4]
_ANYBODY6 = [*MEMBERS6, *FOREIGN6, scenes.PROBE6, *SERVERS6]
ANYWHERE = [
    PacketWay(("lan0",), MEMBERS, FOREIGN),
    PacketWay(("lan0",), MEMBERS6, FOREIGN6),
    PacketWay(("wan0",), FOREIGN, PUBLIC),
    PacketWay(("wan0",), [*scenes.PRIVATE_ELSEWHERE, *MEMBERS, *SERVERS4], PUBLIC),
    PacketWay(("wan0",), [*MEMBERS6, *SERVERS6, *FOREIGN6], MEMBERS6),
    PacketWay(("lan0",), [*FOREIGN, *scenes.PRIVATE_ELSEWHERE, *MEMBERS], PUBLIC),
    PacketWay(("lan0",), MEMBERS, MEMBERS),
    PacketWay(("lan0",), MEMBERS6, MEMBERS6),
    PacketWay(("lan0",), [*MEMBERS, *MEMBERS6], [*SERVERS4, *SERVERS6]),
    PacketWay(("srv0",), [*MEMBERS, *MEMBERS6, *SERVERS4, *SERVERS6], [*FOREIGN, *FOREIGN6, *MEMBERS, *MEMBERS6]),
    PacketWay(CARDS, [*MEMBERS, *FOREIGN, *scenes.PRIVATE_ELSEWHERE], OWN4),
    PacketWay(CARDS, [*MEMBERS6, *FOREIGN6], OWN6),
    PacketWay(CARDS, _ANYBODY4, _ANYBODY4),
    PacketWay(CARDS, _ANYBODY6, _ANYBODY6),
]
_IN = ("lan0", "wan0")
# The gateway's own traffic: for the lines of `input` and of `raw_output`.
ITSELF = [
    PacketWay(("mgmt0",), [scenes.ADMIN4], OWN4, [TCP], [22]),
    PacketWay(("mgmt0",), [scenes.ADMIN6], OWN6, [TCP], [22]),
    PacketWay(("sync0",), [SYNCED], OWN4, [UDP], [3780]),
    PacketWay(_IN, [FOREIGN[0], MEMBERS[0]], OWN4, [TCP, OSPF, VRRP], [179]),
    PacketWay(_IN, [FOREIGN6[0]], OWN6, [TCP, OSPF, VRRP], [179]),
    PacketWay(_IN, [scenes.LINK_LOCAL], OWN6, [ICMPV6], kinds=[LISTENERS_QUERY]),
    PacketWay(_IN, [*MEMBERS6, *FOREIGN6], OWN6, [ICMPV6], kinds=[128, *ERRORS6]),
    PacketWay(("lan0", "wan0", "wan0"), FOREIGN6, OWN6, [ICMPV6], kinds=[NEIGHBOUR_SOLICITATION]),
    PacketWay(_IN, [*MEMBERS, *FOREIGN], OWN4, [ICMP], kinds=[8, *ERRORS]),
    PacketWay(("",), OWN4, [scenes.ADMIN4, SYNCED], [TCP, UDP], own_ports=[22, 0]),
    PacketWay(("",), OWN6, [scenes.ADMIN6], [TCP], own_ports=[22, 0]),
    PacketWay(("",), OWN6, MEMBERS6, [ICMPV6], kinds=[REDIRECT]),
    PacketWay(("",), [*OWN4, *OWN6], [*FOREIGN, *MEMBERS, *FOREIGN6, *MEMBERS6, *SERVERS4, *SERVERS6]),
]


def ways_of(policy: Policy) -> dict[str, list[PacketWay]]:
    """Return the packets that concern the policy's objects, by kind of object; only kinds that the policy has."""
    side = policy.gateway.interfaces.server or "lan0"
    found = {
        "itself": ITSELF,
        "members": _members(policy),
        "lies": _lies(),
        "servers": _servers() if policy.gateway.interfaces.server else [],
        "beside lanes": _beside_lanes(policy),
        "mappings": _mappings(policy),
        "forwards": [way for each in policy.forwards for way in _to(each.public, NUMBERS[each.protocol], each.public_port, each.ports)],
        "pinholes": _pinholes(policy),
        "bans": [way for each in policy.bans for way in _with(each.prefix)],
        "allowed": [way for each in policy.allowed for way in _with(each.prefix)],
        "blocks": [way for each in policy.blocks for way in _list_blocked_ways(each.prefix)],
        "listeners": [way for each in policy.listeners for way in _listener(side, each.address, NUMBERS[each.protocol], each.port)],
        "guards": _guards(policy),
        "probe": [PacketWay(("probe0",), [scenes.PROBE4, scenes.PROBE6], [*FOREIGN, *FOREIGN6])] if policy.gateway.probe else [],
    }
    possible = {kind: [way for way in ways if way.pairs] for kind, ways in found.items()}
    return {kind: ways for kind, ways in possible.items() if ways}


def _held6(policy: Policy) -> list[Address]:
    """Return members' IPv6 addresses inside an assigned prefix."""
    return [each for each in MEMBERS6 if any(each in prefix for prefix in policy.prefixes)]


def _members(policy: Policy) -> list[PacketWay]:
    """Return packets from members to the internet, to each other, and to public addresses, which perhaps have no forward."""
    held6 = _held6(policy)
    return [
        PacketWay(("lan0",), [*policy.addresses, *held6], [*FOREIGN, *FOREIGN6, *MEMBERS, *MEMBERS6]),
        PacketWay(("lan0",), policy.addresses, FOREIGN, [TCP], [25]),
        PacketWay(("lan0",), held6, FOREIGN6, [TCP], [25]),
        PacketWay(("lan0",), held6, FOREIGN6),
        PacketWay(("lan0",), held6, FOREIGN6, [ICMPV6], kinds=[NODE_INFORMATION, 128]),
        PacketWay(("lan0",), policy.addresses, PUBLIC),
    ]


def _beside_lanes(policy: Policy) -> list[PacketWay]:
    """Return IPv6 packets to servers from members and from outside. No direction's chains cover them, and chance alone makes too few."""
    if not policy.gateway.interfaces.server:
        return []
    return [PacketWay(("lan0",), _held6(policy), SERVERS6, [TCP, UDP]), PacketWay(("wan0",), FOREIGN6, SERVERS6, [TCP, UDP])]


def _lies() -> list[PacketWay]:
    """Return packets with spoofed sources."""
    return [
        PacketWay(("lan0",), [*FOREIGN, *scenes.PRIVATE_ELSEWHERE], [*PUBLIC, *FOREIGN, *MEMBERS]),
        PacketWay(("lan0",), [*FOREIGN6, *SERVERS6], [*FOREIGN6, *MEMBERS6]),
        PacketWay(("wan0",), [*scenes.PRIVATE_ELSEWHERE, *MEMBERS, *PUBLIC], [*MEMBERS, *SERVERS4, *PUBLIC]),
        PacketWay(("wan0",), FOREIGN, [*MEMBERS, *scenes.PRIVATE_ELSEWHERE]),
        PacketWay(("wan0",), MEMBERS6, [*MEMBERS6, *SERVERS6]),
    ]


def _servers() -> list[PacketWay]:
    """Return packets to servers and from servers."""
    return [
        PacketWay(("lan0",), [*MEMBERS, *MEMBERS6], [*SERVERS4, *SERVERS6, scenes.NOTICE4, scenes.NOTICE6]),
        PacketWay(("srv0",), [*SERVERS4, *SERVERS6], [*FOREIGN, *FOREIGN6]),
        PacketWay(("wan0",), [*FOREIGN, *FOREIGN6], [*SERVERS4, *SERVERS6]),
        PacketWay(("srv0",), [*MEMBERS, *MEMBERS6], [*FOREIGN, *FOREIGN6, *MEMBERS, *MEMBERS6]),
    ]


def _mappings(policy: Policy) -> list[PacketWay]:
    """Return packets for each kind of sharing. All kinds are equally frequent, and so are packets without ports."""
    ways = []
    for sharing in SharingMode:
        mapped = [each.private for each in policy.mappings if each.sharing is sharing and each.private in MEMBERS]
        if mapped:
            ways += [PacketWay(("lan0",), mapped, FOREIGN), PacketWay(("lan0",), mapped, FOREIGN, [TCP, UDP, ICMP, ESP])]
            ways += [PacketWay(("lan0",), mapped, [each.public], [NUMBERS[each.protocol]], [each.public_port]) for each in policy.forwards]
    return ways


def _to(address: Address, protocol: int, port: int, ports: int) -> list[PacketWay]:
    """Return packets to the address from outside and from inside."""
    foreign, members = _of(address.version)
    there = [*range(port, port + ports), port]
    return [PacketWay(("wan0",), foreign, [address], [protocol], there), PacketWay(("lan0",), members, [address], [protocol], there)]


def _pinholes(policy: Policy) -> list[PacketWay]:
    ways = []
    for each in policy.pinholes:
        ways += _to(each.hole.address, NUMBERS[each.hole.protocol or TransportProtocol.TCP], each.hole.port or 443, each.hole.ports)
        ways += [PacketWay(_IN, [*FOREIGN6, *MEMBERS6], [each.hole.address])]
    return ways


def _with(prefix: Prefix) -> list[PacketWay]:
    """Return packets to and from hosts inside the prefix."""
    foreign, members = _of(prefix.version)
    those = [each for each in foreign if each in prefix]
    reached = [*PUBLIC, *SERVERS4] if prefix.version == 4 else [*MEMBERS6, *SERVERS6]
    return [PacketWay(("wan0",), those, reached), PacketWay(("lan0",), members, those)] if those else []


def _list_blocked_ways(prefix: Prefix) -> list[PacketWay]:
    """Return packets from and to a blocked member: web requests, services that stay reachable, and anything else."""
    foreign, members = _of(prefix.version)
    those = [each for each in members if each in prefix]
    servers: list[Address] = [*SERVERS4, scenes.NOTICE4] if isinstance(prefix, IPv4Network) else [*SERVERS6, scenes.NOTICE6]
    return [
        PacketWay(("lan0",), those, foreign, [TCP], [80]),
        PacketWay(("lan0",), those, foreign[:1], [TCP], [80, 443]),
        PacketWay(("lan0",), those, servers, [TCP, UDP], [80, 443, 51820]),
        PacketWay(("lan0",), those, [SERVERS4[2], SERVERS6[0]], [UDP], [51820]),
        PacketWay(("lan0",), those, [*servers, *foreign]),
        PacketWay(("lan0", "srv0"), [each for each in [*members, *SERVERS4, *SERVERS6] if each.version == prefix.version], those),
        PacketWay(("wan0",), foreign, those),
    ]


def _listener(side: str, address: Address, protocol: int, port: int) -> list[PacketWay]:
    """Return packets to a listener, back from it, and ICMP errors to its host."""
    foreign, members = _of(address.version)
    icmp, errors = (ICMP, ERRORS) if address.version == 4 else (ICMPV6, ERRORS6)
    there = [each for each in scenes.SERVERS if each.version == address.version and each != address]
    return [
        PacketWay(("wan0",), foreign, [address], [protocol], [port]),
        PacketWay(("lan0", "srv0"), [*members, *there], [address], [protocol], [port]),
        PacketWay((side,), [address], [*foreign, *members], [protocol], own_ports=[port]),
        PacketWay(("wan0", side), [*foreign, *members], [address], [icmp], kinds=errors[:-1]),
        PacketWay(("wan0",), [address], [*members, *there]),
    ]


def _guards(policy: Policy) -> list[PacketWay]:
    """Return packets from blocked members to guarded services, over IPv4 only, because there are no others."""
    blocked = [each for each in MEMBERS if any(each in block.prefix for block in policy.blocks if block.prefix.version == 4)]
    return [PacketWay(("lan0",), blocked, [each.address], [TCP], [each.port]) for each in policy.listeners if each.window_scale is not None]


def _of(version: int) -> tuple[Sequence[Address], Sequence[Address]]:
    """Return foreign hosts and members of this IP version."""
    return (FOREIGN, MEMBERS) if version == 4 else (FOREIGN6, MEMBERS6)
