"""The machine of the database dies, the standby is promoted, and the portal goes on by itself: nothing that was saved is lost."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Thread

import pytest
from psycopg.conninfo import conninfo_to_dict

from portal.settings import parse_database_url
from tests.postgres_pair import PATIENCE, PairedServer, run_pair
from tests.web_server import web_server
from tests.whole.system import wait_for
from tests.whole.worker import ROOT

NOBODY = "unix:///nowhere/redis.sock"
WRITE = """
import itertools, django; django.setup()
from django.db import Error, connection
from apps.network.models import GatewayGroup
for number in itertools.count():
    try:
        GatewayGroup.objects.create(name=f"group {number}")
        print(number, flush=True)
    except Error as error:
        connection.close()
"""


@pytest.fixture
def pair() -> Iterator[tuple[PairedServer, PairedServer]]:
    with run_pair() as running:
        yield running


def build_address(*servers: PairedServer) -> str:
    """Return the address of whichever of these servers takes writes."""
    hosts = ",".join(str(server.places.sockets) for server in servers)
    return f"host={hosts} dbname=netzwart user=netzwart target_session_attrs=read-write connect_timeout=5"


def build_environment(address: str) -> dict[str, str]:
    return os.environ | {"NETZWART_DATABASE_URL": address, "NETZWART_REDIS_URL": NOBODY, "DJANGO_SETTINGS_MODULE": "portal.settings"}


def run_command(address: str, *command: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "manage.py", *command]
    return subprocess.run(line, env=build_environment(address), cwd=ROOT, capture_output=True, text=True, check=False)


def migrate(address: str) -> None:
    done = run_command(address, "migrate", "--verbosity", "0")
    assert done.returncode == 0, done.stderr


@contextmanager
def writer(address: str) -> Iterator[list[str]]:
    """Save one row after the other in a process of the portal; yield those that it was told are saved, as they come."""
    saved: list[str] = []
    with Popen([sys.executable, "-c", WRITE], env=build_environment(address), cwd=ROOT, stdout=PIPE, text=True) as process:
        assert process.stdout
        reader = Thread(target=lambda lines: saved.extend(line.strip() for line in lines), args=[process.stdout])
        reader.start()
        try:
            yield saved
        finally:
            process.kill()
            reader.join()


@pytest.mark.parametrize("address", ["host=a,b port=5432,5433 dbname=n", "postgresql://u@a:5432,b:5433/n?target_session_attrs=read-write"])
def test_several_hosts_are_handed_on_to_the_driver(address: str) -> None:
    found = parse_database_url(address)
    assert (found["HOST"], found["PORT"]) == ("a,b", "5432,5433")
    options = found["OPTIONS"]
    assert isinstance(options, dict) and options.get("target_session_attrs") == conninfo_to_dict(address).get("target_session_attrs")


@pytest.mark.long
def test_the_portal_goes_on_with_a_promoted_standby_that_has_all_that_was_saved(
    pair: tuple[PairedServer, PairedServer], tmp_path: Path
) -> None:
    first, second = pair
    address = build_address(first, second)
    migrate(address)
    with writer(address) as saved, web_server(tmp_path, NETZWART_DATABASE_URL=address) as web:
        wait_for(lambda: len(saved) > 50, seconds=PATIENCE)
        assert web.ask("GET", "/readyz").status == 200
        first.kill()
        wait_for(lambda: web.ask("GET", "/readyz").status == 503, seconds=PATIENCE)
        before = len(saved)
        second.run("pg_ctl", "promote", "--wait", "--pgdata", str(second.places.postgres))
        wait_for(lambda: web.ask("GET", "/readyz").status == 200, seconds=PATIENCE)
        wait_for(lambda: len(saved) > before + 50, seconds=PATIENCE)
    there = second.execute("SELECT array_agg(substr(name, 7)) FROM network_gatewaygroup")
    assert isinstance(there, list) and set(saved) <= set(there), "what was told to be saved is there"
    assert len(there) <= len(saved) + 2, "besides, at most what was under way when it died, and when the writer was ended"


@pytest.mark.long
def test_a_backup_is_taken_from_the_primary_whichever_server_is_named_first(
    pair: tuple[PairedServer, PairedServer], tmp_path: Path
) -> None:
    first, second = pair
    migrate(first.url)
    refused = run_command(second.url, "backup", str(tmp_path))
    assert refused.returncode == 1 and "This server is a standby" in refused.stderr and "Traceback" not in refused.stderr
    assert [*tmp_path.iterdir()] == []
    made = run_command(build_address(second, first), "backup", str(tmp_path))
    assert made.returncode == 0, made.stderr
    assert len([*tmp_path.glob("netzwart-*/*.dump")]) == 1
