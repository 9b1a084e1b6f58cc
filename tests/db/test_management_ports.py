"""Ports at which a gateway's sshd may let the portal in, by what the gateway has confirmed."""

import pytest

from apps.deployments.models import GatewayState, RolloutStep
from apps.deployments.observed_state.gateway_states import forget_machine
from apps.deployments.transport.management_ports import list_ports
from apps.network.models import Gateway
from tests import factories
from tests.db.rollout_rows import roll_out

pytestmark = pytest.mark.django_db


def change_port(port: int) -> Gateway:
    """Enter this port for nat-1, and return its row."""
    Gateway.objects.filter(name="nat-1").update(management_port=port)
    return Gateway.objects.get(name="nat-1")


def test_before_a_gateway_has_confirmed_anything_its_entered_port_is_the_only_one(network: factories.Network) -> None:
    assert list_ports(change_port(2222)) == (2222,)
    assert list_ports(Gateway(name="nat-9", management_port=2022)) == (2022,)


def test_a_confirmed_port_comes_before_one_that_was_entered_since(network: factories.Network) -> None:
    roll_out(network)
    assert list_ports(change_port(22)) == (22,)
    assert list_ports(change_port(2222)) == (22, 2222)
    roll_out(network)
    assert list_ports(change_port(2222)) == (2222,)
    Gateway.objects.filter(name="nat-1").update(name="north")
    assert list_ports(Gateway.objects.get(name="north")) == (2222,), "a revision knows it by its name of then"


def test_a_port_that_a_gateway_may_have_confirmed_unheard_is_tried_too(network: factories.Network) -> None:
    first = roll_out(network)
    change_port(2222)
    last = roll_out(network)
    GatewayState.objects.filter(gateway__name="nat-1").update(revision=first.revision)
    RolloutStep.objects.filter(rollout=last, gateway__name="nat-1").update(state=RolloutStep.State.LOST)
    assert list_ports(change_port(2022)) == (22, 2222, 2022)
    RolloutStep.objects.filter(rollout=last, gateway__name="nat-1").update(state=RolloutStep.State.WENT_BACK)
    assert list_ports(change_port(2022)) == (22, 2022)


def test_nothing_is_known_of_the_ports_of_another_machine(network: factories.Network) -> None:
    roll_out(network)
    forget_machine(network.gateways[0])
    assert list_ports(change_port(2222)) == (2222,)
