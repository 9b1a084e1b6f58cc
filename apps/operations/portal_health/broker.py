"""Backlogs of the broker's queues. In Redis, Celery keeps each queue as a list: new messages on the left, the oldest on the right.

RabbitMQ says how many messages wait, but neither how old they are nor how much memory it has left.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

from apps.lib import message_broker
from apps.lib.enqueue import QUEUED_AT
from apps.operations import rabbitmq
from apps.operations.heartbeats import BROKER_TIMEOUT
from apps.operations.portal_health.figures import BrokerLevels, QueueBacklog

_LONGEST_ERROR: Final = 300


def read_broker(roles: Mapping[str, str], faulty: frozenset[str], now: datetime) -> BrokerLevels:
    """Return the levels of the broker. roles: who serves each queue, by its name; faulty: roles that do not work."""
    try:
        return _read_rabbitmq(roles, faulty) if message_broker.is_rabbitmq() else _read_redis(roles, faulty, now)
    except (RedisError, *rabbitmq.FAULTS) as error:
        return BrokerLevels(0, 0, (), (str(error) or type(error).__name__)[:_LONGEST_ERROR])


def _read_redis(roles: Mapping[str, str], faulty: frozenset[str], now: datetime) -> BrokerLevels:
    url = settings.BROKER_URL or settings.REDIS_URL
    with Redis.from_url(url, socket_timeout=BROKER_TIMEOUT, socket_connect_timeout=BROKER_TIMEOUT) as client:
        memory = client.info("memory")
        queues = tuple(_read_queue(client, queue, role, role not in faulty, now) for queue, role in roles.items())
    return BrokerLevels(int(memory["used_memory"]), int(memory.get("maxmemory", 0)), queues, "")


def _read_rabbitmq(roles: Mapping[str, str], faulty: frozenset[str]) -> BrokerLevels:
    with rabbitmq.open_rabbitmq(BROKER_TIMEOUT) as connection:
        numbers = {queue: rabbitmq.count_messages(connection, queue) for queue in roles}
    queues = tuple(QueueBacklog(queue, role, role not in faulty, numbers[queue], None) for queue, role in roles.items())
    return BrokerLevels(0, 0, queues, "")


def _read_queue(client: Any, queue: str, role: str, is_served: bool, now: datetime) -> QueueBacklog:
    oldest = client.lindex(queue, -1)
    return QueueBacklog(queue, role, is_served, int(client.llen(queue)), compute_age(oldest, now) if oldest else None)


def compute_age(message: bytes, now: datetime) -> int | None:
    """Return the age of a message in seconds; None if it does not say when it was queued."""
    try:
        queued = datetime.fromisoformat(json.loads(message)["headers"][QUEUED_AT])
        return max(0, int((now - queued).total_seconds()))
    except (ValueError, KeyError, TypeError):
        return None
