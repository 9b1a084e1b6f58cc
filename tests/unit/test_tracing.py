"""Traces of packets through compiled policies whose answer is evident from the policy."""

from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import get_args

import pytest

from firewall.compile import compile_policy
from firewall.policy import (
    BanSpec,
    BlockedMemberSpec,
    ForwardSpec,
    GatewayGroupSettings,
    NatMappingSpec,
    Policy,
    ServerListenerSpec,
    SharingMode,
    TransportProtocol,
)
from firewall.ruleset import Chain, Field, Hook, HookPriority, Match, Part, RejectType, Rule, Ruleset, Verdict, VerdictAction
from firewall.tracing import (
    ConntrackState,
    Endpoints,
    GatewayRoute,
    Icmp,
    LeavingPacket,
    Packet,
    RoutingTable,
    Trace,
    TraceError,
    TraceOutcome,
    trace,
    trace_flow,
)
from firewall.tracing.fields import READERS
from firewall.tracing.part_effects import HANDLERS
from firewall.tracing.ports import list_candidate_ports
from tests.policies import NAT_1, PROBE, PROBED, PROBES_MAPPING

NOW = 1_800_000_000
MEMBER, OTHER, PUBLIC, FOREIGN = map(IPv4Address, ("10.16.0.10", "10.16.0.11", "198.51.100.7", "203.0.113.9"))
MEMBER6, FOREIGN6 = IPv6Address("2001:db8:a0:10::7"), IPv6Address("2001:db8:ffff::1")
ROUTES = RoutingTable(
    (
        GatewayRoute(IPv4Network("10.16.0.0/16"), "lan0"),
        GatewayRoute(IPv4Network("198.51.100.0/24"), ""),
        GatewayRoute(IPv4Network("0.0.0.0/0"), "wan0"),
        GatewayRoute(IPv6Network("2001:db8:a0::/44"), "lan0"),
        GatewayRoute(IPv6Network("::/0"), "wan0"),
    ),
    (("wan0", IPv4Address("192.0.2.1")), ("lan0", IPv4Address("10.16.255.1"))),
)
POLICY = Policy(
    NAT_1,
    addresses=(MEMBER, OTHER),
    prefixes=(IPv6Network("2001:db8:a0:10::/64"),),
    mappings=(NatMappingSpec(MEMBER, PUBLIC), NatMappingSpec(OTHER, PUBLIC)),
    forwards=(ForwardSpec(1, TransportProtocol.TCP, PUBLIC, 8443, MEMBER, 443),),
)


def trace_packet(packet: Packet, policy: Policy = POLICY, now: int = NOW) -> Trace:
    return trace(compile_policy(policy), packet, ROUTES, now=now)


def tcp(interface: str, source: object, destination: object, port: int, source_port: int = 50122) -> Packet:
    return Packet(interface, ip_address(str(source)), ip_address(str(destination)), 6, source_port, port)


def get_leaving(packet: Trace) -> LeavingPacket:
    assert packet.leaves, packet.outcome
    return packet.leaves


def add_ban(prefix: str, expires: int = 0) -> Policy:
    return replace(POLICY, bans=(BanSpec(1, IPv4Network(prefix), "scans", expires),))


def test_every_kind_of_part_has_a_function_and_every_field_a_reader() -> None:
    assert set(HANDLERS) == set(get_args(Part))
    assert set(READERS) == set(Field)


def test_a_part_that_no_trace_knows_is_refused_aloud() -> None:
    @dataclass(frozen=True)
    class Teleport:
        """A part that no kernel has."""

    chain = Chain("forward", (Rule((Teleport(),)),), Hook("filter", "forward", HookPriority.FILTER))  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TraceError, match="Teleport"):
        trace(Ruleset({"forward": chain}), tcp("lan0", MEMBER, FOREIGN, 443), ROUTES, now=NOW)


@pytest.mark.parametrize("value", ["no-such-type", "dnat"])
def test_a_symbol_that_no_trace_knows_is_refused_aloud(value: str) -> None:
    rule = Rule((Match(Field.ICMP_TYPE, (value,)), Verdict(VerdictAction.DROP)))
    chain = Chain("forward", (rule,), Hook("filter", "forward", HookPriority.FILTER))
    echo = Packet("lan0", MEMBER, FOREIGN, 1, icmp=Icmp(8))
    with pytest.raises(TraceError, match=value):
        trace(Ruleset({"forward": chain}), echo, ROUTES, now=NOW)


def test_a_member_leaves_as_his_public_address_from_a_port_that_the_kernel_chooses() -> None:
    found = trace_packet(tcp("lan0", MEMBER, FOREIGN, 443))
    leaves = get_leaving(found)
    assert (found.outcome, found.state, leaves.interface) == (TraceOutcome.FORWARDED, ConntrackState.NEW, "wan0")
    assert (leaves.packet.source, leaves.packet.destination, leaves.packet.destination_port) == (PUBLIC, FOREIGN, 443)
    assert leaves.source_ports == range(1024, 32768)
    assert found.elements == {("up4", MEMBER.packed): 1}


