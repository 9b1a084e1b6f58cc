"""A policy's promise about a connection's first packet, derived from the policy alone, is what its ruleset does.

`compute_promise` uses the policy's own terms, without sets and chains. Where it differs from the trace, one of them is wrong;
tests/packets compares the trace with the kernel. Servers and their listeners are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address
from random import Random

from firewall.addresses import PRIVATE
from firewall.bogons import BOGONS4, BOGONS6
from firewall.compile import compile_policy
from firewall.policy import Address, AllowEntrySpec, BanDirection, BanSpec, ForwardSpec, Hole, NoticeSpec, Policy, Prefix, SharingMode
from firewall.tracing import ConntrackState, Icmp, Packet, Trace, TraceOutcome, trace
from firewall.tracing.tracking import compute_state
from tests.packets.events import First, events
from tests.packets.gateway_cables import ROUTES
from tests.packets.packet_sources import ICMP, ICMPV6
from tests.packets.scenes import MANAGED, NOW, policy

PROTOCOLS = {"tcp": 6, "udp": 17}
ECHO = {4: 8, 6: 128}


@dataclass(frozen=True)
class Promise:
    """A forwarded packet: the interface by which it leaves, and its ends then."""

    interface: str
    source: Address
    destination: Address
    port: int


def first_packet(event: First) -> Packet:
    if event.protocol in (ICMP, ICMPV6):
        return Packet(event.card, event.source, event.destination, event.protocol, icmp=Icmp(event.icmp, id=event.source_class))
    ports = (event.source_class, event.port) if event.protocol in PROTOCOLS.values() else (0, 0)
    return Packet(event.card, event.source, event.destination, event.protocol, *ports, flags=event.flags)


def without_servers(policy: Policy) -> Policy:
    gateway = policy.gateway
    settings = replace(gateway.settings, notice=NoticeSpec())
    return replace(policy, listeners=(), gateway=replace(gateway, interfaces=MANAGED.interfaces, settings=settings))


def case(seed: int) -> tuple[Policy, list[Packet]]:
    """Return a random policy, and first packets of connections through its gateway."""
    random = Random(seed)
    about = without_servers(policy(random))
    return about, [first_packet(each) for each in events(random, about) if isinstance(each, First) and each.card]


def compute_promise(policy: Policy, packet: Packet) -> Promise | None:
    """Return what becomes of a connection's first packet, not sent to the gateway itself; None if it is not forwarded."""
    at, forward = policy.gateway.interfaces, forward_of(policy, packet)
    destination, port = follow_forward(forward, packet) if forward else (packet.destination, packet.destination_port)
    leaves = ROUTES.find_interface(destination)
    if packet.version == 6 and packet.icmp and not is_echo6(packet):
        return None
    if not leaves or (packet.interface == at.wan and is_banned(policy, packet.source, BanDirection.IN)):
        return None
    if leaves == at.wan and is_banned(policy, destination, BanDirection.OUT):
        return None
    if (packet.interface == at.wan and bogon(policy, packet.source)) or (leaves == at.wan and bogon(policy, destination)):
        return None
    if is_blocked(policy, packet.source) or is_blocked(policy, destination):
        return None
    member, target = holds(policy, packet.source), holds(policy, destination)
    match packet.interface, leaves:
        case (at.lan, at.wan) if member:
            return outside(policy, packet, destination, port)
        case (at.lan, at.lan) if member and target and forward:
            return Promise(leaves, public_of(policy, packet) or own(at.lan), destination, port)
        case (at.lan, at.lan) if member and target and (is_echo6(packet) or is_open(policy, packet)):
            return Promise(leaves, packet.source, destination, port)
        case (at.wan, at.lan) if target and believable(policy, packet) and (forward or is_echo6(packet) or is_open(policy, packet)):
            return Promise(leaves, packet.source, destination, port)
        case ("probe0", at.wan) if policy.gateway.probe and packet.source in (policy.gateway.probe.source4, policy.gateway.probe.source6):
            return outside(policy, packet, destination, port)
    return None


def outside(policy: Policy, packet: Packet, destination: Address, port: int) -> Promise | None:
    """Return the promise for a packet to the internet: IPv6 keeps its source, IPv4 gets a public one."""
    source = packet.source if packet.version == 6 else public_of(policy, packet)
    return Promise(policy.gateway.interfaces.wan, source, destination, port) if source else None


def forward_of(policy: Policy, packet: Packet) -> ForwardSpec | None:
    at = policy.gateway.interfaces
    if packet.interface not in (at.lan, at.wan):
        return None
    wanted = (packet.protocol, packet.destination)
    there = [each for each in policy.forwards if (PROTOCOLS[each.protocol], each.public) == wanted]
    return next((each for each in there if 0 <= packet.destination_port - each.public_port < each.ports), None)


def follow_forward(forward: ForwardSpec, packet: Packet) -> tuple[Address, int]:
    return forward.private, forward.private_port + packet.destination_port - forward.public_port


def own(interface: str) -> Address:
    address = ROUTES.find_interface_address(interface, 4)
    assert address
    return address


def is_open(policy: Policy, packet: Packet) -> bool:
    return any(opens(each.hole, packet) for each in policy.pinholes)


def opens(hole: Hole, packet: Packet) -> bool:
    protocol = hole.protocol is None or PROTOCOLS[hole.protocol] == packet.protocol
    port = not hole.port or 0 <= packet.destination_port - hole.port < hole.ports
    return hole.address == packet.destination and protocol and port


