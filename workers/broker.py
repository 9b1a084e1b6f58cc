"""Celery's way to Redis, for a worker that outlives it.

When the connection is lost while a task is unacknowledged, kombu 5.7 tries to put the task back over that very connection, and the worker
dies of it. Here nothing is put back: a task that was not acknowledged comes back after the visibility timeout, and twice is harmless.
"""

from typing import Any

from kombu.transport import TRANSPORT_ALIASES, redis


class Channel(redis.Channel):
    """What was taken over a connection that is gone stays taken until its time is over."""

    do_restore = False

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """Nobody is there to be told, once the connection is gone."""
        if not self.closed:
            super().basic_ack(delivery_tag, multiple)

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """The same."""
        if not self.closed:
            super().basic_reject(delivery_tag, requeue)


class Transport(redis.Transport):
    """Redis, with such channels."""

    Channel: Any = Channel


def use() -> None:
    """For every address of a Redis from here on."""
    TRANSPORT_ALIASES["redis"] = f"{__name__}:Transport"