@pytest.mark.parametrize(("port", "chosen"), [(123, range(1, 512)), (700, range(600, 1024)), (1024, range(1024, 65536))])
def test_a_drawn_port_is_of_the_class_of_the_members_own(port: int, chosen: range) -> None:
    assert list_candidate_ports(tcp("lan0", MEMBER, FOREIGN, 443, source_port=port), random=True) == chosen


@pytest.mark.parametrize(("port", "chosen"), [(123, range(1024, 32768)), (3074, range(3074, 3075)), (49152, range(1024, 32768))])
def test_a_shared_address_keeps_no_port_that_systems_draw(port: int, chosen: range) -> None:
    assert get_leaving(trace_packet(tcp("lan0", MEMBER, FOREIGN, 443, source_port=port))).source_ports == chosen


def test_a_port_stays_where_nat_keeps_it_and_within_its_block_where_there_is_one() -> None:
    ours, block = tcp("lan0", MEMBER, FOREIGN, 443), range(2048, 4096)
    assert list_candidate_ports(ours, random=False) == range(50122, 50123)
    assert list_candidate_ports(ours, random=False, within=block) == block
    assert list_candidate_ports(replace(ours, source_port=3000), random=False, within=block) == range(3000, 3001)
    assert list_candidate_ports(replace(ours, source_port=3000), random=True, within=block) == block
    assert list_candidate_ports(replace(ours, protocol=50, source_port=0), random=True, within=block) == range(1)


def test_a_forward_leads_to_its_member_and_the_path_names_the_element() -> None:
    found = trace_packet(tcp("wan0", FOREIGN, PUBLIC, 8443))
    assert get_leaving(found).get_ends() == Endpoints(FOREIGN, MEMBER, 50122, 443)
    [(name, key)] = [(read.set, read.key) for step in found.steps for read in step.reads if read.set == "forward4"]
    assert (name, key) == ("forward4", PUBLIC.packed + b"\x06\0\0\0" + (8443).to_bytes(2) + b"\0\0")
    assert found.elements == {("down4", MEMBER.packed): 1}


def test_a_member_reaches_a_forward_from_inside_and_its_host_sees_a_public_address() -> None:
    leaves = get_leaving(trace_packet(tcp("lan0", OTHER, PUBLIC, 8443)))
    assert (leaves.interface, leaves.get_ends()) == ("lan0", Endpoints(PUBLIC, MEMBER, 1024, 443))


def test_a_member_without_a_public_address_reaches_a_forward_from_inside_also_if_the_gateways_address_there_is_not_known() -> None:
    ruleset = compile_policy(replace(POLICY, mappings=POLICY.mappings[:1]))
    packet = tcp("lan0", OTHER, PUBLIC, 8443)
    known, unknown = (trace_flow(ruleset, packet, routes, now=NOW) for routes in (ROUTES, RoutingTable(ROUTES.routes)))
    assert get_leaving(known.first).get_ends() == Endpoints(IPv4Address("10.16.255.1"), MEMBER, 50122, 443)
    assert get_leaving(known.first).source_known and not get_leaving(unknown.first).source_known
    assert get_leaving(unknown.first).get_ends() == Endpoints(OTHER, MEMBER, 50122, 443)
    assert [each and each.outcome for each in (unknown.answer, unknown.next)] == [TraceOutcome.FORWARDED] * 2


def test_a_public_port_without_a_forward_leads_nowhere() -> None:
    assert trace_packet(tcp("wan0", FOREIGN, PUBLIC, 80)).outcome is TraceOutcome.UNROUTED


@pytest.mark.parametrize("packet", [tcp("wan0", FOREIGN, PUBLIC, 8443), tcp("lan0", MEMBER, FOREIGN, 443)])
def test_a_ban_drops_both_ways_and_is_the_step_that_decided(packet: Packet) -> None:
    found = trace_packet(packet, add_ban("203.0.113.0/24"))
    assert found.outcome is TraceOutcome.DROPPED
    assert found.deciding_step and found.deciding_step.chain.name in ("bans_from4", "bans_to4", "bans_from6", "bans_to6")
    assert found.elements == {("bans4_24", IPv4Address("203.0.113.0").packed): 1}


@pytest.mark.parametrize(("at", "outcome"), [(NOW - 1, TraceOutcome.DROPPED), (NOW, TraceOutcome.FORWARDED)])
def test_a_ban_ends_with_its_time(at: int, outcome: TraceOutcome) -> None:
    assert trace_packet(tcp("wan0", FOREIGN, PUBLIC, 8443), add_ban("203.0.113.9/32", expires=NOW), at).outcome is outcome


