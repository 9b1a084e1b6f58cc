"""A real PgBouncer on loopback in transaction mode, before the tests' PostgreSQL."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
from django.db import connection

from tests.free_ports import find_free_port
from tests.whole.system import wait_for

LOCK_SECONDS, STATEMENT_SECONDS = 5, 60
CONFIGURATION = """\
[databases]
{name} = {server}
{name}_web = {server} connect_query='SET lock_timeout = {lock}; SET statement_timeout = {statement}'

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
user = {account}
"""


def why_no_pgbouncer() -> str:
    """Return the reason why tests with PgBouncer cannot run here; "" if they can."""
    return "" if shutil.which("pgbouncer") else "pgbouncer is not installed (Debian: pgbouncer)"


@dataclass(frozen=True)
class Pooler:
    """The variables, without NETZWART_, of a portal behind it; its log."""

    variables: dict[str, Any]
    log: Path


@contextmanager
def run_pgbouncer() -> Iterator[Pooler]:
    """Run it with three connections to the server for each of its two databases."""
    known = connection.settings_dict
    host, name, user = known["HOST"], known["NAME"], known["USER"]
    server, port = f"host={host} dbname={name} user={user}", find_free_port()
    account = Path(host).owner()  # who may enter the directory of the server's socket; root is refused
    given = {"name": name, "server": server, "port": port, "account": account}
    with TemporaryDirectory(prefix="nw-") as directory:
        file, log = Path(directory, "pgbouncer.ini"), Path(directory, "pgbouncer.log")
        file.write_text(CONFIGURATION.format(**given, lock=LOCK_SECONDS * 1000, statement=STATEMENT_SECONDS * 1000))
        pooled = f"host=127.0.0.1 port={port} user={user} dbname={name}"
        with log.open("wb") as output, Popen(["pgbouncer", str(file)], stdout=output, stderr=output) as process:
            try:
                wait_for(lambda: _is_answering(pooled) or process.poll() is not None)
                assert process.poll() is None, log.read_text()
                yield Pooler({"DATABASE_URL": pooled, "DATABASE_WEB_URL": f"{pooled}_web", "DATABASE_DIRECT_URL": server}, log)
            finally:
                process.terminate()


def _is_answering(address: str) -> bool:
    try:
        with psycopg.connect(address, connect_timeout=5):
            return True
    except psycopg.OperationalError:
        return False
