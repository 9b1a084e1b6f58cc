"""Faults of one gateway alone, of its disk or its token: the other gateway gets the change, and the first one follows by itself."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from apps.bans import services as bans
from apps.deployments.models import GatewayState, Rollout, RolloutStep
from apps.deployments.rollouts import progress
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel, agent_client
from apps.deployments.transport.agent_channel import AgentChannel
from apps.network.models import Gateway
from firewall import wire
from firewall.ruleset import EMPTY
from tests import factories
from tests.db.agents import directory_of, end_started, runs, same_everywhere, steps, stop_agent, unwritable

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(served_network: factories.Network) -> factories.Network:
    """Two gateways in memory that run the desired state."""
    reconcile(served_network.group)
    return served_network


def ban(network: factories.Network, prefix: str) -> None:
    bans.ban_prefix(list=bans.create_list(name=prefix, by=network.admin), prefix=prefix, comment="scans", author=network.admin)


def passes(time: timedelta) -> None:
    """Move the ends of all rollouts back by this time."""
    Rollout.objects.update(finished=F("finished") - time)


@pytest.mark.parametrize("at", [0, 1])
def test_a_disk_that_cannot_be_written_keeps_no_ban_from_the_other_gateway(network: factories.Network, at: int) -> None:
    bad, good = network.gateways[at], network.gateways[1 - at]
    with unwritable(bad):
        ban(network, "192.0.2.66")
        assert steps(reconcile(network.group)) == {bad.name: "impaired", good.name: "confirmed"}
    state = GatewayState.objects.get(gateway=bad)
    assert "token cannot be written: File too large" in state.error
    assert RolloutStep.objects.filter(gateway=bad).latest("pk").reason == "state"


def test_it_is_tried_again_by_itself_once_its_disk_can_be_written_and_not_before(network: factories.Network) -> None:
    first = network.gateways[0]
    with unwritable(first):
        ban(network, "192.0.2.66")
        reconcile(network.group)
        passes(timedelta(hours=2))
        assert reconcile(network.group, cause="schedule") is None
        assert "token cannot be written" in GatewayState.objects.get(gateway=first).disk
    rollout = reconcile(network.group, cause="schedule")
    assert steps(rollout) == {"nat-1": "confirmed", "nat-2": "confirmed"}
    assert same_everywhere(network)
    assert GatewayState.objects.get(gateway=first).disk == ""


def journal_grown(network: factories.Network) -> int:
    """Add bans until the journal is larger than the other state files, and return its size in octets."""
    journal = directory_of(network.gateways[0]) / "journal"
    for host in range(4):
        for low in range(30):
            ban(network, f"198.18.{host}.{low}")
        reconcile(network.group)
    assert journal.stat().st_size > 4096
    return journal.stat().st_size


def test_a_fault_that_nothing_shows_beforehand_is_tried_again_ever_more_seldom(network: factories.Network) -> None:
    with unwritable(network.gateways[0], from_octet=journal_grown(network)):
        ban(network, "192.0.2.66")
        tried = [steps(reconcile(network.group))]
        for _minute in range(60):
            passes(timedelta(minutes=1))
            if rollout := reconcile(network.group, cause="schedule"):
                tried.append(steps(rollout))
    assert tried == [{"nat-1": "impaired", "nat-2": "confirmed"}] * len(tried)
    assert 3 <= len(tried) <= 8


def test_a_disk_that_fills_before_the_confirmation_takes_the_change_back_there_alone(network: factories.Network) -> None:
    """The token is already stored, but the journal's line no longer fits on the disk."""
    first = network.gateways[0]
    octets, before = journal_grown(network), runs(first)
    with unwritable(first, from_octet=octets):
        ban(network, "192.0.2.66")
        assert steps(reconcile(network.group)) == {"nat-1": "impaired", "nat-2": "confirmed"}
        assert runs(first) == before
    assert steps(reconcile(network.group, cause="schedule")) == {"nat-1": "confirmed", "nat-2": "confirmed"}


def test_a_token_ahead_of_ours_keeps_nothing_from_the_other_gateway_and_waits_for_a_person(network: factories.Network) -> None:
    agent_client.send_hello(agent_channel.get_channel(network.gateways[0]), 0, 10**5)
    ban(network, "192.0.2.66")
    assert steps(reconcile(network.group)) == {"nat-1": "impaired", "nat-2": "confirmed"}
    passes(timedelta(hours=2))
    assert reconcile(network.group, cause="schedule") is None
    assert steps(reconcile(network.group, force=True)) == {"nat-1": "confirmed", "nat-2": "confirmed"}


def meddle_with(gateway: Gateway) -> None:
    """Make the gateway confirm a ruleset that the portal did not send."""
    channel = agent_channel.get_channel(gateway)
    token = agent_client.send_hello(channel, 0).token
    channel.ask(wire.Apply(token, 0, "", "0" * 64, None, EMPTY, 60))
    with agent_channel.open_session(gateway) as session:
        session.ask(wire.Confirm(token, "0" * 64))


@pytest.mark.parametrize("at", [0, 1])
def test_what_was_changed_on_one_gateway_is_put_right_while_the_other_has_a_fault_of_its_own(network: factories.Network, at: int) -> None:
    bad, good = network.gateways[at], network.gateways[1 - at]
    with unwritable(bad):
        ban(network, "192.0.2.66")
        reconcile(network.group)
        wanted = runs(good)
        meddle_with(good)
        assert runs(good) != wanted
        assert steps(reconcile(network.group, cause="schedule"))[good.name] == "confirmed"
        assert runs(good) == wanted


@pytest.mark.parametrize("at", [0, 1])
def test_what_was_put_right_is_told_of_the_gateway_that_lacked_it(network: factories.Network, at: int) -> None:
    meddle_with(network.gateways[at])
    rollout = reconcile(network.group, cause="schedule")
    assert rollout is not None and steps(rollout)[network.gateways[at].name] == "confirmed"
    assert "addresses added" in progress.render_changes(rollout)


def test_what_differs_on_no_gateway_is_not_called_unknown_and_no_gateway_compares_it(
    network: factories.Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, ask = list[type[wire.Request]](), AgentChannel.ask

    def note(channel: AgentChannel, request: wire.Request, **given: Any) -> wire.Reply:
        asked.append(type(request))
        return ask(channel, request, **given)

    monkeypatch.setattr(AgentChannel, "ask", note)
    rollout = reconcile(network.group, force=True)
    assert rollout is not None and progress.render_changes(rollout) == "the same ruleset again"
    assert wire.Hello in asked
    assert wire.Plan not in asked


@pytest.mark.parametrize("at", [0, 1])
def test_what_a_gateway_that_does_not_answer_lacks_is_not_known(network: factories.Network, at: int) -> None:
    with stop_agent(network.gateways[at]):
        rollout = reconcile(network.group, force=True)
        assert rollout is not None and progress.render_changes(rollout) == "not known: a gateway did not answer"
    end_started()
