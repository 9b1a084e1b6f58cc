"""One simulated month: its bounds, and a cursor that writes many rows of it with one statement.

Triggers are off while rows are written: those that record history would stamp it with the time of this run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from benchmarks.years import rates

LENGTH: Final = timedelta(days=365) / 12
BLOB: Final = Random(1).randbytes(rates.ATTACHMENT + 10_000)  # what is compressed already, such as a picture
SAID: Final = "the connection in my room is slow since yesterday evening and router says nothing about it please help thank you"
WORDS: Final = " ".join(Random(2).choice(SAID.split()) + str(Random(number).randrange(50)) for number in range(1_500))
AT: Final = "(%(begin)s::timestamptz + (n - 1) * %(span)s::interval / %(count)s)"  # the n-th of `count` moments

EVENT_COLUMNS: Final = """
    SELECT string_agg(quote_ident(e.column_name), ', ') FROM information_schema.columns e
    JOIN information_schema.columns t ON t.table_name = %(table)s AND t.column_name = e.column_name AND t.table_schema = 'public'
    WHERE e.table_name = %(table)s || 'event' AND e.table_schema = 'public'
"""
RECORD: Final = """
    WITH changed AS MATERIALIZED (
        SELECT {columns}, {at} AS event_at, md5('{table}' || id || '{label}' || {at})::uuid AS context FROM {table} WHERE {where}
    ), contexts AS (
        INSERT INTO pghistory_context (id, created_at, updated_at, metadata)
        SELECT context, event_at, event_at, jsonb_build_object('user', %(admin)s::bigint, 'url', '/members/') FROM changed
    )
    INSERT INTO {table}event ({columns}, pgh_created_at, pgh_label, pgh_obj_id, pgh_context_id)
    SELECT {columns}, event_at, '{label}', id, context FROM changed ORDER BY event_at
"""


@dataclass(frozen=True)
class SimulatedMonth:
    """A month of the simulation. number: from 0. members: those who live there at any time. admin: id of an account."""

    number: int
    start: datetime  # of the first month
    members: int
    admin: int
    cursor: Any

    @property
    def begin(self) -> datetime:
        return self.start + self.number * LENGTH

    @property
    def end(self) -> datetime:
        return self.begin + LENGTH

    def write(self, query: str, count: float = 1, **given: Any) -> int:
        """Run a statement; {at} in it is the n-th of `count` moments of the month. Return the number of rows."""
        known = {"begin": self.begin, "end": self.end, "span": LENGTH, "count": max(round(count), 1), "admin": self.admin, "words": WORDS}
        self.cursor.execute(query.replace("{at}", AT), known | given)
        return int(self.cursor.rowcount)

    def record(self, table: str, label: str, *, at: str, where: str, **given: Any) -> None:
        """Write the history of these rows as the trigger of their table would. at, where: SQL, of the table's columns."""
        self.cursor.execute(EVENT_COLUMNS, {"table": table})
        [columns] = self.cursor.fetchone()
        self.write(RECORD.format(table=table, columns=columns, label=label, at=at, where=where), **given)


@contextmanager
def open_month(number: int, start: datetime, members: int, admin: int) -> Iterator[SimulatedMonth]:
    """Open a transaction for writing a month's rows, without triggers."""
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield SimulatedMonth(number, start, members, admin, cursor)
