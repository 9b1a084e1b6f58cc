"""Rate limits: compiled rules, refused values, and traces."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Network

import pytest

from firewall.blast_radius import compute_removals
from firewall.codec import WireError
from firewall.compile import compile_policy
from firewall.diff import diff
from firewall.policy import GatewayGroupSettings, Interfaces, NatMappingSpec, Policy, PolicyError, RateLimitSpec
from firewall.ruleset import Element, Ruleset, Set, Type
from firewall.tracing import Packet, Trace, TraceOutcome, trace
from firewall.tracing.routes import GatewayRoute, RoutingTable
from gateway.ruleset_inspection import check_ruleset
from tests.policies import NAT_1

HOST, PUBLIC, OUTSIDE = IPv4Address("10.16.0.10"), IPv4Address("198.51.100.7"), IPv4Address("203.0.113.10")
PREFIX = IPv6Network("2001:db8:a0:10::/64")
NOW = 1_800_000_000
MEMBER = Policy(NAT_1, addresses=(HOST,), prefixes=(PREFIX,), mappings=(NatMappingSpec(HOST, PUBLIC),))
LIMITED = RateLimitSpec(7, IPv4Network(HOST), 125_000, 0, NOW + 60)
ROUTES = RoutingTable((GatewayRoute(IPv4Network("10.16.0.0/16"), "lan0"), GatewayRoute(IPv4Network("0.0.0.0/0"), "wan0")))


def limit_member(*limits: RateLimitSpec) -> Policy:
    return replace(MEMBER, rate_limits=limits)


def first(ruleset: Ruleset) -> Trace:
    return trace(ruleset, Packet("lan0", HOST, OUTSIDE, 17, 4000, 53), ROUTES, now=NOW)


def test_nobody_limited_means_no_rule_set_or_counter_of_it() -> None:
    plain = compile_policy(MEMBER)
    assert not [name for name in (*plain.chains, *plain.sets, *plain.counters) if "rate" in name or "tariff" in name]
    assert compile_policy(limit_member(LIMITED)).count_rules() == plain.count_rules() + 2


def test_the_number_of_rules_does_not_grow_with_the_limited() -> None:
    many = tuple(RateLimitSpec(n, IPv4Network(HOST + n), 125_000, 125_000) for n in range(1000))
    assert compile_policy(limit_member(*many)).chains == compile_policy(limit_member(many[0])).chains


def test_who_is_limited_one_way_is_in_the_set_of_that_way_alone() -> None:
    ruleset = compile_policy(limit_member(LIMITED))
    assert ruleset.elements["rate_up4"] == {HOST.packed: Element((125_000).to_bytes(8), expires=NOW + 60)}
    assert "rate_down4" not in ruleset.sets
    assert "rates_down" not in ruleset.chains


def test_tariff_and_limit_of_one_member_are_two_elements() -> None:
    ruleset = compile_policy(replace(limit_member(LIMITED), tariff_rates=(RateLimitSpec(3, IPv4Network(HOST), 625_000, 625_000),)))
    assert {name for name, elements in ruleset.elements.items() if HOST.packed in elements} >= {"tariff_up4", "tariff_down4", "rate_up4"}


def test_the_switch_takes_the_rules_and_leaves_the_elements() -> None:
    off = replace(limit_member(LIMITED), gateway=replace(NAT_1, settings=GatewayGroupSettings(rates_off=True)))
    assert compile_policy(off).chains == compile_policy(MEMBER).chains
    assert compile_policy(off).counters == compile_policy(MEMBER).counters
    assert compile_policy(off).elements["rate_up4"]


def test_only_the_uplink_is_limited() -> None:
    with_servers = replace(limit_member(LIMITED), gateway=replace(NAT_1, interfaces=replace(NAT_1.interfaces, server="srv0")))
    assert compile_policy(with_servers).chains["mangle_forward"] == compile_policy(limit_member(LIMITED)).chains["mangle_forward"]
    other = Interfaces("br0", "ppp0", "mgmt0")
    [rule] = compile_policy(replace(limit_member(LIMITED), gateway=replace(NAT_1, interfaces=other))).chains["mangle_forward"].rules
    assert str(rule).count("br0") == str(rule).count("ppp0") == 1


@pytest.mark.parametrize("rate", [1, 999, 10**10 + 1])
def test_a_rate_that_no_bucket_can_have_is_refused(rate: int) -> None:
    with pytest.raises(PolicyError, match=r"rate of 10\.16\.0\.10/32"):
        compile_policy(limit_member(RateLimitSpec(7, IPv4Network(HOST), rate)))


def test_an_address_that_is_limited_twice_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"rate limit for 10\.16\.0\.10/32 is given twice"):
        compile_policy(limit_member(LIMITED, replace(LIMITED, id=8)))


def test_releasing_many_waits_for_nobody() -> None:
    many = tuple(RateLimitSpec(n, IPv4Network(HOST + n), 125_000, 125_000) for n in range(100))
    before, after = compile_policy(limit_member(*many)), compile_policy(MEMBER)
    sizes = {name: len(elements) for name, elements in before.elements.items()}
    assert compute_removals(diff(before, after).elements, sizes, NOW) == {}


def test_a_trace_is_that_of_a_packet_within_its_rate_and_shows_the_limit() -> None:
    found = first(compile_policy(limit_member(LIMITED)))
    assert found.outcome is TraceOutcome.FORWARDED
    [read] = [read for step in found.steps for read in step.reads if read.set == "rate_up4"]
    assert read.element is not None and not read.passed


@pytest.mark.parametrize(
    ("declared", "value", "words"),
    [
        (Set("rate_up4", (Type.IPV4,), 64, polices=True), (999).to_bytes(8), "a rate is not between"),
        (Set("rate_up4", (Type.IPV4,), 64, polices=True), b"", "a value is not 8 octets wide"),
        (Set("rate_up4", (Type.IPV4,), 64, (Type.IPV4,), polices=True), HOST.packed, "a policing set has"),
        (Set("rate_up4", (Type.IPV4,), 64, counter=True, polices=True), (9999).to_bytes(8), "a policing set has"),
    ],
)
def test_a_gateway_refuses_what_is_no_rate(declared: Set, value: bytes, words: str) -> None:
    with pytest.raises(WireError, match=words):
        check_ruleset(Ruleset(sets={"rate_up4": declared}, elements={"rate_up4": {HOST.packed: Element(value)}}))