def is_banned(policy: Policy, address: Address, way: BanDirection) -> bool:
    """Return whether a ban covers the address in this direction and no allow entry does."""
    bans = [each for each in policy.bans if each.direction in (way, BanDirection.BOTH)]
    return is_covered(bans, address) and not is_covered(policy.allowed, address)


def is_covered(by: Sequence[BanSpec | AllowEntrySpec], address: Address) -> bool:
    return any(address in each.prefix for each in by if not 0 < each.expires <= NOW and each.prefix.version == address.version)


def bogon(policy: Policy, address: Address) -> bool:
    """Return whether the group filters bogons and the address is one."""
    protection = policy.gateway.settings.protection
    bogons: tuple[Prefix, ...] = (*BOGONS4, *BOGONS6)
    return protection.bogons and any(address in each for each in bogons) and not any(address in each for each in protection.own)


def is_blocked(policy: Policy, address: Address) -> bool:
    """Return whether a member with this address is blocked; in these policies nothing stays reachable for them."""
    return any(address in each.prefix for each in policy.blocks if not 0 < each.expires <= NOW and each.prefix.version == address.version)


def holds(policy: Policy, address: Address) -> bool:
    return address in policy.addresses or any(address in prefix for prefix in policy.prefixes if address.version == 6)


def believable(policy: Policy, packet: Packet) -> bool:
    """Return whether a host outside can have this source."""
    private = isinstance(packet.source, IPv4Address) and any(packet.source in each for each in PRIVATE)
    return not private and not (packet.version == 6 and holds(policy, packet.source))


def is_echo6(packet: Packet) -> bool:
    return packet.version == 6 and packet.icmp is not None and packet.icmp.type == ECHO[6]


def public_of(policy: Policy, packet: Packet) -> Address | None:
    """Return the sender's public address. None without a mapping, and for protocols without ports if the sender has a port block."""
    mapping = next((each for each in policy.mappings if each.private == packet.source), None)
    if mapping is None or (mapping.sharing is SharingMode.BLOCKS and packet.protocol not in (ICMP, *PROTOCOLS.values())):
        return None
    return mapping.public


def read_promise(found: Trace) -> Promise | None:
    if found.outcome is not TraceOutcome.FORWARDED or found.leaves is None:
        return None
    ends = found.leaves.get_ends()
    return Promise(found.leaves.interface, ends.source, ends.destination, ends.destination_port)


def test_a_first_packet_fares_as_the_policy_promises() -> None:
    for seed in range(300):
        fares_as_promised(*case(seed))


def fares_as_promised(policy: Policy, packets: list[Packet]) -> None:
    ruleset = compile_policy(policy)
    for packet in packets:
        if ROUTES.is_own(packet.destination):
            continue
        found = trace(ruleset, packet, ROUTES, now=NOW)
        wanted = compute_promise(policy, packet) if compute_state(packet) is ConntrackState.NEW else None
        if found.state is ConntrackState.UNTRACKED:  # packets from the sync interface, or to the management port, are never forwarded
            wanted = None
        assert read_promise(found) == wanted, f"{packet}\n{policy}"
        if wanted:
            assert read_bill(found) == compute_bill(policy, packet, wanted), f"{packet}\n{policy}"


def compute_bill(policy: Policy, packet: Packet, leaves: Promise) -> tuple[int, int]:
    """Return the counts up and down: a packet counts once for each member at its ends."""
    return int(holds(policy, packet.source)), int(holds(policy, leaves.destination))


def read_bill(found: Trace) -> tuple[int, int]:
    up = sum(number for (name, _), number in found.elements.items() if name.startswith("up"))
    down = sum(number for (name, _), number in found.elements.items() if name.startswith("down"))
    return up, down


def test_a_packet_that_is_not_forwarded_counts_for_no_member() -> None:
    """A packet spoofed in a member's name must not use up the member's traffic, nor must a member's packet that is dropped."""
    for seed in range(2000, 2300):
        random = Random(seed)
        about = policy(random)
        bills_nothing_dropped(about, [first_packet(each) for each in events(random, about) if isinstance(each, First) and each.card])


def bills_nothing_dropped(policy: Policy, packets: list[Packet]) -> None:
    ruleset = compile_policy(policy)
    for packet in packets:
        found = trace(ruleset, packet, ROUTES, now=NOW)
        if found.outcome is not TraceOutcome.FORWARDED:
            passed = ", ".join(step.chain.name for step in found.steps)
            assert read_bill(found) == (0, 0), f"{packet} {found.outcome} {passed}\n{policy}"


def test_nothing_private_ever_leaves_by_the_uplink() -> None:
    for seed in range(1000, 1150):
        nothing_private_leaves(policy(Random(seed)), case(seed)[1])


def nothing_private_leaves(policy: Policy, packets: list[Packet]) -> None:
    ruleset = compile_policy(policy)
    for packet in packets:
        found = trace(ruleset, packet, ROUTES, now=NOW)
        for each in filter(None, (found, found.answer)):
            if each.outcome is TraceOutcome.FORWARDED and each.leaves and each.leaves.interface == policy.gateway.interfaces.wan:
                source = each.leaves.packet.source
                assert source.version == 6 or not any(source in private for private in PRIVATE), packet
