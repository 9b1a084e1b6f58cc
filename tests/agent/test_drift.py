"""Drift: every change to the table from outside is reported precisely, and the whole ruleset repairs it in one transaction."""

import dataclasses
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from firewall import wire
from firewall.ruleset import EMPTY, PLAIN, Element, Ruleset
from firewall.wire import ElementDrift
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import AnyGateway, InProcess, OnKernel, Served, clock
from tests.agent.requests import deploy, runs
from tests.agent.rulesets import ban, key, network, step, text_of, whole
from tests.agent.strategies import rulesets
from tests.example_counts import count_examples

NETWORK = network(3, ban("203.0.113.9/32", "scans", clock() + 9000), ban("198.51.100.0/24"))


def drift(gateway: AnyGateway) -> wire.Drifted:
    answer = gateway.ask(wire.Drift(clock()))
    assert isinstance(answer, wire.Drifted), answer
    return answer


def nothing(gateway: AnyGateway) -> bool:
    answer = drift(gateway)
    return not answer.rules and not answer.elements


def one(key_: bytes, element: Element = PLAIN) -> dict[bytes, Element]:
    return {key_: element}


def test_a_gateway_that_nobody_touched_has_not_drifted(gateway: AnyGateway) -> None:
    assert nothing(gateway)
    deploy(gateway, whole(NETWORK, token=1, now=clock()))
    assert nothing(gateway)
    deploy(gateway, step(NETWORK, network(4), token=2, now=clock()))
    assert nothing(gateway)
    assert isinstance(gateway.ask(step(network(4), network(5), token=3, now=clock())), wire.Applied)
    assert nothing(gateway)
    gateway.restart()
    assert drift(gateway) == wire.Drifted(text_of(network(4)), (), {})


@restrict_to_gateways("kernel", "served on the kernel")
def test_a_table_that_was_deleted_is_told_from_one_that_was_altered(gateway: OnKernel | Served) -> None:
    deploy(gateway, whole(NETWORK, token=1, now=clock()))
    assert not drift(gateway).gone
    gateway.nft("delete element inet netzwart snat4 { 10.1.0.1 }")
    assert not drift(gateway).gone
    gateway.nft("flush ruleset")
    assert drift(gateway).gone


@restrict_to_gateways("kernel", "served on the kernel")
def test_elements_that_came_went_or_changed_by_hand_are_named(gateway: OnKernel | Served) -> None:
    deploy(gateway, whole(NETWORK, token=1, now=clock()))
    gateway.nft("add element inet netzwart up4 { 10.9.9.9 }; delete element inet netzwart snat4 { 10.1.0.1 }")
    gateway.nft("delete element inet netzwart bans4_32 { 203.0.113.9 }; add element inet netzwart bans4_32 { 203.0.113.9 timeout 3h }")
    answer = drift(gateway)
    assert answer.rules == ()
    assert answer.elements.keys() == {"up4", "snat4", "bans4_32"}
    assert answer.elements["up4"] == ElementDrift({}, one(key("10.9.9.9")), 0, 1)
    assert answer.elements["snat4"] == ElementDrift(one(key("10.1.0.1"), Element(key("198.51.100.7"))), {}, 1, 0)
    bans = answer.elements["bans4_32"]
    assert bans.missing == one(key("203.0.113.9"), NETWORK.elements["bans4_32"][key("203.0.113.9")])
    assert bans.foreign.keys() == bans.missing.keys()
    assert drift(gateway).elements["up4"] == answer.elements["up4"], "it is told as long as it is so"
    deploy(gateway, whole(NETWORK, token=2, now=clock()))
    assert nothing(gateway)


