"""Redis transport for workers: losing Redis while tasks run counts as a lost connection, so it does not end the worker.

When a running task is acknowledged or returned, kombu 5.7 asks a channel whose connection has been cleaned up for its parameters.
That raises AttributeError, which is not handled there, and ends the worker. So does the error of a Redis that has no memory left
or must not write: here it counts as a lost connection, which is tried again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, redis, virtual
from redis.exceptions import ConnectionError as Lost
from redis.exceptions import ExecAbortError, OutOfMemoryError, ReadOnlyError

REFUSALS = (OutOfMemoryError, ExecAbortError, ReadOnlyError)
SCHEMES = ("redis", "rediss", "redis+socket")


class TasksInWork(redis.QoS):
    """The tasks that a worker has in work. A task leaves it also when Redis refuses to record that it is finished.

    kombu logs the refusal and keeps counting the task as being in work, so a worker that had as many refusals as it may have tasks
    never took another one. Redis still holds such a task and delivers it again after the visibility timeout.
    """

    def ack(self, delivery_tag: str) -> None:
        with self._forget_on_failure(delivery_tag):
            super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        with self._forget_on_failure(delivery_tag):
            super().reject(delivery_tag, requeue=requeue)

    @contextmanager
    def _forget_on_failure(self, delivery_tag: str) -> Iterator[None]:
        try:
            yield
        except Exception:
            virtual.QoS.ack(self, delivery_tag)  # redis.QoS would ask Redis again
            raise


class Channel(redis.Channel):
    """Channel that reports a cleaned-up connection as the error that kombu handles."""

    QoS = TasksInWork

    def _connparams(self, *args: Any, **options: Any) -> Any:
        owner: Any = self.connection
        if owner is None or owner.client is None:
            raise Lost("the connection to the broker has been closed")
        return super()._connparams(*args, **options)  # type: ignore[misc]  # missing in kombu's types


class Transport(redis.Transport):
    """kombu's transport with our channel; a broker that refuses to write is a reason to reconnect."""

    Channel = Channel
    connection_errors = (*redis.Transport.connection_errors, *REFUSALS)


def register_transport() -> None:
    """Use this transport for Redis in this process."""
    TRANSPORT_ALIASES.update(dict.fromkeys(SCHEMES, f"{__name__}:Transport"))
