"""api: the REST API of a real server process in a database of many members: lists, objects, a thousand at once, fifty clients at once.

Needs a database server (NETZWART_DATABASE_URL), where it makes a database of its own and drops it again. Clients run in this process: on a
machine with few cores they take time from the server.
"""

import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.changes import NAME, _sql, fill, own_database
from benchmarks.figures import Figure

ONE_BY_ONE, AT_ONCE, EACH, BULK, ROUNDS = 300, 50, 20, 1000, 5
FORWARDS = "/api/nat/forwards/"
PUBLIC = "198.19.0.1"


@dataclass
class Client:
    """One connection that stays open; counts what was not answered as it should be."""

    port: int
    key: str
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._open = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, method: str, path: str, body: object = None) -> tuple[float, Any]:
        """Milliseconds, and what was answered."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        start = time.perf_counter()
        self._open.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = self._open.getresponse()
        text = answer.read()
        took = (time.perf_counter() - start) * 1000
        if answer.status not in (200, 201, 204):
            self.errors.append(f"{method} {path}: {answer.status} {text[:200]!r}")
        return took, json.loads(text) if text else None


def run(members: int) -> Iterator[Figure]:
    """Fill a database, serve it, ask."""
    with own_database():
        from django.db import connection

        fill(members)
        for table in ("members_member", "network_holding", "nat_portforward"):
            _sql(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")  # noqa: S608 - constants
        _sql("VACUUM ANALYZE") if connection.get_autocommit() else _sql("ANALYZE")
        key = _key()
        yield from _queries(key)
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL
        with served() as (process, port):
            yield from _measured(Client(port, key), members)
            yield from _together(port, key, members)
            yield Figure("worker_rss_mib", rss(process.pid), "MiB", "<= 200")


def _key() -> str:
    from apps.accounts import tokens
    from apps.accounts.models import User

    admin = User.objects.create_superuser("bench", "bench@example.org", None)
    return tokens.create(user=admin, name="bench")[1]


def _queries(key: str) -> Iterator[Figure]:
    """How many queries a list and an object need, whatever the number of rows."""
    from django.db import connection
    from django.test import Client as InProcess
    from django.test.utils import CaptureQueriesContext

    api = InProcess(headers={"authorization": f"Bearer {key}", "host": "localhost"})
    first = api.get(f"{FORWARDS}?limit=1").json()["results"][0]["id"]
    counts = {}
    for name, path in (("5", f"{FORWARDS}?limit=5"), ("list", f"{FORWARDS}?limit=50"), ("detail", f"{FORWARDS}{first}/")):
        with CaptureQueriesContext(connection) as found:
            api.get(path)
        counts[name] = len(found)
    if counts["5"] != counts["list"]:
        raise SystemExit(f"a list of 5 needs {counts['5']} queries, one of 50 {counts['list']}")
    yield Figure("queries_list", counts["list"], "")
    yield Figure("queries_detail", counts["detail"], "")


def _measured(client: Client, members: int) -> Iterator[Figure]:
    rows = members * 15 // 100 * 3
    client.ask("GET", f"{FORWARDS}?limit=50")
    yield from _spread("list50", [client.ask("GET", f"{FORWARDS}?limit=50&offset={n * 50 % rows}")[0] for n in range(ONE_BY_ONE)], 35)
    yield from _spread("walk50", [client.ask("GET", f"{FORWARDS}?limit=50&cursor=")[0] for _n in range(ONE_BY_ONE)], None)
    _took, page = client.ask("GET", f"{FORWARDS}?limit=1000&fields=id")
    ids = [each["id"] for each in page["results"]]
    yield from _spread("detail", [client.ask("GET", f"{FORWARDS}{ids[n % len(ids)]}/")[0] for n in range(ONE_BY_ONE)], 25)
    made, changed, removed = zip(*(_bulk(client, n, members) for n in range(ROUNDS)), strict=True)
    yield Figure("bulk1000_create_s", median(made) / 1000, "s", "<= 1.5")
    yield Figure("bulk1000_update_s", median(changed) / 1000, "s", "<= 1.5")
    yield Figure("bulk1000_delete_s", median(removed) / 1000, "s")
    yield Figure("errors", len(client.errors), "", "== 0")


def _bulk(client: Client, round_: int, members: int) -> tuple[float, float, float]:
    """A thousand forwards of a thousand members, added, changed and removed."""
    items = [
        {
            "holding": 1 + (round_ * BULK + n) % members,
            "protocol": "udp",
            "public_address": PUBLIC,
            "public_port": 1024 + n,
            "private_port": 53,
            "purpose": f"round {round_}",
        }
        for n in range(BULK)
    ]
    created, rows = client.ask("POST", FORWARDS, items)
    updated, _rows = client.ask("PATCH", FORWARDS, [{"id": row["id"], "private_port": 54, "version": 1} for row in rows])
    removed, _none = client.ask("DELETE", FORWARDS, [row["id"] for row in rows])
    return created, updated, removed


def _together(port: int, key: str, members: int) -> Iterator[Figure]:
    """Lists of 50 by so many clients at once."""
    rows = members * 15 // 100 * 3
    clients = [Client(port, key) for _each in range(AT_ONCE)]

    def ask(number: int) -> list[float]:
        return [clients[number].ask("GET", f"{FORWARDS}?limit=50&offset={(number * EACH + n) * 50 % rows}")[0] for n in range(EACH)]

    start = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        took = [each for answers in pool.map(ask, range(AT_ONCE)) for each in answers]
    yield Figure("concurrent50_rps", len(took) / (time.perf_counter() - start), "/s", ">= 60")
    yield from _spread("concurrent50", took, None)
    yield Figure("concurrent50_errors", sum(len(each.errors) for each in clients), "", "== 0")


def _spread(name: str, took: Sequence[float], goal: float | None) -> Iterator[Figure]:
    yield Figure(f"{name}_p50_ms", median(took), "ms")
    yield Figure(f"{name}_p95_ms", quantiles(took, n=20)[18], "ms", f"<= {goal}" if goal else None)
    yield Figure(f"{name}_max_ms", max(took), "ms")


@contextmanager
def served() -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """The portal's web server as script/server starts it, on this database."""
    from django.conf import settings
    from psycopg.conninfo import make_conninfo

    from portal.stack.plan import web
    from portal.stack.ports import next_free

    port = next_free(18_000)
    known: dict[str, Any] = settings.DATABASES["default"]
    url = make_conninfo(dbname=NAME, user=known["USER"], password=known["PASSWORD"], host=known["HOST"], port=known["PORT"] or None)
    environment = {**os.environ, "NETZWART_DATABASE_URL": url, "NETZWART_API_RATE": "100000000", "NETZWART_DEBUG": ""}
    process = subprocess.Popen(web(port).command, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        _until_it_answers(port)
        yield process, port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _until_it_answers(port: int, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            probe = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            probe.request("GET", "/api/schema/")
            probe.getresponse().read()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
        else:
            return


def rss(master: int) -> float:
    """What the largest worker holds, in MiB (proc_pid_status(5), VmRSS)."""
    children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
    lines = [line for child in children for line in Path(f"/proc/{child}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return max(int(line.split()[1]) for line in lines) / 1024
