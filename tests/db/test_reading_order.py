"""Gateways that are away do not keep readings of the others waiting."""

import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db.models import Model
from django.utils import timezone

from apps.deployments.models import GatewayState
from apps.deployments.transport.agent_channel import AgentChannel, ChannelOf, Unreachable
from apps.deployments.transport.relay_program import RelayProgram
from apps.gateways.health.collection import read_all_gateways
from apps.gateways.health.models import HealthReading
from apps.gateways.packet_probes import observation
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.packet_probes.observation import LookLimit, probe_all_gateways
from apps.gateways.reading_order import order_gateways
from apps.network.models import Gateway
from firewall import wire
from firewall.health import ReadHealth
from tests import factories
from tests.db.test_packet_probes import answering, build_answer
from tests.db.test_pages_dashboard import rollout, runs
from tests.health_situations import build_counters
from tests.whole.system import wait_for


@pytest.fixture
def sent_tasks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """Looks that were asked for, as in a process that has not asked for one yet."""
    sent: list[tuple[object, ...]] = []
    monkeypatch.setattr(observation, "look_limit", LookLimit())
    monkeypatch.setattr(observation, "send_task", lambda *task, **_options: sent.append(task))
    return sent


@pytest.fixture
def probed_network(network: factories.Network, sent_tasks: list[tuple[object, ...]]) -> factories.Network:
    """Two gateways that run a revision and have probes."""
    runs(network, rollout(network))
    factories.probes(network)
    return network


def build_silent_channel(program: str = "pass") -> AgentChannel:
    """Return a channel that gets no answer: the relay runs this program."""
    return AgentChannel("nat-1", RelayProgram((sys.executable, "-S", "-c", program)))


@pytest.mark.parametrize(
    ("read_all", "build_reply", "stored"),
    [
        (probe_all_gateways, lambda: build_answer((1, 500)), ProbeStatus),
        (read_all_gateways, lambda: build_counters(1000, time.time()), HealthReading),
    ],
    ids=["probes", "health"],
)
def test_a_gateway_that_is_known_to_be_away_is_asked_after_the_others_are_stored(
    probed_network: factories.Network,
    read_all: Callable[[ChannelOf], None],
    build_reply: Callable[[], wire.Reply],
    stored: type[Model],
) -> None:
    away, other = probed_network.gateways
    GatewayState.objects.filter(gateway=away).update(unreachable_since=timezone.now())
    others_stored: list[bool] = []

    def channel_of(gateway: Gateway) -> AgentChannel:
        if gateway == other:
            return answering(build_reply())
        others_stored.append(stored._default_manager.filter(gateway=other).exists())
        return build_silent_channel()

    read_all(channel_of)
    assert others_stored == [True]


def test_a_gateway_that_another_thread_waits_for_is_left_out(
    probed_network: factories.Network, sent_tasks: list[tuple[object, ...]]
) -> None:
    stuck, other = probed_network.gateways
    channels = {stuck.pk: build_silent_channel("import sys; sys.stdin.read()"), other.pk: answering(build_answer((1, 500)))}
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(channels[stuck.pk].ask, ReadHealth())
        wait_for(lambda: channels[stuck.pk].relay_pid is not None)
        relay = channels[stuck.pk].relay_pid
        assert relay
        probe_all_gateways(lambda gateway: channels[gateway.pk])
        assert ProbeStatus.objects.filter(gateway=other).exists()
        assert not waiting.done() and sent_tasks == []
        os.kill(relay, signal.SIGKILL)
        with pytest.raises(Unreachable):
            waiting.result()


def test_one_look_is_asked_for_however_many_gateways_have_gone(
    probed_network: factories.Network, sent_tasks: list[tuple[object, ...]]
) -> None:
    probe_all_gateways(lambda _gateway: build_silent_channel())
    assert sent_tasks == [("workers.reconcile", None, False, "schedule")]


def test_one_thread_at_a_time_asks_gateways_that_are_away(probed_network: factories.Network) -> None:
    away, other = probed_network.gateways
    GatewayState.objects.filter(gateway=away).update(unreachable_since=timezone.now())
    gateways = Gateway.objects.select_related("status")
    with order_gateways(gateways) as first, order_gateways(gateways) as second:
        assert (first, second) == (([other], [away]), ([other], []))
    with order_gateways(gateways) as third:
        assert third == ([other], [away])
