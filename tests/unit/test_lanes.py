"""Lanes, chains specialised for a direction and IP version, check less and do the same as the chains for all directions."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from firewall import chains
from firewall.chains.directions import list_common_directions
from firewall.chains.used_sets import UsedSets
from firewall.compile import compile_policy
from firewall.policy import Policy
from firewall.ruleset import Chain, Field, Match, Rule, Ruleset, Verdict, VerdictAction, VerdictMap
from firewall.tracing import LeavingPacket, Trace, TraceOutcome, trace
from tests.packets.gateway_cables import ROUTES
from tests.packets.scenes import MANAGED, NOW
from tests.policies import NAT_1, network
from tests.unit.test_tracing_promises import case

LANES = ("new_up4", "new_up6", "new_down4", "new_down6", "new_inside4", "new_inside6")


def fate(
    found: Trace | None,
) -> tuple[TraceOutcome, object, LeavingPacket | None, Mapping[tuple[str, bytes], int], Mapping[str, int], object] | None:
    """Return all effects of a trace that are visible from outside."""
    if found is None:
        return None
    return found.outcome, found.refusal, found.leaves, found.elements, found.counters, fate(found.answer)


def count_rules(found: Trace) -> int:
    """Return the number of rules that the packet met."""
    return sum(1 for step in found.steps if step.rule)


def without_lanes(policy: Policy, ruleset: Ruleset) -> Ruleset:
    return replace(ruleset, chains=chains.build_unspecialized(policy.gateway, UsedSets(frozenset(ruleset.sets))))


def test_a_first_packet_fares_in_its_lane_as_in_the_chain_for_all() -> None:
    met = {True: 0, False: 0}
    for seed in range(2000, 2150):
        policy, packets = case(seed)
        ruleset = compile_policy(policy)
        plain = without_lanes(policy, ruleset)
        for packet in packets:
            narrow, wide = (trace(each, packet, ROUTES, now=NOW) for each in (ruleset, plain))
            assert fate(narrow) == fate(wide), f"{packet}\n{policy}"
            met[True] += count_rules(narrow)
            met[False] += count_rules(wide)
    assert met[True] < met[False] * 0.8


def test_every_way_and_version_has_its_lane() -> None:
    assert tuple(f"new_{lane.name}" for lane in list_common_directions(MANAGED.interfaces)) == LANES
    assert compile_policy(network(3)).chains.keys() >= set(LANES)


def interfaces_asked(chain: Chain) -> list[Rule]:
    known = (Field.IIFNAME, Field.OIFNAME, Field.NFPROTO)
    return [rule for rule in chain.rules if any(isinstance(part, Match) and part.field in known for part in rule.parts)]


@pytest.mark.parametrize("lane", LANES)
def test_a_lane_never_asks_for_interfaces_or_the_version_of_ip(lane: str) -> None:
    built = compile_policy(network(3)).chains
    assert not interfaces_asked(built[lane])


def test_the_chain_for_all_asks_nothing_about_ways_that_have_lanes() -> None:
    built = compile_policy(network(3)).chains["new"]
    at = NAT_1.interfaces
    pairs = [{at.lan, at.wan}, {at.lan}]
    compared, led, *rules = built.rules
    assert compared.parts[-1] == Verdict(VerdictAction.GOTO, "new_up4") and isinstance(led.parts[0], VerdictMap)
    for rule in rules:
        ways = [set(part.values) for part in rule.parts if isinstance(part, Match) and part.field in (Field.IIFNAME, Field.OIFNAME)]
        assert len(ways) < 2 or set().union(*ways) not in pairs, rule
