"""Baselines: times of other programs for comparable work, measured beside each figure in the same run.

PostgreSQL's own COPY and its arithmetic, a bare transaction, a Django view that does nothing, and a new `nft` process.
"""

import subprocess
import time
from statistics import median
from typing import Any

COPY, INSERT, ARITHMETIC = "PostgreSQL's COPY", "a bare transaction", "PostgreSQL adding up a million numbers"
VIEW, PYTHON, NFT = "an empty Django view", "fixed Python", "a new nft process"
TABLE = "CREATE TEMP TABLE {name} (id bigint, at timestamptz, packets bigint, octets bigint)"
RULESET = "add table inet baseline; add set inet baseline s { type ipv4_addr; size 1000; }"


def measure_copy_seconds(rows: int) -> float:
    """Return the seconds that PostgreSQL takes for a COPY of `rows` rows of four columns, in text, into a table without an index."""
    from django.db import connection

    text = "".join(f"{number}\t2026-11-22 12:00:00+00\t{number}\t{number * 800}\n" for number in range(rows))
    with connection.cursor() as cursor:
        cursor.execute(TABLE.format(name="baseline_copy"))
        start = time.perf_counter()
        with cursor.copy("COPY baseline_copy FROM STDIN") as copy:
            copy.write(text)
        seconds = time.perf_counter() - start
        cursor.execute("DROP TABLE baseline_copy")
    return seconds


def measure_insert_ms() -> float:
    """Return the milliseconds of a transaction that writes one row to a table without an index, until its commit has returned."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS baseline_insert (id bigint)")
        start = time.perf_counter()
        cursor.execute("INSERT INTO baseline_insert VALUES (1)")
        return (time.perf_counter() - start) * 1000


def measure_arithmetic_ms() -> float:
    """Return the milliseconds that PostgreSQL takes to generate and add up a million numbers on one processor."""
    from django.db import connection

    with connection.cursor() as cursor:
        start = time.perf_counter()
        cursor.execute("SELECT sum(n) FROM generate_series(1, 1000000) n")
        return (time.perf_counter() - start) * 1000


def measure_nft_ms(times: int = 9) -> float:
    """Return the median milliseconds in which a new `nft` process adds an element to a small set, in a network namespace of its own."""
    script = f"nft '{RULESET}'; for n in $(seq {times}); do date +%s%N; nft add element inet baseline s {{ 10.0.0.$n }}; date +%s%N; done"
    said = subprocess.run(["unshare", "--net", "sh", "-c", script], capture_output=True, text=True, check=True).stdout.split()
    moments = [int(each) for each in said]
    return median((end - start) / 1e6 for start, end in zip(moments[::2], moments[1::2], strict=True))


def empty_view(_request: Any) -> Any:
    """Answer 200 after one database query: the least that a page can do."""
    from django.db import connection
    from django.http import JsonResponse

    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({})


def build_empty_view() -> Any:
    """Return a WSGI application with `empty_view` only, without middleware."""
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    import django
    from django.conf import settings
    from django.core.handlers.wsgi import WSGIHandler
    from django.urls import re_path

    django.setup(set_prefix=False)
    settings.MIDDLEWARE, settings.ROOT_URLCONF = [], type("Urls", (), {"urlpatterns": [re_path("", empty_view)]})
    return WSGIHandler()
