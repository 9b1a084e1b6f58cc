"""Guard of irreversible work that goes by the clock. If this machine's clock and the database's differ, nobody knows which one is wrong."""

from datetime import datetime, timedelta
from typing import Final

from apps.lib.database.clock import read_database_clock

TOLERANCE: Final = timedelta(hours=1)


class ClockDiffersError(RuntimeError):
    """This machine's clock and the database's differ. The dashboard shows its text beside the job that failed."""


def check_clock(now: datetime) -> datetime:
    """Return `now`, this machine's time. Raises ClockDiffersError if the database's differs by more than TOLERANCE."""
    there = read_database_clock()
    if abs(now - there) > TOLERANCE:
        raise ClockDiffersError(
            f"it is {now:%Y-%m-%d %H:%M %Z} here and {there:%Y-%m-%d %H:%M %Z} on the database's machine; set the clocks"
        )
    return now
