"""Packets that passed a gateway before a change and do not after it: the change is taken back, whichever worker finds that out."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest
from django.utils import timezone

from apps.bans import services as bans
from apps.deployments.models import Rollout, RolloutStep
from apps.deployments.rollouts import evidence
from apps.deployments.rollouts.rollout_driver import WorkerLinks
from apps.deployments.services import reconcile
from apps.deployments.transport.agent_channel import AgentChannel
from apps.network.models import Gateway
from firewall import wire
from firewall.codec import encode
from firewall.probe_messages import Connected, Probe, Probed
from tests import factories
from tests.db.agents import end_started, runs, steps
from tests.db.lying_gateway import lying

pytestmark = pytest.mark.django_db(transaction=True)
COUNTED = {f"probe_{way}{family}": 3 for way in ("up", "down") for family in (4, 6)}


@pytest.fixture
def network(served_network: factories.Network) -> Iterator[factories.Network]:
    """Two gateways in memory with a probe each."""
    factories.probes(served_network)
    yield served_network
    end_started()


class PacketPath:
    """Lie of a gateway with a prober: packets pass it, but not while a change is on trial, if changes stop them."""

    def __init__(self) -> None:
        self.changes_stop_packets, self._changed = False, False

    def __call__(self, request: wire.Request, honest: str) -> str:
        if isinstance(request, wire.Apply):
            self._changed = True
        elif isinstance(request, wire.Confirm | wire.Revert):
            self._changed = False
        if not isinstance(request, Probe):
            return honest
        found = Connected(None, "no answer") if self._changed and self.changes_stop_packets else Connected(500)
        return json.dumps(encode(Probed((found, found), COUNTED)))


class KilledWorker(BaseException):
    """The end of a worker that has no time to write anything down."""


class DeadlyLinks(WorkerLinks):
    """Links of a worker that is killed when it wants to know whether a gateway can still be reached."""

    def knock(self, gateway: Gateway) -> float:
        raise KilledWorker

    def open_session(self, gateway: Gateway, port: int | None) -> AbstractContextManager[AgentChannel]:
        raise KilledWorker


def ban(network: factories.Network, prefix: str) -> None:
    bans.ban_prefix(list=bans.create_list(name=prefix, by=network.admin), prefix=prefix, comment="scans", author=network.admin)


def roll_out_until_killed(network: factories.Network) -> None:
    """Let a worker commit the change on the first gateway and die then; its lease ends."""
    with pytest.raises(KilledWorker):
        reconcile(network.group, links=DeadlyLinks())
    assert RolloutStep.objects.filter(state=RolloutStep.State.PROBING).count() == 1
    Rollout.objects.filter(state=Rollout.State.APPLYING).update(lease_until=timezone.now())


def test_a_change_that_stops_packets_is_taken_back_by_the_worker_that_takes_over(network: factories.Network) -> None:
    path = PacketPath()
    with lying(network.gateways[0], path):
        reconcile(network.group)
        before = runs(network.gateways[0])
        path.changes_stop_packets = True
        ban(network, "192.0.2.66")
        roll_out_until_killed(network)
        rollout = reconcile(network.group)
        assert steps(rollout) == {"nat-1": "went_back", "nat-2": "skipped"}
        assert runs(network.gateways[0]) == before


def test_a_change_that_stops_packets_is_taken_back_although_another_change_came_after_it(network: factories.Network) -> None:
    """The gateway is on trial when the second rollout begins, so what passes it then says nothing about what passed before."""
    path = PacketPath()
    with lying(network.gateways[0], path):
        reconcile(network.group)
        before = runs(network.gateways[0])
        path.changes_stop_packets = True
        ban(network, "192.0.2.66")
        roll_out_until_killed(network)
        ban(network, "192.0.2.67")
        assert steps(reconcile(network.group)) == {"nat-1": "went_back", "nat-2": "skipped"}
        assert runs(network.gateways[0]) == before


def test_a_change_through_which_packets_pass_is_confirmed_by_the_worker_that_takes_over(network: factories.Network) -> None:
    with lying(network.gateways[0], PacketPath()):
        reconcile(network.group)
        ban(network, "192.0.2.66")
        roll_out_until_killed(network)
        rollout = reconcile(network.group)
        assert steps(rollout) == {"nat-1": "confirmed", "nat-2": "confirmed"}


def test_an_empty_gateway_is_not_judged_by_what_passed_the_one_before_it(network: factories.Network) -> None:
    first, empty = network.gateways
    with lying(first, PacketPath()):
        reconcile(network.group)
        with lying(empty, lambda _request, honest: honest):
            ban(network, "192.0.2.66")
            rollout = reconcile(network.group)
            assert steps(rollout) == {"nat-1": "confirmed", "nat-2": "confirmed"}
            assert rollout and evidence.describe_lost_packets(rollout.steps.get(gateway=empty)), "it has no prober"


def test_what_passed_before_a_change_is_not_shown_as_its_result(network: factories.Network) -> None:
    """Before the change the prober of nat-2 does not answer, as after it."""
    with lying(network.gateways[0], PacketPath()):
        reconcile(network.group)
        ban(network, "192.0.2.66")
        rollout = reconcile(network.group)
        assert rollout
        first, other = rollout.steps.order_by("position")
        assert [each["what"] for each in first.evidence] == ["IPv4 before", "IPv6 before", "session", "IPv4", "IPv6"]
        assert evidence.render_evidence(first).count("IPv4 passed") == 1
        assert evidence.render_evidence(other).count("IPv4: nat-2 cannot probe") == 1
