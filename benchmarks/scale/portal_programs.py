"""All programs of a portal, a Redis of their own, and real agents behind real sockets, with rulesets in memory."""

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.db import connection

from benchmarks.whole.stack import StackPart, wait_until
from portal.stack import commands, redis
from portal.stack.ports import find_free_port
from portal.stack.state_paths import StatePaths
from tests.db.agent_forks import forked_agent

WEB_PORT, EVENTS_PORT = 8600, 8700  # or the next free ones


@dataclass(frozen=True, slots=True)
class RunningPortal:
    """The portal's programs that run, and the servers that they use, by process id."""

    programs: Mapping[str, int]
    servers: Mapping[str, int]


@contextmanager
def serve_gateways(places: StatePaths, names: list[str]) -> Iterator[None]:
    """Run an agent with its table in memory for each name."""
    places.gateway_sockets.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for name in names:
            given = ["--name", name, "--socket", f"{places.gateway_sockets / name}.sock", "--state", str(places.gateway_states / name)]
            stack.enter_context(forked_agent(places.var / f"{name}.log", ["serve", "--fake", *given]))
        wait_until(lambda: all((places.gateway_sockets / f"{name}.sock").exists() for name in names), "the agents' sockets")
        yield


@contextmanager
def run_portal(places: StatePaths) -> Iterator[RunningPortal]:
    """Run Redis and everything of `portal.programs`; the environment says where."""
    logs = places.var / "log"
    logs.mkdir(parents=True, exist_ok=True)
    broker = StackPart(redis.build_program(places), logs / "redis.log", lambda: redis.is_answering(places))
    parts = [broker, *_build_parts(places, logs)]
    with ExitStack() as stack:
        for part in parts:
            part.start()
            stack.callback(part.stop)
        pids = {part.program.name: part.pid for part in parts if part.pid}
        yield RunningPortal(pids, {"redis": pids.pop("redis"), "postgres": _find_database_server()})
        if ended := [part.program.name for part in parts if not part.is_running]:
            raise SystemExit(f"{', '.join(ended)} ended during the measurement")


def _build_parts(places: StatePaths, logs: Path) -> list[StackPart]:
    web, events = find_free_port(WEB_PORT), find_free_port(EVENTS_PORT)
    workers = (commands.build_changes_worker(), commands.build_collector(), commands.build_mailer(), commands.build_feed_worker())
    places.beat_schedule.parent.mkdir(parents=True, exist_ok=True)
    return [
        StackPart(commands.build_web(web), logs / "web.log", lambda: _is_listening(web)),
        StackPart(commands.build_events(events), logs / "events.log", lambda: _is_listening(events)),
        *(StackPart(each, logs / f"{each.name}.log", _build_readiness(logs / f"{each.name}.log")) for each in workers),
        StackPart(commands.build_ticker(places), logs / "beat.log", lambda: True),
    ]


def _is_listening(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def _build_readiness(log: Path) -> Callable[[], bool]:
    return lambda: b" ready." in log.read_bytes()


def _find_database_server() -> int:
    """Return the process id of the server, the first line of postmaster.pid (PostgreSQL manual, "Database File Layout")."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int")
        (pid,) = cursor.fetchone()
    return int(pid)
