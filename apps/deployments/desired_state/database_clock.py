"""Estimates the database's time between two reads. Bans end by it, so gateways follow it, not this machine's clock.

Each read gives the database's time, and CLOCK_MONOTONIC before and after the query; the time was right at some point between. So
the current time has a lower and an upper bound, however long the query took. Milliseconds of Unix time, 0 before the first read.
"""

import time
from datetime import datetime

_seen: tuple[float, float, float] | None = None  # database's Unix seconds; CLOCK_MONOTONIC before and after the query


def record_database_time(at: datetime, before: float) -> None:
    """Record the database's time `at`, which was read just now. before: CLOCK_MONOTONIC before the query."""
    global _seen
    _seen = (at.timestamp(), before, time.monotonic())


def get_earliest_database_time() -> int:
    """Return the lower bound of the database's time now."""
    return round((_seen[0] + time.monotonic() - _seen[2]) * 1000) if _seen else 0


def get_latest_database_time() -> int:
    """Return the upper bound of the database's time now."""
    return round((_seen[0] + time.monotonic() - _seen[1]) * 1000) if _seen else 0
