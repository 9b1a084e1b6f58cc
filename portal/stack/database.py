"""Starts PostgreSQL and Redis of a state directory inside a supervisor."""

import asyncio
from functools import partial
from pathlib import Path

import psycopg

from apps.lib.database import schema_snapshot
from portal.stack import postgres, redis
from portal.stack.errors import StackError
from portal.stack.processes import Supervisor
from portal.stack.state_paths import StatePaths


async def start_servers(supervisor: Supervisor, places: StatePaths, *, throwaway: bool = False) -> None:
    """Start both, and return when both answer."""
    with supervisor.output.show_step("PostgreSQL"):
        fresh = await asyncio.to_thread(postgres.prepare, places)
        if fresh:
            places.demo.unlink(missing_ok=True)  # the logins belong to a database that no longer exists
        supervisor.start(postgres.build_program(places, throwaway=throwaway))
        await supervisor.wait_until(partial(postgres.is_answering, places), "PostgreSQL's answer")
    with supervisor.output.show_step("Redis"):
        supervisor.start(redis.build_program(places))
        await supervisor.wait_until(partial(redis.is_answering, places), "Redis's answer")


def has_current_schema(url: str, cluster: Path) -> bool:
    """Return whether all present migrations have run in the database of a running server.

    Raises StackError if migrations that no longer exist created it; the message names the cluster, so that the operator can move
    it away.
    """
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        if schema_snapshot.has_removed_migrations(cursor):
            raise StackError(f"{schema_snapshot.OUTDATED} If nothing in it matters, move {cluster} away: a new one is made.")
        return schema_snapshot.is_current(cursor)
