"""Two private PostgreSQL clusters: a primary, and a standby to which each commit is copied before it is confirmed."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import Popen

import psycopg

from portal.stack import postgres
from portal.stack.postgres_account import ServerAccount, allow_traversal, make_private_directory
from portal.stack.program import Program
from portal.stack.state_paths import StatePaths
from tests.whole.system import wait_for

PATIENCE = 120.0  # seconds


class PairedServer:
    """One of the two servers, with the address of its socket."""

    def __init__(self, places: StatePaths) -> None:
        self.places = places
        self.url = postgres.build_url(places)
        self._process: Popen[bytes] | None = None

    def start(self) -> None:
        """Start, and wait until it answers."""
        self._process = Popen(postgres.build_program(self.places).build_arguments(), process_group=0)
        wait_for(lambda: postgres.is_answering(self.places), seconds=PATIENCE)

    def kill(self) -> None:
        """End all of its processes at once, as a power cut does."""
        process, self._process = self._process, None
        if process:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def run(self, tool: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs as the account of the cluster."""
        run_tool(self.places, ServerAccount.from_owner(self.places.postgres), tool, *arguments)

    def execute(self, statement: str) -> object:
        """Execute one statement, and return its first value, if it has any."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def run_tool(places: StatePaths, account: ServerAccount, tool: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs. Raises CalledProcessError."""
    server = postgres.choose_server(places.postgres, postgres.list_installed_servers())
    program = Program(tool, (server.get_tool_path(tool), *arguments), account=account)
    subprocess.run(program.build_arguments(), check=True, cwd="/", capture_output=True, timeout=PATIENCE)


@contextmanager
def run_pair() -> Iterator[tuple[PairedServer, PairedServer]]:
    """Run a primary and its synchronous standby; both are removed at the end."""
    with tempfile.TemporaryDirectory(prefix="netzwart-test-", dir="/tmp") as directory, ExitStack() as stack:
        first, second = (PairedServer(StatePaths.from_directory(Path(directory) / name)) for name in ("first", "second"))
        for server in (first, second):
            server.places.var.mkdir()
            stack.callback(_remove_sockets, server.places)
            stack.callback(server.kill)
        postgres.prepare(first.places)
        first.start()
        _copy(first, second)
        second.start()
        first.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        first.execute("SELECT pg_reload_conf()")
        wait_for(lambda: first.execute("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1, seconds=PATIENCE)
        yield first, second


def _copy(first: PairedServer, second: PairedServer) -> None:
    """Make the second one a standby of the first one (pg_basebackup(1))."""
    account = ServerAccount.from_owner(first.places.postgres)
    allow_traversal(second.places.postgres, account)
    make_private_directory(second.places.sockets, account)
    make_private_directory(second.places.postgres, account)
    source = ("--host", str(first.places.sockets), "--username", postgres.OWNER)
    run_tool(first.places, account, "pg_basebackup", *source, "--pgdata", str(second.places.postgres), "--write-recovery-conf", "--no-sync")


def _remove_sockets(places: StatePaths) -> None:
    if places.sockets.exists():
        for left in places.sockets.iterdir():
            left.unlink()
        places.sockets.rmdir()
