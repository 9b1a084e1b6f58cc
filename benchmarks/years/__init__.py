"""years: ten years of a network in a database of its own, with the real retention; then its sizes, pages, backup and restore.

Needs a database server (NETZWART_DATABASE_URL), where it creates databases of its own and drops them again. Rates of what is written
are in `rates.py`.
"""

import logging
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from statistics import median
from typing import Final

import structlog

from benchmarks.changes import run_sql, use_own_database
from benchmarks.figures import Figure
from benchmarks.paging import create_session, measure_pages
from benchmarks.serving import EMPTY, serve_application
from benchmarks.years.month import LENGTH

PAGES: Final = ("pages_p50_ms", "pages_p95_ms", "slowest_page_p50_ms")
LARGEST: Final = 10
JUDGED_FROM: Final = 4  # years; before, what is kept for up to two years is still growing in the second half


def run(members: int, years: int) -> Iterator[Figure]:
    """Simulate the years, and yield the figures. Prints a line for each year on standard error."""
    os.environ["NETZWART_REQUIRE_SECOND_FACTOR"] = "0"
    # Retention tells what it removed, month by month, on standard output
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with use_own_database():
        from django.db import connection

        from benchmarks.years import usage
        from benchmarks.years.copies import measure_copies
        from benchmarks.years.judgement import find_largest_unbounded
        from benchmarks.years.people import compute_last_number
        from benchmarks.years.simulation import YEAR, simulate

        now = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        seen = simulate(members, years, now, _say)
        unbounded, excess = find_largest_unbounded(seen.list_tables(), members, years)
        _say("usage of everybody, as far as it is kept")
        usage.write_everybodys_usage(now - years * YEAR * LENGTH, now)
        run_sql("VACUUM (ANALYZE)")
        yield Figure("largest_unbounded", excess, "B", "== 0" if years >= JUDGED_FROM else None, about=unbounded)
        yield from iter_size_figures(members, years)
        yield Figure("prune_seconds_per_month", median(seen.prune_seconds[-YEAR:]), "s")
        last = compute_last_number(members, years * YEAR)
        cookies = {True: create_session("bench", member=None), False: create_session("resident", member=last)}
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL
        with serve_application() as (_process, port), serve_application(EMPTY) as (_empty, empty_port):
            yield from (each for each in measure_pages(port, empty_port, members, cookies, last=last) if each.name in PAGES)
        copies = measure_copies()
        yield Figure("backup_seconds", copies.backup, "s")
        yield Figure("backup_mib", copies.octets / 2**20, "MiB")
        yield Figure("restore_seconds", copies.restore, "s")


def _say(words: str) -> None:
    print(f"{datetime.now(UTC):%H:%M:%S} {words}", file=sys.stderr, flush=True)


def iter_size_figures(members: int, years: int) -> Iterator[Figure]:
    """Yield the size of the database, also by member and year, and its largest tables."""
    from django.db import connection

    from apps.operations.table_sizes import list_table_sizes

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        [octets] = cursor.fetchone()
    yield Figure("database_mib", octets / 2**20, "MiB")
    yield Figure("bytes_per_member_year", octets / members / years, "B")
    for place, table in enumerate(list_table_sizes()[:LARGEST], 1):
        yield Figure(f"largest_table_{place}", table.octets, "B", about=table.name)
