"""Removals that wait, or do not, beside what happens elsewhere: on a gateway that lags behind, and to the address or port concerned."""

from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_address

import pytest
from django.db.models.functions import Now

from apps.accounts.models import User
from apps.bans.listeners.services import add_listener, remove_listener
from apps.bans.models import Listener
from apps.deployments.models import HeldBack, UnapprovedLoss
from apps.deployments.rollouts.decisions import approve_part
from apps.deployments.services import reconcile
from apps.network.services import assign_address, release_holding
from tests import factories
from tests.db.agents import end_started, stop_agent
from tests.db.rollout_rows import forward
from tests.db.test_decisions import running
from tests.db.test_second_person import MANY, askers, get_waiting, network, peer, waits, withdraw

__all__ = ["network", "peer"]  # fixtures

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _agents_ended() -> Iterator[None]:
    yield
    end_started()


# --- A gateway that lags behind


def test_removals_that_are_gone_do_not_wait_and_do_not_come_back_because_a_gateway_is_away(network: factories.Network) -> None:
    with stop_agent(network.gateways[1]):
        for port in MANY:
            withdraw(port, by=network.admin)
            reconcile(network.group)
            UnapprovedLoss.objects.update(at=Now() - timedelta(minutes=61))
        assert len(running().elements["forward4"]) == 5 and not HeldBack.objects.exists()
        assert len(running("nat-2").elements["forward4"]) == 10
    reconcile(network.group, force=True)
    assert len(running("nat-2").elements["forward4"]) == 5 and not HeldBack.objects.exists()


def test_removals_wait_though_a_gateway_that_is_away_would_lose_more_of_what_was_approved(network: factories.Network, peer: User) -> None:
    with stop_agent(network.gateways[1]):
        withdraw(*MANY, by=network.admin)
        reconcile(network.group)
        approve_part(waits(), digest=waits().digest, by=peer, signed_in_again=False)
        reconcile(network.group)
        with factories.written_by(network.admin):
            for port in range(7101, 7105):
                forward(network, port)
        reconcile(network.group)
        withdraw(7101, 7102, 7103, 7104, by=network.admin)
        reconcile(network.group)
        assert (waits().removed, len(running().elements["forward4"])) == (4, 9)
    reconcile(network.group, force=True)
    assert (waits().removed, len(running("nat-2").elements["forward4"])) == (4, 9), "it serves what the other one serves"


def test_who_wrote_before_the_newest_revision_has_not_asked_for_what_is_removed_after_it(network: factories.Network, peer: User) -> None:
    with stop_agent(network.gateways[1]):
        with factories.written_by(peer):
            for port in range(7101, 7105):
                forward(network, port)
        reconcile(network.group)
        withdraw(7101, 7102, 7103, 7104, by=network.admin)
        reconcile(network.group)
        assert askers() == ["mara"]


# --- Nobody gets what was opened for the holder before


def leave_address(network: factories.Network, name: str) -> None:
    """Release the resident's address alone, which is not too much for one person."""
    with factories.written_by(network.admin):
        release_holding(holding=network.residents[name].holding, by=network.admin)


def test_a_forward_that_waits_ends_when_somebody_else_gets_the_address(network: factories.Network) -> None:
    leave_address(network, "m1")
    reconcile(network.group)
    held, address = get_waiting("forwards"), network.residents["m1"].holding.prefix
    assert held.removed == len(running().elements["forward4"]) == 10
    assign_address(member=factories.member(), pool=network.private, prefix=address, by=network.admin)
    assert reconcile(network.group)
    assert not running().elements["forward4"] and address.network_address.packed in running().elements["up4"]
    held.refresh_from_db()
    assert held.state == HeldBack.State.OBSOLETE and not HeldBack.objects.filter(state=HeldBack.State.WAITING).exists()
    assert UnapprovedLoss.objects.exists(), "it counts like a removal without an approval"


# --- A port is a forward's or a listener's


def listen(network: factories.Network, port: int) -> None:
    address = ip_address(factories.PUBLIC)
    add_listener(group=network.group, name=f"www{port}", address=address, protocol="tcp", port=port, by=network.admin)


def test_a_forward_that_waits_ends_when_a_listener_takes_its_port_and_the_others_wait_on(network: factories.Network) -> None:
    withdraw(*MANY, by=network.admin)
    reconcile(network.group)
    listen(network, 7001)
    assert reconcile(network.group)
    assert len(running().elements["forward4"]) == 9 and len(running().elements["listener4"]) == 1
    assert (waits().removed, waits().earlier) == (4, 1)


def test_a_listener_whose_removal_waits_ends_when_a_forward_takes_its_port(network: factories.Network) -> None:
    for port in range(8001, 8005):
        listen(network, port)
    reconcile(network.group)
    with factories.written_by(network.admin):
        for each in Listener.objects.all():
            remove_listener(listener=each, by=network.admin)
    reconcile(network.group)
    forward(network, 8001)
    assert reconcile(network.group)
    assert len(running().elements["listener4"]) == waits().removed == 3 and len(running().elements["forward4"]) == 11
