"""A gateway loses its power and comes back while a member downloads: systemd starts all that makes two machines one."""

from collections.abc import Mapping
from ipaddress import ip_interface

import pytest

from apps.deployments.services import reconcile
from apps.gateways.failover_files import DIRECTORY, render_failover_files
from apps.gateways.failover_settings import change_failover
from apps.gateways.group_settings import change_profile
from apps.gateways.roles.models import RoleSwitch
from apps.gateways.roles.outcomes import describe_outcome
from apps.gateways.roles.switching import carry_out_switch, request_switch
from apps.network.models import Gateway
from firewall.failover import InterfaceSide
from lab.failover import ADDRESSES, SYNC, VIRTUAL_ROUTER, route_to_virtual_addresses
from lab.lab import Lab
from lab.machines.placement import wait_until_up
from lab.machines.virtual_machine import VirtualMachine
from tests import factories
from tests.db.agents import steps
from tests.machines.conftest import PATIENCE
from tests.whole.download import Download
from tests.whole.system import INTERNET, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.machines]
EXPLAIN = """
netzwart-failover status 2>&1
systemctl --no-pager --full status keepalived conntrackd netzwart-restore netzwart-agent
journalctl --no-pager --boot --lines 40 --unit keepalived --unit conntrackd
head -c 200 /etc/netzwart/failover.conf; ls -la /run/netzwart-failover /etc/keepalived /etc/conntrackd; ip -brief address
"""
SECOND = 100  # centiseconds; the clocks of emulated machines that are busy run at different rates


def install_failover(machine: VirtualMachine) -> None:
    """Install the gateway's files as its page says."""
    machine.run(f"mkdir -p {DIRECTORY}")
    for name, text in render_failover_files(Gateway.objects.get(name=machine.name)).items():
        machine.run(f"cat >{DIRECTORY}/{name}", text=text)
    machine.run(f"netzwart-failover install {DIRECTORY}")


def install_by_press(machine: VirtualMachine) -> None:
    """Install the gateway's files as its button does."""
    gateway = Gateway.objects.get(name=machine.name)
    row = request_switch(gateway=gateway, kind=RoleSwitch.Kind.INSTALL)
    carry_out_switch(row.pk)
    row.refresh_from_db()
    assert row.state == RoleSwitch.State.DONE, describe_outcome(row)
    assert machine.run("cat /etc/netzwart/failover.conf").stdout == render_failover_files(gateway)["failover.conf"]


def await_role(machine: VirtualMachine, role: str) -> None:
    """Return when the gateway has this role for both families. Otherwise fail with what the machine says of its programs."""

    def has_role() -> bool:
        return machine.run("netzwart-failover status", check=False).stdout.count(f": {role} since") == 2

    try:
        wait_for(has_role, seconds=PATIENCE)
    except AssertionError as error:
        raise AssertionError(f"{machine.name} is not {role}\n{machine.run(EXPLAIN, check=False).stdout}") from error


def await_state(machine: VirtualMachine) -> None:
    """Return when the gateway has the state of the member's connection: what a crash overtakes is lost."""
    command = f"conntrack -L -p tcp --state ESTABLISHED --orig-dst {INTERNET}"
    wait_for(lambda: INTERNET in machine.run(command, check=False).stdout, seconds=PATIENCE)


def kill_conntrackd(machine: VirtualMachine) -> None:
    """Kill conntrackd, as a machine without memory does, and return when its unit runs it again."""
    machine.run("systemctl kill --signal KILL conntrackd && while conntrackd -s; do sleep 0.1; done >/dev/null 2>&1")
    wait_for(lambda: machine.run("conntrackd -s", check=False).returncode == 0, seconds=PATIENCE)


def test_a_download_goes_on_when_its_gateway_loses_power_and_comes_back(
    joined_machines: Mapping[str, VirtualMachine], network: factories.Network, lab: Lab
) -> None:
    first, other = joined_machines["nat-1"], joined_machines["nat-2"]
    change_profile(group=network.group, version=0, managed=True, tcp_loose=False, by=network.admin)
    assert steps(reconcile(network.group)) == {"nat-1": "confirmed", "nat-2": "confirmed"}
    assert {each.name: each.sync_address for each in Gateway.objects.all()} == SYNC, "as the machines reported them"
    inside, outside = (
        [ip_interface(str(each)) for each in ADDRESSES if each.side is side] for side in (InterfaceSide.LAN, InterfaceSide.WAN)
    )
    change_failover(
        group=network.group, version=0, inside=inside, outside=outside, virtual_router=VIRTUAL_ROUTER, interval=SECOND, by=network.admin
    )
    for machine, role, install in ((first, "primary", install_failover), (other, "standby", install_by_press)):
        install(machine)
        await_role(machine, role)
    route_to_virtual_addresses(lab)
    with Download(lab, "m1", INTERNET) as download:
        assert download.goes_on()
        await_state(other)
        first.cut_power()
        await_role(other, "primary")
        assert download.goes_on(), download.fault
        first.switch_on()
        wait_until_up([first])
        await_role(first, "standby")
        await_state(first)
        other.run("netzwart-failover drain")
        await_role(first, "primary")
        assert download.goes_on(), download.fault
    assert download.is_whole(), download.fault
    kill_conntrackd(other)
