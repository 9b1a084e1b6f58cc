"""A switch by one press: a worker moves families between gateways with real keepalived and conntrackd, proves it, and goes back."""

from collections.abc import Iterator
from ipaddress import ip_interface

import pytest

from apps.deployments.services import reconcile
from apps.gateways.failover_settings import change_failover
from apps.gateways.roles.models import CarrierChange, RoleSwitch
from apps.gateways.roles.observation import observe_group
from apps.gateways.roles.outcomes import describe_outcome
from apps.gateways.roles.switching import carry_out_switch, request_switch
from apps.lib.errors import Problem
from lab.failover import FailoverPrograms, await_sole_carrier, await_standby, find_obstacle, route_to_virtual_addresses, run_failover_pair
from lab.lab import Lab
from tests import factories
from tests.whole.system import INTERNET, conversation

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.xdist_group("whole"),
    pytest.mark.skipif(bool(find_obstacle()), reason=find_obstacle() or "can run"),
]
State = RoleSwitch.State
SECOND = 100  # centiseconds between advertisements


@pytest.fixture
def programs(lab: Lab, network: factories.Network) -> Iterator[dict[str, FailoverPrograms]]:
    """Both gateways with failover: the first one carries both families. Both are known to run the same revision."""
    inside = [ip_interface("10.0.0.254/11"), ip_interface("fe80::7/64")]
    for number, gateway in enumerate(network.gateways, 1):
        gateway.sync, gateway.sync_address = "sync0", f"172.31.255.{number}"
        gateway.save()
    factories.probes(network)
    change_failover(group=network.group, version=0, inside=inside, by=network.admin)
    reconcile(network.group)
    route_to_virtual_addresses(lab)
    with run_failover_pair(lab, interval=SECOND) as running:
        for each in running.values():
            each.call("refresh")
        observe_group(network.group)
        yield running


def switch(network: factories.Network, gateway: int, kind: RoleSwitch.Kind, *families: int) -> RoleSwitch:
    """Request a switch, and do the worker's work."""
    requested = request_switch(gateway=network.gateways[gateway], kind=kind, families=families, by=network.admin)
    carry_out_switch(requested.pk)
    requested.refresh_from_db()
    return requested


def list_changes(family: int) -> list[tuple[list[str], str]]:
    return list(CarrierChange.objects.filter(family=family).order_by("id").values_list("carriers", "cause"))


def test_a_press_moves_both_families_and_members_connections_go_on(
    lab: Lab, network: factories.Network, programs: dict[str, FailoverPrograms]
) -> None:
    with conversation(lab, "m1", INTERNET, 7) as goes_on:
        moved = switch(network, 0, RoleSwitch.Kind.SWITCH)
        assert (moved.state, moved.families) == (State.DONE, [4, 6]), describe_outcome(moved)
        await_sole_carrier(lab, "nat-2")
        await_standby(programs["nat-1"])
        assert goes_on()
    assert list_changes(4) == list_changes(6) == [(["nat-1"], "first"), (["nat-2"], "switch")]
    text = describe_outcome(moved)
    assert "IPv4 + IPv6: carried by nat-2 after " in text
    assert "answered through nat-2 in" in text


def test_one_family_moves_alone(lab: Lab, network: factories.Network, programs: dict[str, FailoverPrograms]) -> None:
    assert switch(network, 0, RoleSwitch.Kind.SWITCH, 6).state == State.DONE
    await_sole_carrier(lab, "nat-1", 4)
    await_sole_carrier(lab, "nat-2", 6)


def test_a_gateway_that_is_drained_takes_nothing_over_until_it_is_back_again(
    lab: Lab, network: factories.Network, programs: dict[str, FailoverPrograms]
) -> None:
    assert switch(network, 0, RoleSwitch.Kind.DRAIN).state == State.DONE
    await_sole_carrier(lab, "nat-2")
    with pytest.raises(Problem, match=r"No other gateway is ready to take over from nat-2\. nat-1 is drained of IPv4\."):
        request_switch(gateway=network.gateways[1], kind=RoleSwitch.Kind.SWITCH)
    back = switch(network, 0, RoleSwitch.Kind.RESUME)
    assert (back.state, describe_outcome(back)) == (State.DONE, "nat-1 is ready to take over IPv4 + IPv6 again.")
    await_standby(programs["nat-1"])
    await_sole_carrier(lab, "nat-2")


def test_a_switch_to_a_gateway_through_which_no_packets_pass_is_not_begun(
    lab: Lab, network: factories.Network, programs: dict[str, FailoverPrograms]
) -> None:
    requested = request_switch(gateway=network.gateways[0], kind=RoleSwitch.Kind.SWITCH, by=network.admin)
    lab.run("nat-2", ["ip", "route", "del", "default"])
    carry_out_switch(requested.pk)
    requested.refresh_from_db()
    assert requested.state == State.FAILED
    assert describe_outcome(requested).startswith("Nothing was done: packets do not pass through nat-2. IPv4:")
    await_sole_carrier(lab, "nat-1")


def test_a_gateway_that_cannot_take_over_leaves_the_families_where_they_are(
    lab: Lab, network: factories.Network, programs: dict[str, FailoverPrograms]
) -> None:
    requested = request_switch(gateway=network.gateways[0], kind=RoleSwitch.Kind.SWITCH, by=network.admin)
    programs["nat-2"].keepalived.kill()
    programs["nat-2"].keepalived.wait(30)
    carry_out_switch(requested.pk)
    requested.refresh_from_db()
    assert requested.state == State.FAILED
    await_sole_carrier(lab, "nat-1")
