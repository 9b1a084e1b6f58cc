"""Whole rulesets whose sets are filled before any rule uses them: they are approved late, and are all or nothing all the same."""

from dataclasses import replace

import pytest

from firewall import wire
from firewall.ruleset import EMPTY, Ruleset
from gateway.load_plan import LARGE
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import AnyGateway, clock
from tests.agent.requests import deploy, runs, send_refused
from tests.agent.rulesets import network, step, text_of, whole

pytestmark = restrict_to_gateways("in memory", "kernel")


@pytest.fixture(scope="module")
def large() -> Ruleset:
    """Return a ruleset with sets that are filled first."""
    return network(LARGE + 100, forwards=False)


def shrink(ruleset: Ruleset, name: str) -> Ruleset:
    """Return the ruleset with a set that has no room for its elements."""
    return replace(ruleset, sets={**ruleset.sets, name: replace(ruleset.sets[name], size=LARGE)})


def test_a_whole_ruleset_that_is_not_what_the_portal_says_changes_nothing(gateway: AnyGateway, large: Ruleset) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    refused = send_refused(gateway, replace(whole(large, token=2, now=clock()), target=text_of(network(3))))
    assert (refused.reason, text_of(large) in refused.text) == ("digest", True)
    assert runs(gateway) == text_of(network(2))
    deploy(gateway, step(network(2), network(3), token=3, now=clock()))


def test_a_set_that_the_kernel_refuses_is_named_and_nothing_of_the_ruleset_stays(gateway: AnyGateway, large: Ruleset) -> None:
    refused = send_refused(gateway, whole(shrink(large, "up4"), token=1, now=clock()))
    assert (refused.reason, refused.text) == ("nft", "up4: add element: Too many open files in system")
    assert runs(gateway) == text_of(EMPTY)
    deploy(gateway, whole(large, token=2, now=clock()))


def test_what_neither_the_portal_nor_the_kernel_wants_is_told_as_the_portals_fault(gateway: AnyGateway, large: Ruleset) -> None:
    refused = send_refused(gateway, replace(whole(shrink(large, "up4"), token=2, now=clock()), target=text_of(network(3))))
    assert refused.reason == "digest"


def test_a_gateway_boots_with_the_large_ruleset_that_was_confirmed_first(gateway: AnyGateway, large: Ruleset) -> None:
    deploy(gateway, whole(large, token=1, now=clock()))
    gateway.restart()
    assert runs(gateway) == text_of(large)


def test_a_gateway_boots_with_the_change_that_came_before_the_first_ruleset_was_confirmed(gateway: AnyGateway) -> None:
    assert isinstance(gateway.ask(whole(network(3), token=1, now=clock())), wire.Applied)
    deploy(gateway, step(network(3), network(4), token=2, now=clock()))
    gateway.restart()
    assert runs(gateway) == text_of(network(4))
