"""Brings PostgreSQL and Redis of a state directory up inside a supervisor."""

import asyncio
from functools import partial

import psycopg

from apps.lib.database import schema_snapshot
from portal.stack import postgres, redis
from portal.stack.processes import Supervisor
from portal.stack.state_paths import Places


async def up(supervisor: Supervisor, places: Places, *, throwaway: bool = False) -> None:
    """Both answer when this returns."""
    with supervisor.output.step("PostgreSQL"):
        fresh = await asyncio.to_thread(postgres.prepare, places)
        if fresh:
            places.demo.unlink(missing_ok=True)  # the logins of a database that is no more
        supervisor.start(postgres.program(places, throwaway=throwaway))
        await supervisor.until(partial(postgres.answers, places), "PostgreSQL's answer")
    with supervisor.output.step("Redis"):
        supervisor.start(redis.program(places))
        await supervisor.until(partial(redis.answers, places), "Redis's answer")


def has_current_schema(places: Places) -> bool:
    """Whether every migration that is here has run in the database of a server that answers."""
    with psycopg.connect(postgres.url(places)) as connection, connection.cursor() as cursor:
        return schema_snapshot.is_current(cursor)
