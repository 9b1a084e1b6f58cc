"""A gateway's machine is replaced, and the other gateway retired, while a member's connection runs through."""

import io
from pathlib import Path

import pytest
from django.core.management import call_command

from apps.deployments.models import GatewayState
from apps.deployments.services import reconcile
from apps.network.models import Gateway
from lab.lab import Lab
from tests import factories
from tests.db.agents import runs, steps
from tests.db.rollout_rows import forward
from tests.whole.machines import LabMachines
from tests.whole.system import INTERNET, conversation, reached_by_ssh

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]


def gateway(*arguments: str) -> str:
    output = io.StringIO()
    call_command("gateway", *arguments, stdout=output, stderr=output)
    return output.getvalue()


def test_a_connection_outlives_the_replacement_of_one_gateway_and_the_retirement_of_the_other(
    bare_lab: Lab, machines: LabMachines, network: factories.Network, sockets: Path
) -> None:
    reached_by_ssh(bare_lab, network.gateways, sockets)
    forward(network, 8443)
    assert steps(reconcile(network.group)) == {"nat-1": "confirmed", "nat-2": "confirmed"}
    with conversation(bare_lab, "m1", INTERNET, 443) as goes_on:
        assert goes_on()
        key = machines.exchange("nat-2")
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
