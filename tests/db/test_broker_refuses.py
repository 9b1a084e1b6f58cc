"""A broker that refuses to write for a while: a worker goes on taking tasks afterwards."""

from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from kombu import Connection
from redis import Redis

from apps.lib.message_broker import build_broker_url
from tests.whole.system import wait_for
from tests.whole.worker import broker
from workers.broker import REFUSALS, register_transport

QUEUE = "celery"


@pytest.fixture
def redis() -> Iterator[str]:
    with TemporaryDirectory(prefix="nw-") as directory, broker(Path(directory)) as url:
        yield url


@pytest.fixture
def connection(redis: str) -> Iterator[Connection]:
    register_transport()
    with Connection(build_broker_url(redis)) as made:
        yield made


def take(channel: Any) -> Any:
    """Return the next task, as a worker takes it."""
    try:
        return channel.basic_get(QUEUE) if channel.qos.can_consume() else None
    except Empty:
        return None


@pytest.mark.parametrize("finish", ["basic_ack", "basic_reject"])
def test_a_worker_takes_the_next_task_though_the_broker_did_not_accept_the_end_of_the_last_ones(
    redis: str, connection: Connection, finish: str
) -> None:
    channel: Any = connection.channel()
    channel.basic_qos(0, 2, False)
    with connection.SimpleQueue(QUEUE) as queue, Redis.from_url(redis) as client:
        for number in range(3):
            queue.put({"number": number})
        first, second = wait_for(lambda: take(channel)), wait_for(lambda: take(channel))
        assert take(channel) is None, "two are in work, as many as it may have"
        client.config_set("maxmemory", "1")
        for each in (first, second):
            with pytest.raises(REFUSALS):
                getattr(channel, finish)(each.delivery_tag, **({"requeue": True} if finish == "basic_reject" else {}))
        client.config_set("maxmemory", "0")
        assert take(channel).payload == {"number": 2}
        assert client.hlen("unacked") == 3, "the broker delivers the first ones again some time"
