"""Redis transport for workers: losing Redis while tasks run counts as a lost connection, so it does not end the worker.

When a running task is acknowledged or returned, kombu 5.7 asks a channel whose connection has been cleaned up for its parameters.
That raises AttributeError, which is not handled there, and ends the worker. So does the error of a Redis that has no memory left
or must not write: here it counts as a lost connection, which is tried again.
"""

from typing import Any

from kombu.transport import TRANSPORT_ALIASES, redis
from redis.exceptions import ConnectionError as Lost
from redis.exceptions import ExecAbortError, OutOfMemoryError, ReadOnlyError

REFUSALS = (OutOfMemoryError, ExecAbortError, ReadOnlyError)
SCHEMES = ("redis", "rediss", "redis+socket")


class Channel(redis.Channel):
    """Channel that reports a cleaned-up connection as the error that kombu handles."""

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
