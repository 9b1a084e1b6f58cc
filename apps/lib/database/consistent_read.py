"""Reads many rows as they were at one moment, and detects whether they have changed since."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import QuerySet

# Each row contains its key, so no two are alike and none cancels another's hash. Two seeds: 128 bits.
_HASHED: Final = "SELECT count(*), bit_xor(hashtextextended(one::text, 1)), bit_xor(hashtextextended(one::text, 2)) FROM ({rows}) one"


@contextmanager
def hold_read_snapshot(*, durable: bool = False) -> Iterator[None]:
    """Run all queries inside on one read-only snapshot of the database (PostgreSQL manual, "Repeatable Read Isolation Level").

    Within an outer transaction, that transaction's isolation stays; with `durable` this is an error.
    """
    begun = connection.in_atomic_block
    with transaction.atomic(durable=durable):
        if not begun:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def hash_rows(rows: Iterable[QuerySet[Any, Any]]) -> str:
    """Return a hash over all these rows, computed by the database in any order. It stays the same as long as no row changes.

    Each query must select the rows' keys.
    """
    found = hashlib.sha256()
    with connection.cursor() as cursor:
        for each in rows:
            sql, given = each.order_by().query.sql_with_params()
            cursor.execute(_HASHED.format(rows=sql), given)
            found.update(repr(cursor.fetchone()).encode())
    return found.hexdigest()
