"""Cached row counts of large lists. Counting many rows takes longer than showing fifty of them.

Bounded: each process remembers at most MAX_REMEMBERED_QUERIES queries, none for longer than AGE.
"""

import time
from typing import Any, Final

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet

LARGE: Final = 10_000  # rows
AGE: Final = 5.0  # seconds
MAX_REMEMBERED_QUERIES: Final = 256
_cached_counts: dict[tuple[str, tuple[str, ...]], tuple[float, int]] = {}


type CountKey = tuple[str, tuple[str, ...]]


def build_count_key(rows: QuerySet[Any]) -> CountKey:
    """Return the query by which a count is remembered. Raises EmptyResultSet for a filter that no row can match."""
    sql, parameters = rows.order_by().values("pk").query.sql_with_params()
    return sql, tuple(map(str, parameters))


def count_rows(rows: QuerySet[Any], key: CountKey | None = None) -> int:
    """Return the number of rows. It is exact up to LARGE; above, it may be AGE old. key: that of the rows, if it is known."""
    try:
        key = key or build_count_key(rows)
    except EmptyResultSet:  # such as a number outside the column's range
        return 0
    until, number = _cached_counts.get(key, (0.0, 0))
    if until > time.monotonic():
        return number
    number = rows.count()
    if number > LARGE:
        if len(_cached_counts) >= MAX_REMEMBERED_QUERIES:
            _cached_counts.clear()
        _cached_counts[key] = time.monotonic() + AGE, number
    return number
