"""Waits for NOTIFY on one connection. Each notification, or a pause without one, makes the hub publish new events.

Events do not depend on notifications: each query finds everything since the last one. A broken connection is opened again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import psycopg
import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from psycopg.conninfo import conninfo_to_dict

from apps.events import selectors
from apps.events.hub import EventHub
from apps.events.selectors import EventBatch

CHANNEL: Final = "netzwart_events"
NAME: Final = "netzwart-events"  # of the connection, in pg_stat_activity
PAUSE: Final = 10.0  # seconds after which it queries without a notification
AGAIN: Final = (0.1, 0.3, 1.0, 3.0)  # seconds before each new connection attempt; the last value repeats
WITHIN: Final = 10.0  # seconds for connecting
OF_DJANGO: Final = ("context", "cursor_factory", "prepare_threshold")  # parameters that Django adds to libpq's
log = structlog.get_logger()

type InThread = Callable[..., Awaitable[Any]]


async def listen_for_events(hub: EventHub, in_thread: InThread) -> None:
    """Run until cancelled. in_thread: runs a function that queries the database in a thread and awaits it."""
    tried = 0
    while True:
        try:
            async with await _connect() as woken_by:
                await woken_by.execute(f"LISTEN {CHANNEL}")
                while True:
                    await publish_news(hub, in_thread)
                    tried = 0
                    async for _each in woken_by.notifies(timeout=PAUSE, stop_after=1):
                        pass
        except (psycopg.Error, DatabaseError, InterfaceError, OSError, TimeoutError) as error:
            log.warning("events wait for the database", error=str(error).strip())
        await asyncio.sleep(AGAIN[min(tried, len(AGAIN) - 1)])
        tried += 1


async def _connect() -> psycopg.AsyncConnection[Any]:
    async with asyncio.timeout(WITHIN):
        return await psycopg.AsyncConnection.connect(**_build_parameters() | {"autocommit": True, "application_name": NAME})


def _build_parameters() -> dict[str, Any]:
    """Return libpq's parameters, past PgBouncer if there is one: it gives away the connection that listens."""
    if settings.DATABASE_IS_POOLED:
        return dict(conninfo_to_dict(settings.DATABASE_DIRECT_URL))
    return {name: value for name, value in connection.get_connection_params().items() if name not in OF_DJANGO}


async def publish_news(hub: EventHub, in_thread: InThread) -> None:
    """Publish what has happened since the hub's position."""
    if hub.position is None:  # what happened between a stream that began before and this position was not seen
        hub.publish((), await in_thread(selectors.get_current_position), missed=True)
        return
    found: EventBatch = await in_thread(selectors.list_events_since, hub.position)
    hub.publish(found.events, found.position, missed=found.missed)


async def cancel_and_wait(task: asyncio.Task[None]) -> None:
    """Cancel the task and wait until it has ended."""
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
