"""Reading many rows as they were at one moment, and telling whether they are still the same."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import QuerySet

# Rows have their keys among them, so no two are alike and none takes another's hash away. Two seeds: 128 bits.
_HASHED: Final = "SELECT count(*), bit_xor(hashtextextended(one::text, 1)), bit_xor(hashtextextended(one::text, 2)) FROM ({rows}) one"


@contextmanager
def freeze_snapshot(*, durable: bool = False) -> Iterator[None]:
    """Each query inside sees the database as the first one did, and none can write (PostgreSQL, "Repeatable Read Isolation Level").

    Within a transaction that began before, what that one sees; with `durable` that is an error.
    """
    begun = connection.in_atomic_block
    with transaction.atomic(durable=durable):
        if not begun:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def hash_rows(rows: Iterable[QuerySet[Any, Any]]) -> str:
    """A hash over all these rows, made by the database, in no order: the same as long as each says what it said. Each has its key in it."""
    found = hashlib.sha256()
    with connection.cursor() as cursor:
        for each in rows:
            sql, given = each.order_by().query.sql_with_params()
            cursor.execute(_HASHED.format(rows=sql), given)
            found.update(repr(cursor.fetchone()).encode())
    return found.hexdigest()
