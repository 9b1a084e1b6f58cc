"""The portal behind a real PgBouncer in transaction mode: each transaction may have another connection to the server."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pytest
from django.conf import LazySettings
from django.test import Client

from apps.accounts.models import User
from apps.deployments.models import Rollout
from apps.deployments.rollouts.lease_keeper import KeptLease, LeaseKeeper, WorkerProcess
from apps.events.models import Event
from apps.lib import enqueue
from tests import factories
from tests.db.two_hosts import PATIENCE, forward, host, is_settled
from tests.events_client import events_process, stream
from tests.pgbouncer import LOCK_SECONDS, STATEMENT_SECONDS, Pooler, run_pgbouncer, why_no_pgbouncer
from tests.web_server import web_server
from tests.whole.system import wait_for
from tests.whole.worker import ROOT, broker, environment

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(bool(why_no_pgbouncer()), reason=why_no_pgbouncer() or "can run"),
]
NOBODY = "unix:///nowhere/redis.sock"


@pytest.fixture
def pooler() -> Iterator[Pooler]:
    with run_pgbouncer() as running:
        yield running


def build_variables(pooler: Pooler) -> dict[str, str]:
    return {f"NETZWART_{name}": value for name, value in pooler.variables.items()}


def build_cookie(user: User) -> dict[str, str]:
    client = Client()
    client.force_login(user)
    return {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}


def test_changes_reach_the_gateways_and_the_leases_are_kept(
    served_network: factories.Network, pooler: Pooler, settings: LazySettings, tmp_path: Path
) -> None:
    with TemporaryDirectory(prefix="nw-") as directory, broker(Path(directory)) as settings.REDIS_URL:
        enqueue._get_publisher.cache_clear()
        with host("a", settings.REDIS_URL, tmp_path, **pooler.variables):
            for port in range(8001, 8004):
                forward(served_network, port)
                wait_for(lambda: is_settled(served_network), seconds=PATIENCE)
        log = (tmp_path / "a.log").read_text()
    enqueue._get_publisher.cache_clear()
    assert "prepared statement" not in log and "unsupported startup parameter" not in pooler.log.read_text()
    assert {each.state for each in Rollout.objects.all()} == {Rollout.State.CONFIRMED}


def test_a_lease_is_renewed_for_longer_than_it_takes_a_driver_to_prepare_its_statement(network: factories.Network, pooler: Pooler) -> None:
    keeper = LeaseKeeper(WorkerProcess(os.getpid()))
    database: Any = psycopg.conninfo.conninfo_to_dict(pooler.variables["DATABASE_URL"])
    lease = KeptLease(rollout=1, token=1, every=0, seconds=1, database=database)
    for _each in range(8):
        assert keeper._renew_lease(lease) == 0, "there is no such rollout, and no error"
    with psycopg.connect(pooler.variables["DATABASE_URL"]) as other:
        other.execute("SELECT 1")  # holds the connection to the server that the keeper had
        assert keeper._renew_lease(lease) == 0
    keeper._disconnect()


def test_pages_and_api_are_served_to_many_at_once_over_three_connections(
    network: factories.Network, pooler: Pooler, tmp_path: Path
) -> None:
    signed_in = build_cookie(network.admin)
    paths = ["/", "/members/", "/api/members/members/", "/nat/forwards.csv", "/readyz"] * 6
    with web_server(tmp_path, **build_variables(pooler)) as web, ThreadPoolExecutor(12) as clients:
        answers = [*clients.map(lambda path: web.ask("GET", path, **signed_in), paths)]
    assert [(path, answer.status) for path, answer in zip(paths, answers, strict=True) if answer.status not in (200, 404)] == []
    assert sum(answer.status == 200 for answer in answers) >= 24
    assert "Traceback" not in (tmp_path / "web.log").read_text()


def test_events_come_at_once_because_their_process_listens_past_it(network: factories.Network, pooler: Pooler, tmp_path: Path) -> None:
    with (
        events_process(tmp_path, **build_variables(pooler)) as process,
        closing(stream(process.port, build_cookie(network.admin))) as opened,
    ):
        Event.objects.create(kind="rollout", object_id=7, state="applying")
        [(kind, facts)] = opened.read()
    assert (kind, facts["id"]) == ("rollout", 7)


def test_only_the_entry_for_pages_limits_queries(pooler: Pooler) -> None:
    for name, lock, statement in (("DATABASE_WEB_URL", f"{LOCK_SECONDS}s", f"{STATEMENT_SECONDS // 60}min"), ("DATABASE_URL", "0", "0")):
        with psycopg.connect(pooler.variables[name]) as connection:
            row = connection.execute("SELECT current_setting('lock_timeout'), current_setting('statement_timeout')").fetchone()
        assert row == (lock, statement)


def test_commands_pass_it_by(network: factories.Network, pooler: Pooler, tmp_path: Path) -> None:
    given = environment(NOBODY) | build_variables(pooler)
    asked = "from django.db import connection; connection.ensure_connection(); print(connection.settings_dict['HOST'])"
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", asked]
    done = subprocess.run(command, env=given, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() in pooler.variables["DATABASE_DIRECT_URL"] and "127.0.0.1" not in done.stdout


def test_half_of_the_addresses_is_refused() -> None:
    given = environment(NOBODY) | {"NETZWART_DATABASE_WEB_URL": "dbname=netzwart_web"}
    done = subprocess.run([sys.executable, "manage.py", "check"], env=given, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "belong together" in done.stderr
