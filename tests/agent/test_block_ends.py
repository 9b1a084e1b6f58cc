"""A block that ends by its time leaves no connection to the notice page, and cuts no other one."""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Network, ip_network

import pytest

from firewall import wire
from firewall.compile import compile_policy
from firewall.flows import Flow
from firewall.policy import BlockedMemberSpec, ForwardSpec, GatewayGroupSettings, NatMappingSpec, Policy, TransportProtocol
from firewall.ruleset import Ruleset
from gateway.running_ruleset import SLACK
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import InProcess, clock
from tests.agent.requests import deploy
from tests.agent.rulesets import GATEWAY, step, whole
from tests.agent.test_cutting import Unlistable
from tests.policies import NOTICE
from tests.unit.test_flows import make_flow

in_memory = restrict_to_gateways("in memory")
LASTS = 60  # seconds
MEMBER, OTHER, PUBLIC = (IPv4Address(each) for each in ("10.1.0.1", "10.1.0.2", "198.51.100.7"))
PREFIX, PEER, PEER6 = IPv6Network("2001:db8::/64"), "203.0.113.1", "2001:db8:ffff::1"
PAGE, PAGE6 = (str(NOTICE.ipv4), 80), (str(NOTICE.ipv6), 80)
POLICY = Policy(
    replace(GATEWAY, interfaces=replace(GATEWAY.interfaces, server="srv"), settings=GatewayGroupSettings(notice=NOTICE)),
    addresses=(MEMBER, OTHER),
    prefixes=(PREFIX,),
    mappings=(NatMappingSpec(MEMBER, PUBLIC), NatMappingSpec(OTHER, PUBLIC)),
    forwards=(ForwardSpec(1, TransportProtocol.TCP, PUBLIC, 2001, OTHER, 22),),
)
WITH_PAGE = {
    "page": make_flow(6, str(MEMBER), 1000, PEER, 80, dnat=PAGE),
    "page6": make_flow(6, str(PREFIX[5]), 1000, PEER6, 80, dnat=PAGE6),
}
OTHERS = {
    "another member's page": make_flow(6, str(OTHER), 1000, PEER, 80, dnat=PAGE),
    "out": make_flow(6, str(MEMBER), 1001, PEER, 80, snat=str(PUBLIC)),
    "through a forward": make_flow(6, str(MEMBER), 1002, str(PUBLIC), 2001, dnat=(str(OTHER), 22)),
}


def block(end: int, *, other: int = 0) -> Ruleset:
    """Compile the policy with blocks of two members until these times, the first of an address and a prefix; 0: no block."""
    held = ((MEMBER, end), (PREFIX, end), (OTHER, other))
    return compile_policy(replace(POLICY, blocks=tuple(BlockedMemberSpec(1, ip_network(each), until) for each, until in held if until)))


def look(gateway: InProcess) -> bool:
    """Do what the agent's server does each second. Return whether it was due."""
    due = gateway.agent.block_ends.is_due()
    if due:
        gateway.agent.block_ends.cut(gateway.agent.block_ends.take_ended())
    return due


def iter_open(gateway: InProcess) -> Iterator[str]:
    return (name for name, flow in (WITH_PAGE | OTHERS).items() if flow in gateway.table.tracked)


def begin(gateway: InProcess, ruleset: Ruleset) -> None:
    """Deploy the ruleset, and open all connections."""
    deploy(gateway, whole(ruleset, token=1, now=clock()))
    flows: list[Flow] = [*WITH_PAGE.values(), *OTHERS.values()]
    gateway.table.tracked = flows


@in_memory
def test_connections_to_the_page_are_cut_when_the_kernel_has_ended_the_block_too(gateway: InProcess) -> None:
    end = clock() + LASTS
    begin(gateway, block(end, other=end + LASTS))
    gateway.hands.passed += LASTS - 1
    assert not look(gateway)
    gateway.hands.passed += SLACK + 2
    assert look(gateway)
    assert set(iter_open(gateway)) == OTHERS.keys()
    assert not look(gateway)
    gateway.hands.passed += LASTS
    assert look(gateway)
    assert set(iter_open(gateway)) == OTHERS.keys() - {"another member's page"}


@in_memory
def test_a_request_of_the_portal_that_comes_before_the_look_changes_nothing(gateway: InProcess) -> None:
    end = clock() + LASTS
    begin(gateway, block(end))
    gateway.hands.passed += LASTS + SLACK + 1
    gateway.ask(wire.Digest(end + 1))
    assert look(gateway)
    assert set(iter_open(gateway)) == OTHERS.keys()


@in_memory
def test_a_block_that_ended_while_the_agent_did_not_run_is_looked_after_at_its_start(gateway: InProcess) -> None:
    begin(gateway, block(clock() + LASTS))
    gateway.hands.off += LASTS + SLACK + 1  # an agent that starts reads the machine's clock
    gateway.restart()
    assert look(gateway)
    assert set(iter_open(gateway)) == OTHERS.keys()


@in_memory
@pytest.mark.parametrize("lasts", [0, 3 * LASTS])
def test_a_block_that_was_lifted_or_lasts_longer_does_not_end_at_its_former_end(gateway: InProcess, lasts: int) -> None:
    now = clock()
    first, second = block(now + LASTS), block(now + lasts if lasts else 0)
    begin(gateway, first)
    deploy(gateway, step(first, second, token=2, now=now))
    gateway.hands.passed += LASTS + SLACK + 1
    assert not look(gateway)


@in_memory
def test_a_block_that_is_taken_back_does_not_end_and_one_that_comes_back_does(gateway: InProcess) -> None:
    now = clock()
    first, second = block(now + 2 * LASTS), block(0, other=now + LASTS)
    begin(gateway, first)
    assert isinstance(gateway.ask(step(first, second, token=2, now=now)), wire.Applied)
    assert isinstance(gateway.ask(wire.Revert(2)), wire.Reverted)
    gateway.hands.passed += LASTS + SLACK + 1
    assert not look(gateway)
    gateway.hands.passed += LASTS
    assert look(gateway)


@in_memory
def test_blocks_without_an_end_never_list_connections(gateway: InProcess) -> None:
    gateway.table = table = Unlistable()
    gateway.restart()
    deploy(gateway, whole(compile_policy(replace(POLICY, blocks=(BlockedMemberSpec(1, ip_network(MEMBER)),))), token=1, now=clock()))
    listed = table.listed
    gateway.hands.passed += 10 * LASTS
    assert not look(gateway)
    assert table.listed == listed
