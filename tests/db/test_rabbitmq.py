"""A real RabbitMQ as the broker: worker and broker are killed, and no task is lost."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from amqp.exceptions import NotFound, PreconditionFailed
from django.conf import LazySettings
from django.utils import timezone
from kombu import Connection

from apps.deployments.models import Rollout
from apps.lib import enqueue, message_broker
from apps.lib.message_broker import QUORUM
from apps.nat.models import PortForward
from apps.operations import heartbeats, rabbitmq
from apps.operations.portal_health.broker import read_broker
from tests import factories
from tests.db.page_client import signed_in
from tests.db.two_hosts import PATIENCE, forward, frozen_agent, host, is_settled
from tests.rabbitmq import RabbitNode, run_rabbitmq, why_no_rabbitmq
from tests.whole.system import wait_for

pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(why_no_rabbitmq()), reason=why_no_rabbitmq() or "can run")]
NO_REDIS = "unix:///nowhere/redis.sock"
SECONDS = 5.0  # for each answer of the node


@pytest.fixture(scope="module")
def running_node() -> Iterator[RabbitNode]:
    # In memory: a node's answers wait for its disk, and the databases of other tests keep that busy for longer than a client waits
    with TemporaryDirectory(prefix="nw-", dir="/dev/shm") as directory, run_rabbitmq(Path(directory)) as node:
        wait_for(lambda: has_queue(node), seconds=PATIENCE)
        node.stop()  # a node that is killed within a second of making a quorum queue has it without a leader for ever
        yield node


def has_queue(node: RabbitNode) -> bool:
    """Make the queue. False if the node does not answer in time."""
    options = message_broker.build_rabbitmq_options(SECONDS)
    with suppress(*rabbitmq.FAULTS), Connection(node.url, connect_timeout=SECONDS, transport_options=options) as connection:
        declare(connection, "celery", arguments=QUORUM)
        return True
    return False


@pytest.fixture
def node(running_node: RabbitNode, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[RabbitNode]:
    """The node as this process's broker, with no task in its queue. It has more time for its answers than in operation."""
    settings.BROKER_URL = running_node.url
    monkeypatch.setattr(enqueue, "LIMIT", 2.0)
    enqueue._get_publisher.cache_clear()
    running_node.start()
    wait_for(empty_queue, seconds=PATIENCE)
    yield running_node
    enqueue._get_publisher.cache_clear()


def empty_queue() -> bool:
    """Remove all tasks from the queue. False if it has no leader yet, as after a start of the node."""
    try:
        with rabbitmq.open_rabbitmq(SECONDS) as connection:
            channel: Any = connection.channel()
            channel.queue_declare("celery", durable=True, auto_delete=False, arguments=QUORUM)
            channel.queue_purge("celery")
    except rabbitmq.FAULTS:
        return False
    return True


def is_waiting(number: int) -> bool:
    """True if so many tasks wait in the queue. RabbitMQ counts those of a quorum queue anew every five seconds.

    False if it does not answer, as soon after a start.
    """
    with suppress(*rabbitmq.FAULTS), rabbitmq.open_rabbitmq(SECONDS) as connection:
        return rabbitmq.count_messages(connection, "celery") == number
    return False


def test_a_task_of_a_worker_that_is_killed_goes_to_another_one(
    served_network: factories.Network, node: RabbitNode, settings: LazySettings, tmp_path: Path
) -> None:
    with host("a", NO_REDIS, tmp_path, tick=0, BROKER_URL=node.url) as first, frozen_agent(settings.GATEWAY_SOCKETS / "nat-1.sock"):
        forward(served_network, 8001)
        wait_for(lambda: Rollout.objects.filter(state=Rollout.State.APPLYING).exists(), seconds=PATIENCE)
        os.killpg(first.pid, signal.SIGKILL)
        wait_for(lambda: is_waiting(1), seconds=PATIENCE)
    with host("b", NO_REDIS, tmp_path, BROKER_URL=node.url):
        wait_for(lambda: is_settled(served_network), seconds=PATIENCE)
    assert PortForward.objects.count() == 1


