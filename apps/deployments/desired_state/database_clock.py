"""The database's time between two looks at it: it says when a ban ends, so gateways follow it, whatever this machine's clock says.

Each look at the database gives its time, and the seconds of CLOCK_MONOTONIC before and after the question: the answer was right somewhere
between. So what the time is now is known from both sides, however long the question took. Milliseconds of Unix time, 0 before the first
look.
"""

import time
from datetime import datetime

_seen: tuple[float, float, float] | None = None  # the database's Unix seconds, and ours of CLOCK_MONOTONIC before and after it was asked


def record_time(at: datetime, before: float) -> None:
    """The database said so just now. before: CLOCK_MONOTONIC when it was asked."""
    global _seen
    _seen = (at.timestamp(), before, time.monotonic())


def get_earliest() -> int:
    """It is this late at least."""
    return round((_seen[0] + time.monotonic() - _seen[2]) * 1000) if _seen else 0


def get_latest() -> int:
    """It is no later than this."""
    return round((_seen[0] + time.monotonic() - _seen[1]) * 1000) if _seen else 0
