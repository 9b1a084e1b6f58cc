"""A real broker, and a real worker on the test's own database."""

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from subprocess import Popen

import pytest
from django.conf import settings
from django.db import connection
from redis import Redis
from redis.exceptions import RedisError

from apps.lib import enqueue
from tests.whole.system import wait_for

ROOT = Path(__file__).resolve().parent.parent.parent
ANSWERS_WITHIN = 2.0  # seconds


@contextmanager
def broker(directory: Path) -> Iterator[str]:
    """Run a separate Redis server; yield its URL. Meanwhile this process waits longer for its answers: a busy machine loses no nudge."""
    program = shutil.which("redis-server")
    assert program, "redis-server is not installed: run script/bootstrap"
    socket = directory / "redis.sock"
    with Popen(
        [program, "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(directory), "--loglevel", "warning"]
    ) as process:
        try:
            wait_for(lambda: _answers(socket))
            with pytest.MonkeyPatch.context() as patched:
                for limit in ("socket_timeout", "socket_connect_timeout"):
                    patched.setitem(enqueue.REDIS_OPTIONS, limit, ANSWERS_WITHIN)
                yield f"unix://{socket}"
        finally:
            process.terminate()


def _answers(socket: Path) -> bool:
    try:
        with Redis(unix_socket_path=str(socket)) as client:
            return bool(client.ping())
    except RedisError:
        return False


def environment(redis_url: str) -> dict[str, str]:
    """Return the environment of a process that uses the test's database, its gateways and this broker."""
    database = connection.settings_dict
    names = {"dbname": database["NAME"], "user": database["USER"], "host": database["HOST"], "port": database["PORT"]}
    return {
        **os.environ,
        "NETZWART_SECRET_KEY": settings.SECRET_KEY,
        "NETZWART_DATABASE_URL": " ".join(f"{name}={value}" for name, value in names.items() if value),
        "NETZWART_REDIS_URL": redis_url,
        "NETZWART_GATEWAY_SOCKETS": str(settings.GATEWAY_SOCKETS),
        "NETZWART_SSH_KEY": str(settings.SSH_KEY),
        "NETZWART_SSH_KNOWN_HOSTS": str(settings.SSH_KNOWN_HOSTS),
    }


@contextmanager
def worker(redis_url: str, log: Path, *, tick: float = 0, **settings: str) -> Iterator[Popen[bytes]]:
    """Run a Celery worker that takes messages from the broker and uses the test's database.

    tick: seconds between runs by schedule, 0 for none. settings: variables by their names without NETZWART_.
    """
    given = environment(redis_url) | {f"NETZWART_{name}": value for name, value in settings.items()}
    given |= {"NETZWART_RECONCILE_SECONDS": str(tick)} if tick else {}
    options = ("worker", "--pool", "threads", "--concurrency", "2", "--loglevel", "INFO")
    with ExitStack() as stack:
        process = stack.enter_context(_celery(given, log, *options))
        if tick:
            ticks = log.with_suffix(".beat.log")
            stack.enter_context(_celery(given, ticks, "beat", "--schedule", str(log.with_suffix(".schedule"))))
        wait_for(lambda: b" ready." in log.read_bytes() or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield process


@contextmanager
def _celery(given: dict[str, str], log: Path, *arguments: str) -> Iterator[Popen[bytes]]:
    """Run a Celery program as the portal does: worker and scheduler each in their own process."""
    command = [sys.executable, "-m", "celery", "-A", "workers", *arguments]
    with log.open("wb") as output, Popen(command, cwd=ROOT, env=given, stdout=output, stderr=output, process_group=0) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
