"""A gateway that takes over cuts the connections that it had cut before and that came back from the other one, and no others."""

from pathlib import Path

import pytest

from gateway.takeover import EVERY
from tests.agent.conftest import restrict_to_gateways
from tests.agent.failover_runtime import set_up_failover
from tests.agent.gateways import InProcess, OnKernel, clock
from tests.agent.requests import deploy
from tests.agent.rulesets import ban, network, step, whole
from tests.agent.test_cutting import (
    ALL,
    IN,
    MEMBER,
    OUT,
    PEER,
    PUBLIC,
    TO_BANNED,
    alive,
    as_flow,
    build_conntrack_arguments,
    list_plain,
    open_connections,
    open_one,
)

in_process = restrict_to_gateways("in memory", "kernel")
BEFORE = network(3)
AFTER = network(3, ban("203.0.113.8/29"), forwards=False)


@pytest.fixture
def runtime(gateway: InProcess | OnKernel) -> Path:
    """Set failover up on the gateway, which carries IPv4, and return the directory of its roles."""
    made = set_up_failover(gateway)
    write_role(made, "primary")
    return made


def write_role(runtime: Path, role: str) -> None:
    """Write the role down as netzwart-failover does: a new file in the place of the last."""
    (runtime / "role4.new").write_text(f"{role} 1800000000 election\n")
    (runtime / "role4.new").replace(runtime / "role4")


def look(gateway: InProcess | OnKernel) -> bool:
    """Do what the agent's server does each second. Return whether it was due."""
    due = gateway.agent.returned_flows.is_due()
    if due and isinstance(gateway, OnKernel):
        gateway.space.do(_cut, gateway)
    elif due:
        _cut(gateway)
    return due


def _cut(gateway: InProcess | OnKernel) -> None:
    returned = gateway.agent.returned_flows
    returned.cut(returned.build_forbidden_flows())


def bring_back(gateway: InProcess | OnKernel) -> None:
    """Ban a host and withdraw all forwards, and let the connections that this cuts come back."""
    open_connections(gateway)
    deploy(gateway, step(BEFORE, AFTER, token=2, now=clock()))
    assert alive(gateway) == ALL.keys() - {"banned", "in"}
    for arguments in (TO_BANNED, IN):
        open_one(gateway, arguments)
    assert alive(gateway) == ALL.keys()


@in_process
def test_what_came_back_is_cut_when_the_gateway_takes_over(gateway: InProcess | OnKernel, runtime: Path) -> None:
    write_role(runtime, "standby")
    bring_back(gateway)
    assert not look(gateway)
    assert alive(gateway) == ALL.keys()
    write_role(runtime, "primary")
    assert look(gateway)
    assert alive(gateway) == ALL.keys() - {"banned", "in"}


@in_process
def test_an_agent_that_was_started_again_still_knows_what_was_withdrawn(gateway: InProcess | OnKernel, runtime: Path) -> None:
    bring_back(gateway)
    gateway.restart()
    assert look(gateway)
    assert alive(gateway) == ALL.keys() - {"banned", "in"}


@in_process
def test_what_was_granted_again_is_left_alone(gateway: InProcess | OnKernel, runtime: Path) -> None:
    bring_back(gateway)
    deploy(gateway, step(AFTER, BEFORE, token=3, now=clock()))
    assert look(gateway)
    assert alive(gateway) == ALL.keys()


@in_process
def test_connections_of_a_former_holder_that_came_back_are_cut_and_those_of_the_present_one_go_on(
    gateway: InProcess | OnKernel, runtime: Path
) -> None:
    """All addresses and prefixes change hands, with the same mappings and forwards."""
    handed = network(3, first_owner=5_000_000)
    write_role(runtime, "standby")
    open_connections(gateway)
    deploy(gateway, step(BEFORE, handed, token=2, now=clock()))
    assert alive(gateway) == set()
    own = build_conntrack_arguments(MEMBER, 1009, PEER, 443, snat=PUBLIC)
    for arguments in (OUT, IN, own):
        open_one(gateway, arguments)
    write_role(runtime, "primary")
    assert look(gateway)
    assert alive(gateway) == set()
    assert list_plain(gateway) == {as_flow(own)}


@restrict_to_gateways("in memory")
def test_it_is_done_after_each_exchange_of_states_and_from_time_to_time(gateway: InProcess, runtime: Path) -> None:
    deploy(gateway, whole(AFTER, token=1, now=clock()))
    assert [look(gateway), look(gateway)] == [True, False]
    (runtime / "committed").touch()
    assert [look(gateway), look(gateway)] == [True, False]
    gateway.hands.passed += int(EVERY) + 1
    assert [look(gateway), look(gateway)] == [True, False]


@restrict_to_gateways("in memory")
def test_a_gateway_without_failover_never_looks(gateway: InProcess) -> None:
    deploy(gateway, whole(AFTER, token=1, now=clock()))
    assert not look(gateway)
