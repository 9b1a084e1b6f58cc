"""Deploys from a row to a packet, through real agents on a real kernel."""

from datetime import timedelta
from pathlib import Path
from subprocess import Popen

import pytest
from django.utils import timezone

from apps.bans.models import Ban, BanList
from apps.deployments.models import GatewayState, Rollout, RolloutStep
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel
from apps.lib.activation import list_activations
from apps.nat.models import PortForward
from apps.nat.services import add_forward, remove_forward
from lab.lab import Lab
from tests import factories
from tests.whole.system import INTERNET, agent, must_reach, reaches

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]


def forward(network: factories.Network, host: str = "m1", port: int = 8443) -> PortForward:
    return add_forward(
        holding=network.residents[host].holding,
        public=factories.PUBLIC,
        protocol="tcp",
        public_port=port,
        private_port=443,
        by=network.admin,
    )


def test_a_forward_lets_the_internet_reach_a_members_host_until_it_is_removed(lab: Lab, network: factories.Network) -> None:
    added = forward(network)
    rollout = reconcile(network.group)
    assert rollout is not None
    assert rollout.state == Rollout.State.CONFIRMED
    answer = must_reach(lab, "internet", "198.51.100.7", 8443)
    assert (answer.node, answer.peer_address) == ("m1", INTERNET)

    remove_forward(forward=added, by=network.admin)
    reconcile(network.group)
    assert reaches(lab, "internet", "198.51.100.7", 8443) is None


def test_members_reach_the_internet_over_both_families(lab: Lab, network: factories.Network) -> None:
    reconcile(network.group)
    assert must_reach(lab, "m1", INTERNET, 80).peer_address == "198.51.100.7"
    assert must_reach(lab, "m1", "2001:db8:cafe::10", 80).peer_address == "2001:db8:a0:10::10"


def test_ipv6_from_outside_is_refused_unless_it_answers(lab: Lab, network: factories.Network) -> None:
    reconcile(network.group)
    assert reaches(lab, "internet", "2001:db8:a0:10::10", 80) is None


def test_nothing_is_deployed_when_nothing_changed(lab: Lab, network: factories.Network) -> None:
    reconcile(network.group)
    assert reconcile(network.group) is None
    assert Rollout.objects.count() == 1


def test_a_page_can_say_since_when_a_forward_is_active(lab: Lab, network: factories.Network) -> None:
    reconcile(network.group)
    added = forward(network)
    [(_, before)] = list_activations([added])
    assert [each.since for each in before] == [None, None]
    reconcile(network.group)
    [(_, after)] = list_activations([added])
    steps = {step.gateway.name: step.confirmed for step in RolloutStep.objects.filter(rollout=Rollout.objects.latest("id"))}
    assert {each.gateway: each.since for each in after} == steps


def test_the_second_rollout_sends_only_what_changed(lab: Lab, network: factories.Network) -> None:
    reconcile(network.group)
    forward(network)
    rollout = reconcile(network.group)
    assert rollout is not None
    assert rollout.revision.changes == [{"kind": "forwards", "added": 1, "removed": 0, "changed": 0, "of": 1}]
    assert all(step.sent_octets < 2000 for step in rollout.steps.all())


def test_a_ban_drops_packets_and_counts_them(lab: Lab, network: factories.Network) -> None:
    forward(network)
    own = BanList.objects.create(name="Own")
    Ban.objects.create(list=own, prefix="203.0.113.66", comment='scans "; drop', expires=timezone.now() + timedelta(hours=1))
    reconcile(network.group)
    must_reach(lab, "internet", "198.51.100.7", 8443)
    assert reaches(lab, "internet", "198.51.100.7", 8443, source="203.0.113.66") is None
    listed = lab.run("nat-1", ["nft", "list", "set", "inet", "netzwart", "bans4_32"]).stdout
    assert "203.0.113.66 counter packets 1" in listed.replace("\n", " ") or "packets 2" in listed
    assert "scans '; drop" in listed


def test_a_gateway_that_does_not_answer_is_named_and_follows_by_itself(lab: Lab, network: factories.Network, sockets: Path) -> None:
    reconcile(network.group)
    GatewayState.objects.filter(gateway__name="nat-1").update(digest="")
    (sockets / "nat-1.sock").rename(sockets / "away")
    agent_channel.close_all_channels()
    forward(network)
    rollout = reconcile(network.group)
    assert rollout is not None
    assert rollout.state == Rollout.State.FAILED
    assert rollout.error.startswith("nat-1: ")
    assert GatewayState.objects.get(gateway__name="nat-1").unreachable_since is not None
    assert GatewayState.objects.get(gateway__name="nat-2").unreachable_since is None
    assert reconcile(network.group) is None, "an unreachable gateway is not hammered with rollouts"

    (sockets / "away").rename(sockets / "nat-1.sock")
    again = reconcile(network.group)
    assert again is not None
    assert again.state == Rollout.State.CONFIRMED
    must_reach(lab, "internet", "198.51.100.7", 8443)


def test_a_gateway_whose_rules_were_flushed_is_brought_back(lab: Lab, network: factories.Network) -> None:
    forward(network)
    reconcile(network.group)
    lab.run("nat-1", ["nft", "flush", "ruleset"])
    assert reaches(lab, "internet", "198.51.100.7", 8443) is None
    assert reconcile(network.group, cause="change") is None, "a change looks only at what the database says"
    rollout = reconcile(network.group, cause="schedule")
    assert rollout is not None
    assert rollout.state == Rollout.State.CONFIRMED
    must_reach(lab, "internet", "198.51.100.7", 8443)


def test_a_lost_worker_does_not_hold_up_the_next_one(lab: Lab, network: factories.Network) -> None:
    rollout = reconcile(network.group)
    assert rollout is not None
    rollout.steps.update(state=RolloutStep.State.PROBING)
    Rollout.objects.filter(pk=rollout.pk).update(state=Rollout.State.APPLYING, lease_until=timezone.now() - timedelta(seconds=1))
    forward(network)
    following = reconcile(network.group)
    assert following is not None
    assert following.state == Rollout.State.CONFIRMED
    rollout.refresh_from_db()
    assert rollout.state == Rollout.State.FAILED
    assert "The desired state has changed since" in rollout.error


def test_an_agent_that_starts_again_boots_with_what_was_confirmed(
    lab: Lab, network: factories.Network, sockets: Path, processes: dict[str, Popen[str]]
) -> None:
    forward(network)
    reconcile(network.group)
    processes["nat-1"].kill()
    processes["nat-1"].wait()
    lab.run("nat-1", ["nft", "delete", "table", "inet", "netzwart"])
    (sockets / "nat-1.sock").unlink(missing_ok=True)
    with agent(lab, "nat-1", sockets):
        must_reach(lab, "internet", "198.51.100.7", 8443)
