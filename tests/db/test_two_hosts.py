"""Two hosts with everything of their own but database and broker: changes reach the gateways whichever host dies, and nothing is lost."""

import os
import signal
import socket
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory

import pytest
from django.conf import LazySettings

from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.deployments.models import GatewayState, Rollout, RolloutStep
from apps.lib import enqueue
from apps.nat.models import PortForward
from apps.nat.services import add_forward
from apps.operations.models import HostHeartbeat
from tests import factories
from tests.whole.system import wait_for
from tests.whole.worker import broker, worker

PATIENCE = 120.0  # seconds


@pytest.fixture
def redis(served_network: factories.Network, settings: LazySettings) -> Iterator[str]:
    """URL of a broker that takes this test's messages to workers."""
    with TemporaryDirectory(prefix="nw-") as directory, broker(Path(directory)) as url:
        settings.REDIS_URL = url
        enqueue._get_publisher.cache_clear()
        yield url
    enqueue._get_publisher.cache_clear()


@contextmanager
def host(name: str, redis: str, directory: Path) -> Iterator[Popen[bytes]]:
    """Run worker and scheduler of a host with a name and a state directory of its own."""
    state = directory / name
    state.mkdir()
    with worker(redis, directory / f"{name}.log", tick=1, HOST_NAME=name, VAR=str(state), HEARTBEAT_SECONDS="1") as process:
        yield process


@contextmanager
def frozen_agent(socket_path: Path) -> Iterator[None]:
    """Stop the agent that listens there; the kernel says who it is."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(socket_path))
        pid, _user, _group = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def forward(network: factories.Network, port: int) -> PortForward:
    holding = network.residents["m1"].holding
    return add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=443, by=network.admin)


def is_settled(network: factories.Network) -> bool:
    """True if both gateways have confirmed what the database asks for."""
    open_ones = Rollout.objects.filter(state__in=Rollout.OPEN)
    known = dict(GatewayState.objects.values_list("gateway", "digest"))
    return not open_ones.exists() and compute_desired_state(network.group).targets == known


def test_a_host_that_is_killed_in_a_rollout_is_replaced_by_the_other_and_nothing_is_lost(
    served_network: factories.Network, redis: str, settings: LazySettings, tmp_path: Path
) -> None:
    with host("b", redis, tmp_path) as later:
        os.kill(later.pid, signal.SIGSTOP)  # so that it is certain who begins
        with host("a", redis, tmp_path) as first:
            forward(served_network, 8001)
            wait_for(lambda: is_settled(served_network), seconds=PATIENCE)
            with frozen_agent(settings.GATEWAY_SOCKETS / "nat-1.sock"):
                forward(served_network, 8002)
                wait_for(lambda: Rollout.objects.filter(state=Rollout.State.APPLYING).exists(), seconds=PATIENCE)
                rollout = Rollout.objects.get(state=Rollout.State.APPLYING)
                os.killpg(first.pid, signal.SIGKILL)
                first.wait(PATIENCE)
                forward(served_network, 8003)
                os.kill(later.pid, signal.SIGCONT)
        wait_for(lambda: is_settled(served_network), seconds=PATIENCE)
        assert rollout not in Rollout.objects.filter(state__in=Rollout.OPEN), "the other host has seen to its end"
        assert PortForward.objects.count() == 3
        assert [each.host for each in HostHeartbeat.objects.filter(role="worker")] == ["a", "b"], "the dead one is missed"
        later.terminate()
        later.wait(PATIENCE)
        assert [each.host for each in HostHeartbeat.objects.filter(role="worker")] == ["a"], "the stopped one is not"


def test_two_hosts_with_a_scheduler_each_do_each_change_once(served_network: factories.Network, redis: str, tmp_path: Path) -> None:
    with host("a", redis, tmp_path), host("b", redis, tmp_path):
        for port in range(8001, 8006):
            forward(served_network, port)
            wait_for(lambda: is_settled(served_network), seconds=PATIENCE)
        wait_for(lambda: HostHeartbeat.objects.filter(role="worker").count() == 2, seconds=PATIENCE)
        wait_for(lambda: is_settled(served_network), seconds=PATIENCE)
    sent = Counter(
        (step.gateway_id, step.rollout.revision.digests[step.gateway.name])
        for step in RolloutStep.objects.filter(sent_octets__gt=0).select_related("gateway", "rollout__revision")
    )
    assert len(sent) >= 10 and set(sent.values()) == {1}, "five changes reached two gateways, and none was sent a second time"
