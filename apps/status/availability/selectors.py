"""Queries of availability: how each service is now, its days, and the share of the time in which it was reached."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Final

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.status.availability.bookkeeping import LONGEST_GAP
from apps.status.availability.models import ServiceDay, ServiceState

FRESH: Final = LONGEST_GAP
ENOUGH: Final = 3600.0
"""Seconds that must be known before a share is told."""
NOTICEABLE: Final = 60.0
"""Seconds of a day that colour it. Shorter times count, but a day is not red for the pause of a moment."""


class DayLevel(models.TextChoices):
    """How a day is drawn: by its worst noticeable time."""

    FINE = "fine", _("fine")
    DEGRADED = "degraded", _("slow or unstable for a time")
    DOWN = "down", _("not reachable for a time")
    UNKNOWN = "unknown", _("not known")


def list_states() -> dict[str, ServiceState]:
    """Return what was last noted of each service."""
    return {each.service: each for each in ServiceState.objects.all()}


def is_fresh(state: ServiceState, now: datetime) -> bool:
    """True if the state was noted lately. One that lies ahead was noted while the clock was ahead."""
    return abs(now - state.noted) <= FRESH


def list_days(now: datetime, most: int) -> dict[str, dict[date, ServiceDay]]:
    """Return the last days of each service, by day, today included."""
    first = timezone.localdate(now) - timedelta(days=most - 1)
    found: dict[str, dict[date, ServiceDay]] = defaultdict(dict)
    for row in ServiceDay.objects.filter(day__gte=first):
        found[row.service][row.day] = row
    return dict(found)


def judge_day(row: ServiceDay | None) -> DayLevel:
    """Return how the day is drawn; UNKNOWN if nothing is known of it."""
    if row is None or not row.fine + row.degraded + row.down:
        return DayLevel.UNKNOWN
    if row.down >= NOTICEABLE:
        return DayLevel.DOWN
    return DayLevel.DEGRADED if row.degraded >= NOTICEABLE else DayLevel.FINE


def compute_reached_share(rows: Iterable[ServiceDay]) -> float | None:
    """Return the part of the known time in which the service was reached, also slowly, 0 to 1; None if less than an hour is known."""
    reached = down = 0.0
    for row in rows:
        reached += row.fine + row.degraded
        down += row.down
    known = reached + down
    return reached / known if known >= ENOUGH else None
