"""Two hosts with everything of their own but database and broker: changes reach the gateways whichever host dies, and nothing is lost."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.conf import LazySettings

from apps.deployments.models import Rollout, RolloutStep
from apps.lib import enqueue
from apps.nat.models import PortForward
from apps.operations.models import HostHeartbeat
from tests import factories
from tests.db.two_hosts import PATIENCE, forward, frozen_agent, host, is_settled
from tests.frozen_process import freeze, thaw
from tests.whole.system import wait_for
from tests.whole.worker import broker


@pytest.fixture
def redis(served_network: factories.Network, settings: LazySettings) -> Iterator[str]:
    """URL of a broker that takes this test's messages to workers."""
    with TemporaryDirectory(prefix="nw-") as directory, broker(Path(directory)) as url:
        settings.REDIS_URL = url
        enqueue._get_publisher.cache_clear()
        yield url
    enqueue._get_publisher.cache_clear()


def list_workers() -> list[str]:
    """Return the hosts whose worker is expected to report."""
    return list(HostHeartbeat.objects.filter(role="worker").order_by("host").values_list("host", flat=True))


def test_a_host_that_is_killed_in_a_rollout_is_replaced_by_the_other_and_nothing_is_lost(
    served_network: factories.Network, redis: str, settings: LazySettings, tmp_path: Path
) -> None:
    with host("b", redis, tmp_path) as later:
        freeze(later.pid)  # so that it is certain who begins
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
                thaw(later.pid)
        wait_for(lambda: is_settled(served_network), seconds=PATIENCE)
        assert rollout not in Rollout.objects.filter(state__in=Rollout.OPEN), "the other host has seen to its end"
        assert PortForward.objects.count() == 3
        wait_for(lambda: list_workers() == ["a", "b"], seconds=PATIENCE)  # the dead one is missed
        later.terminate()
        later.wait(PATIENCE)
        assert list_workers() == ["a"], "the stopped one is not"


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