def test_whom_nobody_knows_is_spoofed_and_counted() -> None:
    found = trace_packet(tcp("lan0", "10.16.9.9", FOREIGN, 443))
    assert (found.outcome, found.counters, found.elements) == (TraceOutcome.DROPPED, {"spoofed": 1}, {})


def test_an_ipv6_member_is_refused_from_outside_and_the_sender_is_told() -> None:
    found = trace_packet(tcp("wan0", FOREIGN6, MEMBER6, 22))
    assert (found.outcome, found.refusal, found.counters) == (TraceOutcome.REJECTED, RejectType.TCP_RESET, {"refused": 1})
    assert found.answer and get_leaving(found.answer).get_ends() == Endpoints(MEMBER6, FOREIGN6, 22, 50122)
    assert get_leaving(found.answer).packet.flags == {"rst", "ack"}


def test_what_comes_with_an_ack_is_reset_without_one() -> None:
    at = "2001:db8:99::1"
    policy = replace(
        POLICY,
        listeners=(ServerListenerSpec(1, IPv6Address(at), TransportProtocol.TCP, 443),),
        blocks=(BlockedMemberSpec(1, POLICY.prefixes[0]),),
    )
    found = trace_packet(replace(tcp("lan0", MEMBER6, at, 443), flags=frozenset({"ack"})), policy)
    assert found.answer and found.answer.packet.flags == {"rst"}


def test_who_is_refused_at_a_forward_hears_so_from_where_he_called() -> None:
    policy = replace(
        POLICY,
        forwards=(ForwardSpec(1, TransportProtocol.UDP, PUBLIC, 8443, MEMBER, 443),),
        blocks=(BlockedMemberSpec(1, IPv4Network(f"{MEMBER}/32")),),
    )
    found = trace_packet(replace(tcp("wan0", FOREIGN, PUBLIC, 8443), protocol=17), policy)
    assert found.answer and get_leaving(found.answer).packet.source == PUBLIC
    assert get_leaving(found.answer).packet.icmp == Icmp(3, 13, quoted=Endpoints(FOREIGN, PUBLIC, 50122, 8443))


def test_what_comes_from_outside_to_a_private_address_is_dropped_without_a_refusal_that_would_leak() -> None:
    found = trace_packet(tcp("wan0", FOREIGN, MEMBER, 22))
    assert (found.outcome, found.answer, found.counters) == (TraceOutcome.DROPPED, None, {"misdirected": 1})


def test_our_own_public_address_from_outside_is_forged() -> None:
    publics = (IPv4Network(f"{PUBLIC}/32"), IPv4Network("10.0.0.0/24"))  # a pool inside a private prefix causes no overlap
    ours = replace(POLICY, gateway=replace(POLICY.gateway, settings=GatewayGroupSettings(publics=publics)))
    assert trace_packet(tcp("wan0", PUBLIC, PUBLIC, 8443), ours).counters == {"spoofed": 1}
    assert trace_packet(tcp("wan0", FOREIGN, PUBLIC, 8443), ours).outcome is TraceOutcome.FORWARDED


def test_a_member_without_a_mapping_does_not_leave() -> None:
    found = trace_packet(tcp("lan0", MEMBER, FOREIGN, 443), replace(POLICY, mappings=()))
    assert (found.outcome, found.counters) == (TraceOutcome.REJECTED, {"unmapped": 1, "refused": 1})


BLOCK = NatMappingSpec(MEMBER, PUBLIC, SharingMode.BLOCKS, 2048, 3071)


@pytest.mark.parametrize(
    ("mapping", "protocol", "port", "chosen"),
    [
        (BLOCK, 6, 50122, range(2048, 3072)),
        (BLOCK, 6, 2050, range(2050, 2051)),
        (BLOCK, 17, 50122, range(2048, 3072)),
        (BLOCK, 17, 2050, range(2050, 2051)),
        (NatMappingSpec(MEMBER, PUBLIC, SharingMode.OWN), 6, 50122, range(50122, 50123)),
        (NatMappingSpec(MEMBER, PUBLIC, SharingMode.OWN), 17, 50122, range(50122, 50123)),
    ],
)
def test_the_port_is_kept_or_drawn_as_the_address_is_shared(mapping: NatMappingSpec, protocol: int, port: int, chosen: range) -> None:
    packet = replace(tcp("lan0", MEMBER, FOREIGN, 443, port), protocol=protocol)
    leaves = get_leaving(trace_packet(packet, replace(POLICY, mappings=(mapping,))))
    assert (leaves.packet.source, leaves.source_ports) == (PUBLIC, chosen)


