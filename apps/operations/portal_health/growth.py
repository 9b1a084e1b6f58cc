"""Growth of the database: from its size on each day to the day on which its disk would be full."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from apps.operations.portal_health.figures import DiskSpace

SHORTEST: Final = 7  # days; a shorter time says nothing about the next months
FARTHEST: Final = 5 * 365  # days ahead up to which a date is said

type DailySize = tuple[date, int]
"""A day and the largest size on it, in octets."""


@dataclass(frozen=True)
class DatabaseGrowth:
    """octets: by day on average, negative if it shrinks; days: over so many. full: when the disk is full if it goes on like that; None if
    that is not known, or far away.
    """

    octets: int
    days: int
    full: date | None


def compute_growth(sizes: Sequence[DailySize], disk: DiskSpace | None) -> DatabaseGrowth | None:
    """Return the growth between the first and the last day; None if less than a week is known. sizes: in the order of their days."""
    days = (sizes[-1][0] - sizes[0][0]).days if sizes else 0
    if days < SHORTEST:
        return None
    octets = (sizes[-1][1] - sizes[0][1]) // days
    return DatabaseGrowth(octets, days, _find_full_day(sizes[-1][0], octets, disk))


def _find_full_day(today: date, octets: int, disk: DiskSpace | None) -> date | None:
    if disk is None or octets <= 0:
        return None
    left = disk.free // octets
    return today + timedelta(days=left) if left <= FARTHEST else None
