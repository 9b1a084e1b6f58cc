"""Asks RabbitMQ what a client may ask: whether it takes a message, and how many wait in a queue.

How old the oldest is, only its management plugin would say, which needs an account of its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from amqp.exceptions import AMQPError, MessageNacked, NotFound
from kombu import Connection
from kombu.exceptions import OperationalError

from apps.lib import message_broker

FAULTS = (AMQPError, MessageNacked, OperationalError, OSError)
"""What is raised while it is away, refuses, or does not answer."""


@contextmanager
def open_rabbitmq(seconds: float) -> Iterator[Connection]:
    """Open a connection to the first node that answers. seconds: for each answer. Raises one of FAULTS."""
    options = message_broker.build_rabbitmq_options(seconds)
    url, tls = message_broker.get_broker_url(), message_broker.build_tls_options()
    with Connection(url, connect_timeout=seconds, transport_options=options, ssl=tls) as connection:
        nodes = len(connection.alt) or 1
        connection.ensure_connection(max_retries=nodes, interval_start=0, interval_step=0)
        yield connection


def probe_rabbitmq(key: str, seconds: float) -> None:
    """Send a message that no queue takes. RabbitMQ confirms it, unless it is short of memory or disk. Raises one of FAULTS."""
    with open_rabbitmq(seconds) as connection:
        connection.Producer().publish({}, routing_key=key)


def count_messages(connection: Connection, queue: str) -> int:
    """Return how many messages wait in the queue; 0 if there is no such queue yet."""
    channel: Any = connection.channel()  # kombu's types know only what all brokers have in common
    try:
        return int(channel.queue_declare(queue, passive=True).message_count)
    except NotFound:
        return 0
    finally:
        channel.close()
