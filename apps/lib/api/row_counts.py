"""How many rows a list has. Counting many takes longer than showing fifty of them, so what is large is counted every few seconds alone.

Bounded: MOST queries are remembered in each process, and none for longer than AGE.
"""

import time
from typing import Any, Final

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet

LARGE: Final = 10_000  # rows
AGE: Final = 5.0  # seconds
MOST: Final = 256
_cached_counts: dict[tuple[str, tuple[Any, ...]], tuple[float, int]] = {}


def count_rows(rows: QuerySet[Any]) -> int:
    """Exact up to LARGE rows; above, as it was at most AGE ago."""
    try:
        sql, parameters = rows.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:  # asked for what no row can be, such as a number that its column cannot hold
        return 0
    key = sql, tuple(map(str, parameters))
    until, number = _cached_counts.get(key, (0.0, 0))
    if until > time.monotonic():
        return number
    number = rows.count()
    if number > LARGE:
        if len(_cached_counts) >= MOST:
            _cached_counts.clear()
        _cached_counts[key] = time.monotonic() + AGE, number
    return number