BY_HAND = {
    "a rule": ("insert rule inet netzwart forward accept", {"chain forward"}),
    "a rule less": ("flush chain inet netzwart fail_closed", {"chain fail_closed"}),
    "a chain that nothing calls": ("add chain inet netzwart mine", {"chain mine"}),
    "a chain at a hook": (
        "add chain inet netzwart mine { type filter hook forward priority 5; policy drop; }",
        {"chain mine"},
    ),
    "a jump out of ours": (
        "add chain inet netzwart mine; add rule inet netzwart mine accept; insert rule inet netzwart new jump mine",
        {"chain mine", "chain new"},
    ),
    "names of their own kind": (
        "add chain inet netzwart My_Chain.1; add counter inet netzwart Hits;"
        "insert rule inet netzwart up counter name Hits jump My_Chain.1;"
        "add set inet netzwart Mine/of-a-name-that-is-a-lot-longer-than-any-of-ours { type ether_addr; }",
        {"chain My_Chain.1", "chain up", "counter Hits", "set Mine/of-a-name-that-is-a-lot-longer-than-any-of-ours"},
    ),
    "chains at other hooks": (
        "add chain inet netzwart mine { type filter hook ingress device lo priority 0; };"
        "add chain inet netzwart mine2 { type route hook output priority -7; }",
        {"chain mine", "chain mine2"},
    ),
    "a policy": ("add chain inet netzwart forward { policy accept; }", {"chain forward"}),
    "a counter": ("add counter inet netzwart mine", {"counter mine"}),
    "a set": (
        "add set inet netzwart mine { type ipv4_addr; flags interval; elements = { 10.0.0.0/8 } };"
        "insert rule inet netzwart up ip saddr @mine accept",
        {"chain up", "set mine"},
    ),
    "a map of verdicts": (
        "add map inet netzwart mine { type inet_service : verdict; elements = { 22 : accept } };"
        "insert rule inet netzwart up tcp dport vmap @mine",
        {"chain up", "set mine"},
    ),
    "a set with other flags": (
        "flush chain inet netzwart bans_from4; flush chain inet netzwart bans_to4; delete set inet netzwart bans4_24;"
        "add set inet netzwart bans4_24 { type ipv4_addr; flags interval; elements = { 198.51.100.0/25 } };"
        "add rule inet netzwart bans_from4 ip saddr @bans4_24 drop",
        {"chain bans_from4", "chain bans_to4", "set bans4_24"},
    ),
    "a set without counters": (
        "flush chain inet netzwart bans_from4; flush chain inet netzwart bans_to4; delete set inet netzwart bans4_24;"
        "add set inet netzwart bans4_24 { type ipv4_addr; size 65536; flags timeout; }",
        {"chain bans_from4", "chain bans_to4", "set bans4_24"},
    ),
    "an object that no rule of ours uses": ("add quota inet netzwart mine over 10 mbytes", set()),
}


@restrict_to_gateways("kernel")
@pytest.mark.parametrize("change", BY_HAND)
def test_what_a_hand_did_to_rules_is_named_and_put_right_in_one_transaction(gateway: OnKernel, change: str) -> None:
    statements, named = BY_HAND[change]
    deploy(gateway, whole(NETWORK, token=1, now=clock()))
    gateway.nft(statements)
    assert set(drift(gateway).rules) == named
    before = gateway.space.do(gateway.table._read_generation)
    deploy(gateway, whole(NETWORK, token=2, now=clock()))
    assert gateway.space.do(gateway.table._read_generation) == before + (1 if named else 0)
    assert nothing(gateway)
    assert runs(gateway) == text_of(NETWORK, clock())
    held = gateway.nft("list table inet netzwart")
    assert "mine" not in held.lower() or not named


@restrict_to_gateways("kernel", "served on the kernel")
@pytest.mark.parametrize("by_hand", ["flush ruleset", "delete table inet netzwart"])
def test_a_table_that_is_gone_misses_everything_and_comes_back(gateway: OnKernel | Served, by_hand: str) -> None:
    deploy(gateway, whole(NETWORK, token=1, now=clock()))
    gateway.nft(by_hand)
    answer = drift(gateway)
    kinds = [f"{kind} {name}" for kind, names in (("chain", NETWORK.chains), ("set", NETWORK.sets)) for name in names]
    assert set(answer.rules) == {*kinds, *(f"counter {name}" for name in NETWORK.counters)}
    assert {name: each.missing_count for name, each in answer.elements.items()} == {
        name: len(each) for name, each in NETWORK.elements.items() if each
    }
    assert answer.digest == text_of(EMPTY)
    deploy(gateway, whole(NETWORK, token=2, now=clock()))
    assert nothing(gateway)


def test_of_very_much_the_first_are_named_and_all_are_counted(tmp_path: Path) -> None:
    gateway = InProcess(tmp_path)
    deploy(gateway, whole(network(1), token=1, now=clock()))
    many = network(1200)
    gateway.table.meddle(many)
    up = drift(gateway).elements["up4"]
    assert (up.missing_count, up.foreign_count, len(up.foreign)) == (0, 1199, wire.DRIFT_SHOWN)
    assert list(up.foreign) == sorted(many.elements["up4"].keys() - network(1).elements["up4"].keys())[: wire.DRIFT_SHOWN]
    gateway.close()


def test_rules_on_a_gateway_that_never_confirmed_any_are_reported_as_foreign(tmp_path: Path) -> None:
    gateway = InProcess(tmp_path)
    gateway.table.meddle(network(1))
    gateway.restart()
    answer = drift(gateway)
    assert "chain forward" in answer.rules
    assert answer.elements["up4"].foreign == network(1).elements["up4"]
    gateway.close()


@settings(max_examples=count_examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(meddled=rulesets(clock()))
def test_whatever_is_found_instead_committed_less_missing_with_foreign_makes_it(tmp_path: Path, meddled: Ruleset) -> None:
    gateway = InProcess(tmp_path)
    deploy(gateway, whole(NETWORK, token=1, now=clock()))
    gateway.table.meddle(dataclasses.replace(meddled, chains=NETWORK.chains))
    told = drift(gateway).elements
    for name in NETWORK.sets.keys() | meddled.sets.keys():
        of = told.get(name, ElementDrift({}, {}, 0, 0))
        kept = {at: each for at, each in NETWORK.elements.get(name, {}).items() if at not in of.missing}
        assert {**kept, **of.foreign} == meddled.elements.get(name, {})
    gateway.close()
