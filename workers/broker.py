"""Redis as the broker, for workers: one that dies while tasks are under way is a lost connection, and no worker dies of it.

kombu 5.7 asks a channel whose connection has been cleared away for its parameters, when a task that was under way is acknowledged
or given back. That raises AttributeError, which nobody expects there, and ends the worker. So does the answer of a Redis that has no memory
left or must not write: here it counts as a lost connection, which is tried again.
"""

from typing import Any

from kombu.transport import TRANSPORT_ALIASES, redis
from redis.exceptions import ConnectionError as Lost
from redis.exceptions import ExecAbortError, OutOfMemoryError, ReadOnlyError

REFUSALS = (OutOfMemoryError, ExecAbortError, ReadOnlyError)
SCHEMES = ("redis", "rediss", "redis+socket")


class Channel(redis.Channel):
    """Says that the connection is gone, in the way in which everybody awaits it."""

    def _connparams(self, *args: Any, **options: Any) -> Any:
        owner: Any = self.connection
        if owner is None or owner.client is None:
            raise Lost("the connection to the broker has been closed")
        return super()._connparams(*args, **options)  # type: ignore[misc]  # kombu's types leave it out


class Transport(redis.Transport):
    """kombu's, with our channel, and with a broker that refuses to write as a reason to connect again."""

    Channel = Channel
    connection_errors = (*redis.Transport.connection_errors, *REFUSALS)


def register_transport() -> None:
    """From now on this process reaches Redis so."""
    TRANSPORT_ALIASES.update(dict.fromkeys(SCHEMES, f"{__name__}:Transport"))