def test_a_block_lets_out_nothing_that_has_no_ports() -> None:
    packet = Packet("lan0", MEMBER, ip_address(str(FOREIGN)), 47)
    found = trace_packet(packet, replace(POLICY, mappings=(BLOCK,)))
    assert (found.outcome, found.counters) == (TraceOutcome.REJECTED, {"portless": 1, "refused": 1})


def test_an_answer_comes_back_to_the_member_and_the_next_packet_keeps_its_port() -> None:
    talk = trace_flow(compile_policy(POLICY), tcp("lan0", MEMBER, FOREIGN, 443), ROUTES, now=NOW)
    assert talk.answer and get_leaving(talk.answer).get_ends() == Endpoints(FOREIGN, MEMBER, 443, 50122)
    assert talk.answer.elements == {("down4", MEMBER.packed): 1}
    assert talk.next and talk.next.state is ConntrackState.ESTABLISHED
    assert get_leaving(talk.next).get_ends() == get_leaving(talk.first).get_ends()


def test_an_echo_keeps_its_two_ids_apart() -> None:
    echo = Packet("lan0", MEMBER, FOREIGN, 1, icmp=Icmp(8, id=77))
    talk = trace_flow(compile_policy(POLICY), echo, ROUTES, now=NOW)
    assert get_leaving(talk.first).source_ports == range(1024, 32768)
    assert talk.answer and talk.answer.packet.icmp == Icmp(0, id=1024)
    assert get_leaving(talk.answer).packet.icmp == Icmp(0, id=77)


def test_an_error_about_a_members_packet_finds_its_way_back() -> None:
    first = trace_packet(tcp("lan0", MEMBER, FOREIGN, 443))
    flow = first.build_tracked_connection(source_port=40_000)
    error = Packet("wan0", IPv4Address("192.0.2.50"), PUBLIC, 1, icmp=Icmp(11, quoted=get_leaving(first).get_ends(40_000)), flow=flow)
    found = trace_packet(error)
    assert (found.state, get_leaving(found).packet.destination) == (ConntrackState.RELATED, MEMBER)
    assert get_leaving(found).packet.icmp == Icmp(11, quoted=Endpoints(MEMBER, FOREIGN, 50122, 443))


def test_who_left_the_sets_loses_his_open_connections() -> None:
    flow = trace_packet(tcp("lan0", MEMBER, FOREIGN, 443)).build_tracked_connection(40_000)
    assert flow
    further = replace(tcp("lan0", MEMBER, FOREIGN, 443), flow=replace(flow, replied=True))
    found = trace_packet(further, replace(POLICY, addresses=(OTHER,)))
    assert (found.outcome, found.counters) == (TraceOutcome.DROPPED, {"unmatched": 1})


def test_management_is_not_tracked_and_reaches_the_gateway() -> None:
    ssh = tcp("mgmt0", "172.31.0.9", "192.0.2.1", 22)
    found = trace_packet(ssh)
    assert (found.outcome, found.state) == (TraceOutcome.DELIVERED, ConntrackState.UNTRACKED)


def test_a_stray_packet_of_tcp_is_invalid() -> None:
    found = trace_packet(replace(tcp("lan0", MEMBER, FOREIGN, 443), flags=frozenset({"ack"})))
    assert (found.outcome, found.state) == (TraceOutcome.DROPPED, ConntrackState.INVALID)


def test_a_fragment_alone_waits_for_the_others() -> None:
    assert trace_packet(replace(tcp("lan0", MEMBER, FOREIGN, 443), fragment=True)).outcome is TraceOutcome.WAITS_FOR_FRAGMENTS


def test_neighbour_discovery_is_delivered_from_one_hop_only() -> None:
    solicitation = Packet("lan0", MEMBER6, IPv6Address("ff02::1:ff00:1"), 58, icmp=Icmp(135), hop_limit=255)
    assert trace_packet(solicitation).outcome is TraceOutcome.DELIVERED
    assert trace_packet(replace(solicitation, hop_limit=254)).outcome is TraceOutcome.DROPPED


def test_a_gateways_own_packet_with_a_private_source_stays() -> None:
    assert trace_packet(tcp("", "10.16.255.1", FOREIGN, 443)).counters == {"leaked": 1}
    assert trace_packet(tcp("", "192.0.2.1", FOREIGN, 443)).outcome is TraceOutcome.FORWARDED


def test_a_probe_is_counted_both_ways() -> None:
    policy = replace(POLICY, gateway=PROBED, mappings=(*POLICY.mappings, PROBES_MAPPING))
    routes = RoutingTable((GatewayRoute(IPv4Network("172.31.254.2/32"), "probe0"), *ROUTES.routes))
    talk = trace_flow(compile_policy(policy), tcp("probe0", PROBE.source4, FOREIGN, 443), routes, now=NOW)
    assert talk.first.counters == {"probe_up4": 1}
    assert talk.answer and talk.answer.counters == {"probe_down4": 1}
