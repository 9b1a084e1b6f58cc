"""The probe in the ruleset: takes the members' path, is not billed, and has addresses that no member has."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from itertools import takewhile

import pytest
from hypothesis import given, settings

from firewall.compile import compile_change, compile_policy
from firewall.diff import apply, diff
from firewall.policy import (
    ForwardSpec,
    NatMappingSpec,
    Policy,
    PolicyError,
    ProbeSpec,
    ResponderSpec,
    SharingMode,
    TouchedKeys,
    TransportProtocol,
    collect_keys,
)
from firewall.render import render, render_rule
from firewall.ruleset import Rule, Ruleset, VerdictMap
from tests.example_counts import count_examples
from tests.policies import NAT_1, PROBE, PROBED, PROBES_MAPPING, network, policies

SOURCE4, PUBLIC4, SOURCE6 = IPv4Address("172.31.254.2"), IPv4Address("192.0.2.251"), IPv6Address("2001:db8:b1::2")
BESIDE = policies().filter(lambda policy: not any(SOURCE6 in prefix for prefix in policy.prefixes))  # no member has the probe's address
HOST = IPv4Address("10.16.0.10")


def add_probe(policy: Policy, probe: ProbeSpec = PROBE) -> Policy:
    """Return the policy with a probe at its gateway."""
    return replace(policy, gateway=replace(policy.gateway, probe=probe), mappings=(*policy.mappings, PROBES_MAPPING))


def rules(ruleset: Ruleset, chain: str) -> list[Rule]:
    return list(ruleset.chains[chain].rules)


def test_a_probe_adds_rules_once_however_many_members_there_are() -> None:
    few, many = compile_policy(add_probe(network(10))), compile_policy(add_probe(network(10_000)))
    assert few.chains == many.chains
    assert few.count_rules() == compile_policy(network(10)).count_rules() + 6


@pytest.mark.parametrize("chain", ["up", "down"])
def test_members_are_accepted_before_any_rule_of_the_probe(chain: str) -> None:
    plain, with_probe = compile_policy(network(10)), compile_policy(add_probe(network(10)))
    members = list(takewhile(lambda rule: rule.comment != "probe", rules(with_probe, chain)))
    assert members == rules(plain, chain)


def test_a_members_first_packet_meets_the_same_rules_as_without_a_probe() -> None:
    plain, with_probe = compile_policy(network(10)), compile_policy(add_probe(network(10)))
    allowed = len(rules(plain, "new")) - 2  # the last two rules refuse
    assert rules(with_probe, "new")[:allowed] == rules(plain, "new")[:allowed]
    assert rules(with_probe, "spoofed") == rules(plain, "spoofed")
    assert rules(with_probe, "fail_closed") == rules(plain, "fail_closed")


def test_the_probe_goes_the_members_way() -> None:
    ruleset = compile_policy(add_probe(network(1)))
    [ways] = [rule.parts[0] for rule in rules(ruleset, "forward") if isinstance(rule.parts[0], VerdictMap)]
    verdicts = dict(ways.entries)
    compared = {render_rule(each) for each in rules(ruleset, "forward")}
    assert {'iifname "lan0" oifname "wan0" jump up', 'iifname "wan0" oifname "lan0" jump down'} < compared
    assert [verdicts["probe0", "wan0"].chain, verdicts["wan0", "probe0"].chain] == ["up", "down"]
    assert ruleset.elements["snat4"][SOURCE4.packed].value == PUBLIC4.packed


def test_the_probe_is_in_no_set_that_is_billed() -> None:
    ruleset = compile_policy(add_probe(network(10)))
    assert all(SOURCE4.packed not in ruleset.elements[name] for name in ("up4", "down4"))
    assert ruleset.counters == compile_policy(network(1)).counters | {"probe_up4", "probe_down4", "probe_up6", "probe_down6"}


def test_only_the_families_that_are_given_are_probed() -> None:
    only6 = compile_policy(Policy(replace(NAT_1, probe=ProbeSpec("probe0", source6=SOURCE6))))
    assert only6.counters - compile_policy(Policy(NAT_1)).counters == {"probe_up6", "probe_down6"}
    assert only6.count_rules() == compile_policy(Policy(NAT_1)).count_rules() + 3


@given(BESIDE)
@settings(max_examples=count_examples(60))
def test_a_probe_changes_no_element_of_a_member(policy: Policy) -> None:
    plain, with_probe = compile_policy(policy), compile_policy(add_probe(policy))
    assert with_probe.sets == plain.sets
    own = {name: elements.keys() - plain.elements[name].keys() for name, elements in with_probe.elements.items()}
    assert {name for name, keys in own.items() if keys} == {"snat4", "out4"}
    assert own["snat4"] == own["out4"] == {SOURCE4.packed}


@given(BESIDE, BESIDE)
@settings(max_examples=count_examples(60))
def test_a_change_beside_a_probe_leaves_the_probe_alone(before: Policy, after: Policy) -> None:
    running, wanted = compile_policy(add_probe(before)), compile_policy(add_probe(after))
    delta = compile_change(running, touched=collect_keys(before), come=replace(after, gateway=add_probe(after).gateway))
    assert apply(running, delta) == wanted
    assert delta == diff(running, wanted)
    assert all(SOURCE4.packed not in {*change.added, *change.removed} for change in delta.elements.values())


def test_a_probe_can_come_by_a_change_of_its_gateway_alone() -> None:
    running = compile_policy(network(10))
    delta = compile_change(running, touched=TouchedKeys(), come=Policy(PROBED, mappings=(PROBES_MAPPING,)))
    assert apply(running, delta) == compile_policy(add_probe(network(10)))


def test_gateways_of_a_group_may_have_the_mappings_of_each_others_probes() -> None:
    other = NatMappingSpec(SOURCE4 + 4, PUBLIC4 + 1)
    ruleset = compile_policy(Policy(PROBED, mappings=(PROBES_MAPPING, other)))
    assert ruleset.elements["snat4"].keys() == {SOURCE4.packed, (SOURCE4 + 4).packed}


RESPONDER = ResponderSpec(7077, IPv4Address("203.0.113.10"), IPv6Address("2001:db8:cafe::10"))


def add_responder(policy: Policy, responder: ResponderSpec = RESPONDER) -> Policy:
    """Return the policy with a responder that connects to the probe."""
    return replace(policy, gateway=replace(policy.gateway, settings=replace(policy.gateway.settings, responder=responder)))


def render_added(before: Ruleset, after: Ruleset) -> list[str]:
    """Return the lines of nft text that only the later ruleset has."""
    known = set(render(before, now=0).splitlines())
    return [line.strip() for line in render(after, now=0).splitlines() if line not in known]


def test_a_responder_is_let_in_to_one_port_of_the_probe_and_nobody_else_is() -> None:
    plain = add_probe(network(10))
    assert render_added(compile_policy(plain), compile_policy(add_responder(plain))) == [
        "add rule inet netzwart dstnat_wan ip saddr 203.0.113.10 ip daddr 192.0.2.251 tcp dport 7077 "
        'dnat ip to 172.31.254.2:7077 comment "probe"',
        'add rule inet netzwart new iifname "wan0" oifname "probe0" ip6 saddr 2001:db8:cafe::10 ip6 daddr 2001:db8:b1::2 '
        'tcp dport 7077 return comment "probe"',
    ]


@pytest.mark.parametrize(
    ("probe", "responder", "number"),
    [
        (PROBE, replace(RESPONDER, address6=None), 1),
        (PROBE, replace(RESPONDER, address4=None), 1),
        (ProbeSpec("probe0", source6=SOURCE6), RESPONDER, 1),
        (ProbeSpec("probe0", source4=SOURCE4, public4=PUBLIC4), RESPONDER, 1),
        (PROBE, ResponderSpec(7077), 0),
    ],
)
def test_a_responder_reaches_only_the_families_that_are_probed_and_it_has(probe: ProbeSpec, responder: ResponderSpec, number: int) -> None:
    plain = add_probe(network(10), probe)
    assert compile_policy(add_responder(plain, responder)).count_rules() == compile_policy(plain).count_rules() + number


def test_a_responder_of_a_group_opens_nothing_at_a_gateway_without_a_probe() -> None:
    assert compile_policy(add_responder(network(10))) == compile_policy(network(10))


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_a_port_of_a_responder_that_is_none_is_refused(port: int) -> None:
    with pytest.raises(PolicyError, match=f"probe of nat-1: port {port} of the responder is not between 1 and 65535"):
        compile_policy(add_responder(add_probe(network(1)), replace(RESPONDER, port=port)))


@pytest.mark.parametrize(
    ("policy", "culprit"),
    [
        (Policy(PROBED, addresses=(SOURCE4,)), r"its source 172\.31\.254\.2 is held by a member as 172\.31\.254\.2"),
        (Policy(PROBED, prefixes=(IPv6Network("2001:db8:b1::/64"),)), "its source 2001:db8:b1::2 is held by a member as 2001:db8:b1::/64"),
        (Policy(PROBED, prefixes=(IPv6Network("2001:db8:b0::/44"),)), "is held by a member as 2001:db8:b0::/44"),
        (Policy(PROBED, mappings=(NatMappingSpec(HOST, PUBLIC4),)), r"members leave as its public address 192\.0\.2\.251"),
        (Policy(PROBED, mappings=(NatMappingSpec(HOST, PUBLIC4, SharingMode.OWN),)), "members leave as its public address"),
        (Policy(PROBED, mappings=(NatMappingSpec(HOST, PUBLIC4, SharingMode.BLOCKS, 1024, 2047),)), "members leave as its public address"),
        (
            Policy(PROBED, forwards=(ForwardSpec(7, TransportProtocol.TCP, PUBLIC4, 80, HOST, 80),)),
            r"a forward leads from its public address 192\.0\.2\.251",
        ),
    ],
)
def test_an_address_that_somebody_else_has_is_refused_by_name(policy: Policy, culprit: str) -> None:
    with pytest.raises(PolicyError, match=f"probe of nat-1: .*{culprit}"):
        compile_policy(replace(policy, mappings=(*policy.mappings, PROBES_MAPPING)))
    with pytest.raises(PolicyError, match=f"probe of nat-1: .*{culprit}"):
        compile_change(compile_policy(Policy(PROBED)), touched=TouchedKeys(), come=policy)


@pytest.mark.parametrize(
    ("probe", "fault"),
    [
        (replace(PROBE, interface="lan0"), "lan0 is an interface of the gateway already"),
        (replace(PROBE, interface="a b"), "interface 'a b'"),
        (replace(PROBE, public4=None), "or neither"),
        (replace(PROBE, source4=None), "or neither"),
        (replace(PROBE, source4=IPv4Address("203.0.113.5")), r"203\.0\.113\.5 is not private"),
        (replace(PROBE, public4=IPv4Address("10.0.0.1")), r"10\.0\.0\.1 is private, so no answer would come back"),
    ],
)
def test_a_probe_that_would_prove_nothing_is_refused(probe: ProbeSpec, fault: str) -> None:
    with pytest.raises(PolicyError, match=fault):
        compile_policy(add_probe(Policy(NAT_1), probe))
