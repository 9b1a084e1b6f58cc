"""The stack's private PostgreSQL and Redis, which run in a directory of their own."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from portal.stack import postgres
from portal.stack.errors import StackError
from portal.stack.state_paths import StatePaths

ROOT = Path(__file__).parents[2]


@pytest.fixture
def places() -> Iterator[StatePaths]:
    # Not tmp_path: other accounts cannot enter its parent directory, and the server runs as another account.
    with tempfile.TemporaryDirectory(prefix="netzwart-test-", dir="/tmp") as directory:
        found = StatePaths.from_directory(Path(directory) / "var")
        yield found
        if found.sockets.exists():
            for left in found.sockets.iterdir():
                left.unlink()
            found.sockets.rmdir()


def stack(places: StatePaths, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "portal.stack", arguments[0], "--var", str(places.var), "--throwaway", *arguments[1:]]


def run(places: StatePaths, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(stack(places, "run", "--", *command), capture_output=True, text=True, check=False, cwd=ROOT, timeout=300)


def asks(sql: str) -> tuple[str, ...]:
    script = "import os, psycopg, sys; print(psycopg.connect(os.environ['NETZWART_DATABASE_URL']).execute(sys.argv[1]).fetchone()[0])"
    return sys.executable, "-c", script, sql


def wait_until(condition: Callable[[], bool], within: float = 120.0) -> bool:
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_a_cluster_from_nothing_answers_in_utf8(places: StatePaths) -> None:
    made = run(places, *asks("SHOW server_encoding"))
    assert made.stdout.strip() == "UTF8", made.stderr
    assert run(places, *asks("SELECT datcollate FROM pg_database WHERE datname = 'netzwart'")).stdout.strip() == "C.UTF-8"
    assert not (places.postgres / "postmaster.pid").exists()


def test_the_status_of_the_command_is_handed_on(places: StatePaths) -> None:
    assert run(places, "sh", "-c", "exit 5").returncode == 5


def test_a_pid_file_of_a_crash_does_not_hinder_the_next_start(places: StatePaths) -> None:
    assert run(places, "true").returncode == 0
    (places.postgres / "postmaster.pid").write_text(f"{os.getpid()}\n{places.postgres}\n")  # this pid exists, but it is another program
    assert run(places, *asks("SELECT 1")).stdout.strip() == "1"


def test_a_cluster_of_another_version_is_refused_with_the_remedies(places: StatePaths) -> None:
    places.postgres.mkdir(parents=True)
    (places.postgres / "PG_VERSION").write_text("9\n")
    with pytest.raises(StackError, match="made by PostgreSQL 9"):
        postgres.prepare(places)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_servers_end_with_whoever_started_them(places: StatePaths, number: signal.Signals) -> None:
    with subprocess.Popen(stack(places, "database"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT) as started:
        assert started.stdout is not None
        exports = [started.stdout.readline() for _ in range(7)]
        server = int((places.postgres / "postmaster.pid").read_text().split("\n", 1)[0])
        started.send_signal(number)
        ended = wait_until(lambda: not postgres.is_cluster_server(server, places.postgres))
        started.kill()
    assert any(line.startswith("export NETZWART_DATABASE_URL=") for line in exports)
    assert ended
    assert run(places, *asks("SELECT 1")).stdout.strip() == "1"
