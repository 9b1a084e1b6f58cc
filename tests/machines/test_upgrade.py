"""An agent that is older than the portal deploys, and is replaced by the portal's package under a member's connection."""

from base64 import b64encode
from collections.abc import Mapping

import pytest
from django.conf import LazySettings

from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel, agent_client
from apps.gateways.agent_package.debian_package import AgentPackage, build_agent_package, build_package, read_sources
from apps.gateways.joining.install_command import FILE, build_install_command
from apps.gateways.joining.models import JoiningMachine
from apps.gateways.joining.presentation import list_checks
from apps.network.models import Gateway
from lab.lab import Lab
from lab.machines.virtual_machine import VirtualMachine
from tests import factories
from tests.db.agents import runs, steps
from tests.machines.conftest import PATIENCE, begin_joining, find_joined, finish_joining, get_command
from tests.whole.system import INTERNET, conversation, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.machines]


def build_older_package() -> AgentPackage:
    sources = read_sources()
    return build_package(sources | {"gateway/__init__.py": sources["gateway/__init__.py"] + b"# the release before\n"})


def install(machine: VirtualMachine, package: AgentPackage) -> None:
    """Install the package as an administrator without the portal's page would."""
    machine.run(f"base64 -d >{FILE} && apt-get install -y --no-install-recommends {FILE}", text=b64encode(package.content).decode())


def read_version(gateway: Gateway) -> str:
    """Return the version that the gateway's agent tells; "" while it starts."""
    try:
        return agent_client.send_hello(agent_channel.get_channel(gateway), 0).agent
    except agent_channel.Unreachable:
        agent_channel.close_all_channels()
        return ""


def test_an_older_agent_deploys_and_is_replaced_under_an_open_connection(
    prepared_machines: Mapping[str, VirtualMachine], portal_settings: LazySettings, network: factories.Network, lab: Lab
) -> None:
    older, ours = build_older_package(), build_agent_package()
    assert older.version != ours.version
    Gateway.objects.all().delete()
    rows = {name: begin_joining(machine, network) for name, machine in prepared_machines.items()}
    for name, machine in prepared_machines.items():
        install(machine, older)
        machine.run(get_join_command(rows[name]))
        found = find_joined(rows[name])
        words = f"agent {older.version}, this portal’s is {ours.version}"
        assert words in [each.word for each in list_checks(found)]
        finish_joining(rows[name], network, carries=[4] if name == "nat-1" else [6])
    assert steps(reconcile(network.group)) == {"nat-1": "confirmed", "nat-2": "confirmed"}
    gateway = Gateway.objects.get(name="nat-1")
    before = runs(gateway)
    with conversation(lab, "m1", INTERNET, 443) as goes_on:
        assert goes_on()
        prepared_machines["nat-1"].run(get_command(rows["nat-1"]))
        agent_channel.close_all_channels()
        assert goes_on()
        assert wait_for(lambda: read_version(gateway), seconds=PATIENCE) == ours.version
        assert runs(gateway) == before
    assert steps(reconcile(network.group, force=True)) == {"nat-1": "confirmed", "nat-2": "confirmed"}


def get_join_command(row: JoiningMachine) -> str:
    """Return the command for a machine that has the package."""
    command = build_install_command(row)
    assert command, row.problem
    return command.by_hand
