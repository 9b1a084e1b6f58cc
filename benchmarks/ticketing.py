"""Tickets: times of whole pages (lists, searches, the chart) with 200,000 tickets of two messages each.

Rows and their history are written by SQL. Words are distributed as in a language: a few are common, many are rare.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from random import Random
from statistics import median
from typing import Any

from benchmarks.baselines import PYTHON
from benchmarks.disturbance import measure_python_seconds
from benchmarks.figures import Figure

WORDS = 20_000
TEXTS = 4000  # different ones
EVERYWHERE = ("Internet", "Verbindung", "Router", "langsam", "geht", "nicht", "Port", "offen", "network", "slow", "since", "Zimmer")
LISTS = (
    "",
    "?state=waiting",
    "?state=solved",
    "?state=all",
    "?state=all&tag=nat",
    "?state=all&tag=rare",
    "?whose=nobody",
    "?state=all&whose=mine",
)
SEARCHES = (
    "internet", "verbindung langsam", "router -internet", '"slow since"', "internet or zimmer", "wort3", "wort17999", "wort9000 router",
    "verbindu", "nonsense", "#4711", "port offen zimmer",
)  # fmt: skip
CHARTS = ("", "?window=year")
ROUNDS = 8
GOALS = (
    ("list_p95_ms", "<= 100", "<= 5"),
    ("search_p95_ms", "<= 300", "<= 15"),
    ("chart_first_ms", "<= 1000", "<= 50"),
    ("chart_ms", "<= 100", "<= 5"),
)


def run(tickets: int) -> Iterator[Figure]:
    """Yield the figures, measured in a process and a database of its own."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.ticketing", str(tickets)], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit("the benchmark's part with tickets failed")
    found = json.loads(done.stdout.splitlines()[-1])
    for name, goal, ratio_goal in GOALS:
        yield Figure(name, found[name], "ms", goal, found["python"], PYTHON, ratio_goal)


def measure_database(tickets: int) -> dict[str, float]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    os.environ["NETZWART_REDIS_URL"] = "unix:///nowhere/redis.sock"
    os.environ["NETZWART_DEBUG"], os.environ["NETZWART_REQUIRE_SECOND_FACTOR"] = "", "0"
    import django

    django.setup()
    from django.db import connection

    name = connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        _fill(tickets)
        return _measure_pages()
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


def _fill(tickets: int) -> None:
    from django.db import connection

    from tests import factories

    random, member = Random(1), factories.member()
    texts = [" ".join(_draw_word(random) for _each in range(30)) for _text in range(TEXTS)]
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE said (id serial, text text)")
        with cursor.copy("COPY said (text) FROM STDIN") as copy:
            for text in texts:
                copy.write_row((text,))
        for table in ("tickets_ticket", "tickets_message"):  # words and history are written below, at once
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(TICKETS, {"tickets": tickets, "texts": TEXTS, "member": member.pk})
        cursor.execute(MESSAGES, {"texts": TEXTS})
        cursor.execute(EVENTS)
        cursor.execute("DROP INDEX ticket_words")
        cursor.execute("INSERT INTO tickets_words SELECT ticket.id, said.* FROM tickets_ticket ticket, tickets_words_in(ticket.id) said")
        cursor.execute("CREATE INDEX ticket_words ON tickets_words USING gin (search)")
        for table in ("tickets_ticket", "tickets_message"):
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        cursor.execute("VACUUM ANALYZE")


TICKETS = """
    INSERT INTO tickets_ticket
        (version, subject, member_id, address, language, state, priority, tags, opened_at, touched_at, first_answered_at)
    SELECT 1, left(said.text, 60), %(member)s, '', 'de',
           CASE WHEN n > %(tickets)s * 0.985 THEN 'open' WHEN n > %(tickets)s * 0.96 THEN 'waiting' ELSE 'solved' END, 1 + n %% 4,
           CASE WHEN n %% 20 = 0 THEN ARRAY['nat'] WHEN n %% 5000 = 1 THEN ARRAY['rare'] ELSE ARRAY[]::varchar[] END,
           now() - (%(tickets)s - n) * interval '8 minutes', now() - (%(tickets)s - n) * interval '8 minutes' + interval '2 hours',
           now() - (%(tickets)s - n) * interval '8 minutes' + interval '1 hour'
    FROM generate_series(1, %(tickets)s) n JOIN said ON said.id = 1 + n %% %(texts)s"""
MESSAGES = """
    INSERT INTO tickets_message (ticket_id, kind, sender, text, via, verified)
    SELECT ticket.id, 'member', 'a@example.org', said.text, 'mail', true
    FROM tickets_ticket ticket CROSS JOIN generate_series(1, 2) which JOIN said ON said.id = 1 + (ticket.id * which * 7919) %% %(texts)s"""

EVENTS = """
    INSERT INTO tickets_ticketevent (pgh_created_at, pgh_label, pgh_obj_id, id, version, subject, member_id, address, language, state,
                                     priority, tags, opened_at)
    SELECT event.at, label, id, id, version, subject, member_id, address, language, event.state, priority, tags, opened_at
    FROM tickets_ticket ticket CROSS JOIN LATERAL (VALUES
        (opened_at, 'insert', 'open'), (first_answered_at, 'update', 'waiting'), (touched_at, 'update', ticket.state)
    ) event (at, label, state) ORDER BY event.at"""


def _draw_word(random: Random) -> str:
    return random.choice(EVERYWHERE) if random.random() < 0.25 else f"wort{int(WORDS * random.random() ** 3)}"


def _measure_pages() -> dict[str, float]:
    from django.test import Client

    from tests import factories

    client = Client(headers={"host": "localhost"})
    client.force_login(factories.user())
    client.get("/tickets/")
    first = max(_measure_ms(client, f"/tickets/chart/{query}") for query in CHARTS)
    return {
        "python": median(measure_python_seconds() * 1000 for _ in range(20)),
        "chart_first_ms": round(first, 1),
        "chart_ms": _compute_p95([_measure_ms(client, f"/tickets/chart/{query}") for query in CHARTS * ROUNDS]),
        "list_p95_ms": _compute_p95([_measure_ms(client, f"/tickets/{query}") for query in LISTS * ROUNDS]),
        "search_p95_ms": _compute_p95([_measure_ms(client, "/tickets/", {"q": words}) for words in SEARCHES * ROUNDS]),
    }


def _measure_ms(client: Any, path: str, query: dict[str, str] | None = None) -> float:
    start = time.perf_counter()
    if client.get(path, query).status_code != 200:
        raise SystemExit(f"{path} failed")
    return (time.perf_counter() - start) * 1000


def _compute_p95(times: list[float]) -> float:
    return round(sorted(times)[int(len(times) * 0.95)], 1)


if __name__ == "__main__":
    print(json.dumps(measure_database(int(sys.argv[1]))))
