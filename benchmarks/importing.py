"""import: a table of new members, each with a room, a device and an address: dry run, import, and once more; beside PostgreSQL's COPY.

Needs a database server (NETZWART_DATABASE_URL), where it creates a database of its own and drops it again. The baseline copies the
rows of the same five tables, as the import wrote them, into tables with the same indexes, without triggers and foreign keys.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from ipaddress import IPv4Address, ip_network
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.changes import NAME, run_sql, use_own_database
from benchmarks.disturbance import TICKS
from benchmarks.figures import Figure
from benchmarks.peak_memory import read_peak_mib

MOST = 200_000  # lines of a table
COPIES = 3
ACCOUNT = "bench"
BESIDE = "PostgreSQL's COPY of the same rows"
PRIVATE = int(IPv4Address("10.64.0.0"))
POOLS = (
    {"kind": "private4", "name": "private", "prefix": ip_network("10.64.0.0/10")},
    {"kind": "public4", "name": "public", "prefix": ip_network("198.18.0.0/20"), "sharing": "blocks", "block_size": 1024},
)
TABLES = ("members_room", "members_member", "members_device", "network_holding", "nat_natmapping")


def run(members: int) -> Iterator[Figure]:
    """Import a table of this many new members into an empty network. Times of one run each: the second would be another network."""
    with use_own_database():
        _prepare()
        done = subprocess.run([sys.executable, "-m", "benchmarks.importing", str(min(members, MOST))], stdout=subprocess.PIPE, check=False)
        if done.returncode:
            raise SystemExit("the import failed")
        copy = median(_measure_copy_seconds() for _ in range(COPIES))
    yield from _build_figures(json.loads(done.stdout), members, copy)


def _build_figures(found: dict[str, float], members: int, copy: float) -> Iterator[Figure]:
    large = members == 100_000
    yield Figure("dry_run_seconds", found["dry"], "s", *(("<= 60", copy, BESIDE, "<= 6") if large else (None, copy, BESIDE)))
    yield Figure("import_seconds", found["import"], "s", *(("<= 120", copy, BESIDE, "<= 12") if large else (None, copy, BESIDE)))
    yield Figure("again_seconds", found["again"], "s", None, copy, BESIDE)
    yield Figure("dry_run_processor_seconds", found["dry_processor"], "s")
    yield Figure("import_processor_seconds", found["import_processor"], "s")
    yield Figure("peak_mib", found["peak_mib"], "MiB", "<= 512" if large else None)
    yield Figure("members_per_second", members / found["import"], "1/s")


def measure(members: int) -> dict[str, float]:
    """Measure in this process, which has done nothing else: its peak of memory is that of the import."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    os.environ["NETZWART_REDIS_URL"] = "unix:///nowhere/redis.sock"
    import django

    django.setup()
    import structlog
    from django.db import connection

    structlog.configure(logger_factory=structlog.PrintLoggerFactory(file=Path(os.devnull).open("w")))  # noqa: SIM115
    connection.settings_dict["NAME"] = NAME
    from apps.accounts.models import User
    from apps.desk.people_import.services import PeopleFile, check_people, import_people

    admin, file = User.objects.get(username=ACCOUNT), PeopleFile(build_people_table(members), "people.csv", create_rooms=True)
    found: dict[str, float] = {}
    for name, counted in (("dry", "added"), ("import", "added"), ("again", "unchanged")):
        work = partial(import_people, file=file, by=admin) if name == "import" else partial(check_people, file)
        found[name], found[f"{name}_processor"], report = _time_work(work)
        if report["counts"][f"members_{counted}"] != members or report["problem_count"]:
            raise SystemExit(f"not all members were {counted}: {report['counts']} {report['problems'][:3]}")
        run_sql("ANALYZE")
    return found | {"peak_mib": read_peak_mib()}


def build_people_table(members: int) -> bytes:
    """Return the table: a thousand rooms a house."""
    lines = (
        f"M-{at + 1},Member {at},m{at}@lindenhof.example,House {at // 1000},{at % 1000},Laptop,"
        f"02:00:{at >> 24 & 255:02x}:{at >> 16 & 255:02x}:{at >> 8 & 255:02x}:{at & 255:02x},{IPv4Address(PRIVATE + at + 1)},2027-03-31\n"
        for at in range(members)
    )
    return ("Number,Name,E-mail,House,Room,Device,MAC,Private address,Paid until\n" + "".join(lines)).encode()


def _prepare() -> None:
    """Write a network without members, and an account that may import."""
    from django.utils import timezone

    from apps.accounts.models import User
    from apps.members.models import Tariff
    from apps.network.models import GatewayGroup, Pool

    group = GatewayGroup.objects.create(name="Bench", live_since=timezone.now())
    for each in POOLS:
        Pool.objects.create(group=group, **each)
    Tariff.objects.create(name="Standard")
    User.objects.create_superuser(ACCOUNT, "bench@example.org", None)


def _time_work(work: Callable[[], dict[str, Any]]) -> tuple[float, float, dict[str, Any]]:
    """Return the seconds of the work, the processor's seconds of this process and of its server process, and the report."""
    start, processor = time.perf_counter(), _read_processor_seconds()
    report = work()
    return time.perf_counter() - start, _read_processor_seconds() - processor, report


def _read_processor_seconds() -> float:
    """Return the processor time of this process, and of the one that serves its connection on this machine (proc_pid_stat(5))."""
    from django.db import connection

    connection.ensure_connection()
    stat = Path(f"/proc/{connection.connection.info.backend_pid}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(stat[11]) + int(stat[12])) / TICKS


def _measure_copy_seconds() -> float:
    """Return the seconds in which COPY writes the rows of all tables into empty tables with the same indexes, in one transaction."""
    from django.db import connection, transaction

    seconds = 0.0
    with transaction.atomic(), connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"CREATE TABLE baseline_{table} (LIKE {table} INCLUDING INDEXES INCLUDING DEFAULTS)")
            with cursor.copy(f"COPY {table} TO STDOUT") as reading:
                rows = b"".join(map(bytes, reading))
            start = time.perf_counter()
            with cursor.copy(f"COPY baseline_{table} FROM STDIN") as copy:
                copy.write(rows)
            seconds += time.perf_counter() - start
        transaction.set_rollback(True)
    return seconds


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
