"""Changes of who reaches a gateway: until they are approved and there, the gateway keeps what it has confirmed itself."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.audit.undo import find_last_event, undo_event
from apps.bans.listeners.services import set_server_facing_interface
from apps.deployments.approvals.refusal import refuse_part
from apps.deployments.models import GatewayState, HeldBack, Revision, Rollout
from apps.deployments.rollouts.decisions import approve_part, pause_rollout, resume_rollout
from apps.deployments.services import reconcile
from apps.gateways.replacement import forget_old_machine
from apps.gateways.services import configure_gateway, get_facts
from apps.lib.errors import Problem
from apps.network.models import Gateway
from tests import factories
from tests.db.agents import end_started, stop_agent
from tests.db.rollout_rows import open_rollout

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _agents_ended() -> Iterator[None]:
    yield
    end_started()


@pytest.fixture
def network(served_network: factories.Network) -> factories.Network:
    assert reconcile(served_network.group)
    return served_network


@pytest.fixture
def peer(network: factories.Network) -> User:
    return factories.user("jonas")


def test_a_gateway_that_did_not_get_a_change_of_management_needs_no_approval_to_go_on_without_it(
    network: factories.Network, peer: User
) -> None:
    def move_ssh(port: int) -> Rollout | None:
        with factories.written_by(network.admin):
            Gateway.objects.filter(name="nat-1").update(management_port=port)
        return reconcile(network.group)

    move_ssh(2222)
    held = HeldBack.objects.get()
    approve_part(held, digest=held.digest, by=peer, signed_in_again=False)
    with stop_agent(network.gateways[0]):
        reconcile(network.group)
        held.refresh_from_db()
        assert held.state == HeldBack.State.APPROVED, "the other gateway has the revision, but this is about one that does not"
        move_ssh(22)
    reconcile(network.group, force=True)
    assert not HeldBack.objects.filter(state__in=HeldBack.ALIVE).exists()
    last = Revision.objects.latest("pk")
    assert {state.revision for state in GatewayState.objects.all()} == {last} and last.management["nat-1"]["port"] == 22


@pytest.fixture
def approved_change(network: factories.Network, peer: User) -> HeldBack:
    """An approved change of the ssh ports of both gateways to 2222, which no gateway has got."""
    Gateway.objects.update(management_port=2222)
    reconcile(network.group)
    held = HeldBack.objects.get()
    approve_part(held, digest=held.digest, by=peer, signed_in_again=True)
    return held


def list_confirmed_ports() -> set[int]:
    return {state.revision.management[state.gateway.name]["port"] for state in GatewayState.objects.all() if state.revision}


def test_a_gateway_that_was_away_gets_an_approved_change_of_management_without_another_approval(
    network: factories.Network, approved_change: HeldBack
) -> None:
    with stop_agent(network.gateways[0]):
        reconcile(network.group)
        assert reconcile(network.group, cause="schedule") is None
        approved_change.refresh_from_db()
        assert approved_change.state == HeldBack.State.APPROVED and list_confirmed_ports() == {22, 2222}
    reconcile(network.group, force=True)
    assert list_confirmed_ports() == {2222}
    reconcile(network.group)
    assert HeldBack.objects.get().state == HeldBack.State.DONE


def test_a_paused_rollout_of_an_approved_change_of_management_can_be_resumed(network: factories.Network, approved_change: HeldBack) -> None:
    lease = open_rollout(network)
    pause_rollout(lease.rollout, by=network.admin)
    Rollout.objects.update(lease_until=timezone.now())
    paused = reconcile(network.group)
    assert paused and paused.state == Rollout.State.PAUSED and list_confirmed_ports() == {22, 2222}
    resume_rollout(paused, by=network.admin)
    resumed = reconcile(network.group)
    assert resumed and (resumed.pk, resumed.state) == (paused.pk, Rollout.State.CONFIRMED)
    assert HeldBack.objects.get() == approved_change and list_confirmed_ports() == {2222}


def test_an_approved_change_of_management_that_is_withdrawn_for_one_gateway_waits_anew(
    network: factories.Network, approved_change: HeldBack
) -> None:
    Gateway.objects.filter(name="nat-1").update(management_port=22)
    reconcile(network.group)
    assert HeldBack.objects.exclude(pk=approved_change.pk).get().state == HeldBack.State.WAITING
    assert list_confirmed_ports() == {22}


@pytest.fixture
def moving_management(network: factories.Network) -> Gateway:
    """A gateway with a management interface that waits for an approval; the one before is mgmt0."""
    Gateway.objects.filter(name="nat-1").update(management="mgmt1")
    reconcile(network.group)
    return Gateway.objects.get(name="nat-1")


def test_the_management_interface_is_no_other_one_until_its_successor_is_approved(
    network: factories.Network, moving_management: Gateway, peer: User
) -> None:
    gateway, version = moving_management, moving_management.version
    with pytest.raises(Problem, match="nat-1 still uses mgmt0 for management"):
        set_server_facing_interface(gateway=gateway, name="mgmt0", by=network.admin)
    facts = get_facts(gateway)
    for wrong in (replace(facts, lan="mgmt0"), replace(facts, wan="mgmt0"), replace(facts, sync="mgmt0")):
        with pytest.raises(Problem, match="nat-1 still uses mgmt0 for management"):
            configure_gateway(gateway=gateway, version=version, facts=wrong, by=network.admin)
    approve_part(HeldBack.objects.get(), digest=HeldBack.objects.get().digest, by=peer, signed_in_again=True)
    reconcile(network.group)
    set_server_facing_interface(gateway=gateway, name="mgmt0", by=network.admin)
    assert reconcile(network.group)


def test_the_management_interface_of_a_former_machine_is_no_other_one_of_the_new_until_its_successor_is_approved(
    network: factories.Network,
) -> None:
    gateway = network.gateways[0]
    forget_old_machine(gateway)
    Gateway.objects.filter(pk=gateway.pk).update(management="mgmt1")
    gateway.refresh_from_db()
    with pytest.raises(Problem, match="nat-1 still uses mgmt0 for management"):
        set_server_facing_interface(gateway=gateway, name="mgmt0", by=network.admin)
    assert reconcile(network.group), "with the old interface until the new one is approved"


def test_an_undo_does_not_make_the_management_interface_another_one(network: factories.Network, peer: User) -> None:
    def configure(**given: Any) -> None:
        gateway = Gateway.objects.get(name="nat-1")
        configure_gateway(gateway=gateway, version=gateway.version, facts=replace(get_facts(gateway), **given), by=network.admin)

    configure(sync="mgmt1")
    configure(sync="", management="mgmt1")
    reconcile(network.group)
    approve_part(HeldBack.objects.get(), digest=HeldBack.objects.get().digest, by=peer, signed_in_again=True)
    reconcile(network.group)
    event = find_last_event(Gateway, network.gateways[0].pk)
    assert event
    with pytest.raises(Problem, match="nat-1 still uses mgmt1 for management"):
        undo_event(model=Gateway, event=event, by=network.admin)


def test_two_interfaces_are_not_exchanged_at_once_if_one_is_for_management(network: factories.Network) -> None:
    gateway = network.gateways[0]
    facts = replace(get_facts(gateway), lan="mgmt0", management="lan0")
    with pytest.raises(Problem, match="nat-1 still uses mgmt0 for management"):
        configure_gateway(gateway=gateway, version=gateway.version, facts=facts, by=network.admin)
    configure_gateway(gateway=gateway, version=gateway.version, facts=get_facts(gateway), by=network.admin)


def test_a_refusal_says_that_the_management_interface_is_another_one_by_now(
    network: factories.Network, moving_management: Gateway, peer: User
) -> None:
    held = HeldBack.objects.get()
    Gateway.objects.filter(pk=moving_management.pk).update(lan="mgmt0")
    left = refuse_part(held, digest=held.digest, reason="no", by=peer)
    assert left == ["nat-1: mgmt0 is another interface of it by now. Give that one another name first."]
    assert Gateway.objects.get(name="nat-1").management == "mgmt1"
