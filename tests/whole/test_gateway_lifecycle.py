"""A gateway's machine is replaced, and the other gateway retired, while a member's connection runs through."""

import io
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import call_command

from apps.deployments.models import GatewayState
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel, ssh
from apps.nat.services import add_forward
from apps.network.models import Gateway
from lab import sshd as lab_sshd
from lab.lab import Lab
from lab.sshd import find_obstacle
from tests import factories
from tests.db.agents import runs, steps
from tests.whole.system import INTERNET, agent, conversation, inside, reached_by_ssh, sshd

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]


@pytest.fixture
def machines(settings: LazySettings, sockets: Path) -> ExitStack:
    """Stack of what runs on the machines."""
    if reason := find_obstacle():
        pytest.skip(reason)
    settings.SSH_KEY, settings.SSH_KNOWN_HOSTS = sockets / "id_ed25519", sockets / "known_hosts.d"
    return ExitStack()


def set_up(lab: Lab, name: str, sockets: Path, on: ExitStack) -> None:
    """Start the agent and the sshd of a machine, as it was left or new."""
    on.enter_context(agent(lab, name, sockets, shared=True))
    on.enter_context(sshd(lab, name, sockets))


def gateway(*arguments: str) -> str:
    output = io.StringIO()
    call_command("gateway", *arguments, stdout=output, stderr=output)
    return output.getvalue()


def forward(network: factories.Network, port: int) -> None:
    holding = network.residents["m1"].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=443, by=network.admin)


def test_a_connection_outlives_the_replacement_of_one_gateway_and_the_retirement_of_the_other(
    bare_lab: Lab, network: factories.Network, sockets: Path, machines: ExitStack
) -> None:
    with machines, ExitStack() as dying, inside(bare_lab, "portal"):
        set_up(bare_lab, "nat-1", sockets, machines)
        set_up(bare_lab, "nat-2", sockets, dying)
        reached_by_ssh(bare_lab, network.gateways, sockets)
        forward(network, 8443)
        assert steps(reconcile(network.group)) == {"nat-1": "confirmed", "nat-2": "confirmed"}
        with conversation(bare_lab, "m1", INTERNET, 443) as goes_on:
            assert goes_on()
            agent_channel.close_all_channels()
            dying.close()
            bare_lab.run("nat-2", ["nft", "delete", "table", "inet", "netzwart"])
            shutil.rmtree(sockets / "nat-2")
            shutil.rmtree(sockets / "nat-2.sshd")
            set_up(bare_lab, "nat-2", sockets, machines)
            key = ssh.compute_fingerprint(lab_sshd.ensure_host_key(sockets / "nat-2.sshd"))
            assert "nat-2 is another machine now" in gateway("replace", "nat-2", "--fingerprint", key)
            assert steps(reconcile(network.group, force=True))["nat-2"] == "confirmed"
            nat_1, nat_2 = Gateway.objects.order_by("name")
            assert runs(nat_2) == GatewayState.objects.get(gateway=nat_2).digest
            assert goes_on()
            assert "nat-1 is the IPv4 primary; nat-2 becomes it." in gateway("retire", "nat-1", "--yes")
            before = runs(nat_1)
            forward(network, 8444)
            assert steps(reconcile(network.group)) == {"nat-2": "confirmed"}
            assert runs(nat_1) == before, "its machine goes on with what it has"
            assert goes_on()
        agent_channel.close_all_channels()