def test_tasks_outlive_a_broker_that_is_killed_and_the_worker_returns_to_it(
    served_network: factories.Network, node: RabbitNode, tmp_path: Path
) -> None:
    for _each in range(3):
        assert enqueue.send_task("workers.reconcile")
    node.kill()
    node.start()
    wait_for(lambda: is_waiting(3), seconds=PATIENCE)
    with host("a", NO_REDIS, tmp_path, tick=0, BROKER_URL=node.url):
        wait_for(lambda: is_settled(served_network) and is_waiting(0), seconds=PATIENCE)
        node.kill()
        node.start()
        forward(served_network, 8001)
        wait_for(lambda: is_settled(served_network), seconds=PATIENCE)


def test_the_first_task_after_a_restart_of_the_broker_arrives_though_the_connection_has_died(node: RabbitNode) -> None:
    assert enqueue.send_task("workers.reconcile")
    node.kill()
    node.start()
    wait_for(lambda: is_waiting(1), seconds=PATIENCE)
    assert enqueue.send_task("workers.reconcile")
    wait_for(lambda: is_waiting(2), seconds=PATIENCE)


def test_a_broker_that_is_away_loses_the_nudge_and_is_told_by_its_name(
    served_network: factories.Network, node: RabbitNode, settings: LazySettings
) -> None:
    node.kill()
    forward(served_network, 8001)
    assert PortForward.objects.count() == 1 and enqueue.send_task("workers.reconcile") is False
    error = heartbeats.probe_broker()
    assert "refused" in error.lower() and read_broker({"celery": "worker"}, frozenset(), timezone.now()).error == error
    factories.alive(broker_error=error, broker_failing=timezone.now() - timedelta(seconds=90))
    [need] = [each for each in signed_in(served_network.admin).get("/").context["board"].needs if each.state.word == "Portal"]
    assert need.what == "The broker (RabbitMQ) accepts no messages" and "memory and disk left" in need.evidence


def test_a_broker_that_does_not_answer_delays_a_save_for_a_moment_only(node: RabbitNode, monkeypatch: pytest.MonkeyPatch) -> None:
    assert enqueue.send_task("workers.reconcile") and heartbeats.probe_broker() == ""
    monkeypatch.setattr(heartbeats, "BROKER_TIMEOUT", 0.5)
    with node.frozen():
        begun = time.monotonic()
        assert enqueue.send_task("workers.reconcile") is False
        assert time.monotonic() - begun < 20 * enqueue.LIMIT
        assert "timed out" in heartbeats.probe_broker()
    assert enqueue.send_task("workers.reconcile")


def test_queues_are_quorum_queues_and_no_others_are_made(served_network: factories.Network, node: RabbitNode, tmp_path: Path) -> None:
    assert enqueue.send_task("workers.read_timeouts", 1)
    with host("a", NO_REDIS, tmp_path, tick=0, BROKER_URL=node.url), rabbitmq.open_rabbitmq(SECONDS) as connection:
        for queue in ("celery", "readings", "mail", "feeds"):
            with pytest.raises(PreconditionFailed, match="x-queue-type"):
                declare(connection, queue, arguments={"x-queue-type": "classic"})
        for other in ("celery_delayed_0", "celery@a.celery.pidbox"):
            with pytest.raises(NotFound):
                declare(connection, other, passive=True)


def declare(connection: Any, queue: str, **given: Any) -> None:
    connection.channel().queue_declare(queue, durable=True, auto_delete=False, **given)


def test_the_portals_health_says_how_many_tasks_wait(node: RabbitNode) -> None:
    assert enqueue.send_task("workers.reconcile") and enqueue.send_task("workers.reconcile")
    wait_for(lambda: is_waiting(2), seconds=PATIENCE)
    found = read_broker({"celery": "worker", "feeds of nobody": "feeds"}, frozenset({"worker"}), timezone.now())
    assert [(each.messages, each.oldest, each.is_served) for each in found.queues] == [(2, None, False), (0, None, True)]
    assert found.error == "" and not found.most_memory
