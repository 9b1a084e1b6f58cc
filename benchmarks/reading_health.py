"""Health: what a reading costs on the gateway, on the wire and in the portal, and the times of the page with a year of charts.

The reading is that of this machine's kernel. Rows of a year, for two gateways, are written at once; pages are asked for by Django's client.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import standing_probes
from benchmarks.baselines import PYTHON
from benchmarks.disturbance import measure_python_seconds
from benchmarks.figures import Figure

READINGS = 200
PERIODS = ("1h", "10h", "48h", "7d", "90d", "1y")
ROUNDS = 12
GOALS = (
    ("agent_cpu_ms", "ms", "<= 5"),
    ("bytes_per_reading", "B", None),
    ("store_cpu_ms", "ms", None),
    ("rows_per_day", "rows", None),
    ("octets_per_year", "B", None),
    ("page_p95_ms", "ms", None),
    ("polled_part_p95_ms", "ms", None),
    ("year_chart_p95_ms", "ms", "<= 100"),
    ("metrics_p95_ms", "ms", None),
)


def run() -> Iterator[Figure]:
    """Yield the figures, measured in a process and a database of its own."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.reading_health"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit("the benchmark of health failed")
    found = json.loads(done.stdout.splitlines()[-1])
    for name, unit, goal in GOALS:
        yield Figure(name, found[name], unit, goal, *((found["python"], PYTHON) if unit == "ms" else ()))
    yield standing_probes.run()


def measure_all() -> dict[str, float]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    os.environ["NETZWART_REDIS_URL"] = "unix:///nowhere/redis.sock"
    os.environ["NETZWART_DEBUG"], os.environ["NETZWART_REQUIRE_SECOND_FACTOR"] = "", "0"
    import django

    django.setup()
    from django.db import connection

    name = connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        return _measure_agent() | _measure_portal() | {"python": median(measure_python_seconds() * 1000 for _ in range(20))}
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


def _measure_agent() -> dict[str, float]:
    """Measure a reading of this kernel with its encoding, in CPU time."""
    from firewall.codec import encode
    from gateway.health.reading import read_health

    def read() -> str:
        return json.dumps(encode(read_health({}, boot="x", agent="x", disk=Path(tempfile.gettempdir()))))

    size = len(read())
    return {"agent_cpu_ms": _measure_cpu_ms(read, READINGS), "bytes_per_reading": size}


def _measure_cpu_ms(work: Callable[[], object], times: int) -> float:
    """Return CPU milliseconds of one call."""
    begin = time.process_time()
    for _each in range(times):
        work()
    return round((time.process_time() - begin) * 1000 / times, 3)


def _measure_portal() -> dict[str, float]:
    from django.utils import timezone

    from tests import factories
    from tests.health_situations import build_counters, store_reading

    network, now = factories.network(), timezone.now()
    seconds = iter(range(0, 10 * READINGS + 1, 10))

    def store() -> None:
        at = now - timedelta(seconds=10 * READINGS - next(seconds))
        store_reading(network.gateways[0], build_counters(1e6 + at.timestamp() % 1e5, at.timestamp()), at)

    store()
    cpu = _measure_cpu_ms(store, READINGS)
    octets = _fill_year(network.gateways, now)
    rows = {"store_cpu_ms": cpu, "rows_per_day": 86_400 / 300 + 24 + 1, "octets_per_year": octets / len(network.gateways)}
    return rows | _measure_pages(network.admin, network.gateways[0].pk)


def _fill_year(gateways: Any, now: datetime) -> int:
    """Write what a year leaves: five minutes of two weeks, hours and days of the year. Returns the octets of the table."""
    from django.db import connection

    from apps.gateways.health.models import HealthReading, HealthSample

    measures = HealthReading.objects.exclude(measures={}).order_by("-at")[0].measures
    for span, count in ((300, 14 * 288), (3600, 365 * 24), (86_400, 365)):
        begin = now.timestamp() // span * span
        zone = now.tzinfo
        rows = [
            HealthSample(
                gateway=gateway, span=span, begin=datetime.fromtimestamp(begin - span * at, zone), averages=measures, maxima=measures
            )
            for gateway in gateways
            for at in range(1, count + 1)
        ]
        HealthSample.objects.bulk_create(rows, batch_size=2000)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE gateways_healthsample")
        cursor.execute("SELECT pg_total_relation_size('gateways_healthsample')")
        return int(cursor.fetchone()[0])


def _measure_pages(staff: Any, gateway: int) -> dict[str, float]:
    from django.conf import settings
    from django.test import Client

    settings.METRICS_NETWORKS = [ip_network("127.0.0.0/8")]
    client, page = Client(headers={"host": "localhost"}), f"/gateways/{gateway}/health/"
    client.force_login(staff)
    polled = {"HX-Request": "true", "HX-Target": "now"}
    for period in PERIODS:
        client.get(page, {"period": period})
    return {
        "page_p95_ms": _compute_p95([_measure_ms(client, page, {"period": each}) for each in PERIODS * ROUNDS]),
        "polled_part_p95_ms": _compute_p95([_measure_ms(client, page, headers=polled) for _each in range(5 * ROUNDS)]),
        "year_chart_p95_ms": _compute_p95([_measure_ms(client, page, {"period": "1y"}) for _each in range(5 * ROUNDS)]),
        "metrics_p95_ms": _compute_p95([_measure_ms(client, "/metrics") for _each in range(5 * ROUNDS)]),
    }


def _measure_ms(client: Any, path: str, query: dict[str, str] | None = None, headers: dict[str, str] | None = None) -> float:
    start = time.perf_counter()
    if client.get(path, query, headers=headers).status_code != 200:
        raise SystemExit(f"{path} failed")
    return (time.perf_counter() - start) * 1000


def _compute_p95(times: list[float]) -> float:
    return round(sorted(times)[int(len(times) * 0.95)], 1)


if __name__ == "__main__":
    print(json.dumps(measure_all()))
