"""Bookkeeping of availability: notes the level of each service, and adds the seconds since the last look to the days."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.status.availability.models import ServiceDay, ServiceLevel, ServiceState
from apps.status.network_services import NetworkService

LONGEST_GAP: Final = timedelta(minutes=5)
"""After a longer time without a look nothing is known of the families, and the portal was away: nobody noted anything."""
_COLUMNS: Final = {ServiceLevel.FINE: "fine", ServiceLevel.DEGRADED: "degraded", ServiceLevel.DOWN: "down"}


@transaction.atomic
def note_levels(levels: Mapping[NetworkService, ServiceLevel], now: datetime) -> None:
    """Note what is seen now. The time since the last look counts as what was seen then.

    A look from a little later than now was another worker's. One from much later was made while the clock was ahead, and counts as no time.
    """
    known = {each.service: each for each in ServiceState.objects.select_for_update().order_by("service")}
    for service, level in levels.items():
        before = known.get(service)
        if before is None:
            ServiceState.objects.create(service=service, level=level, since=now, noted=now)
        elif now > before.noted:
            _add_seconds(before, now)
            _note_level(before, level, now)
        elif before.noted - now > LONGEST_GAP:
            _note_level(before, level, now)


def _note_level(before: ServiceState, level: ServiceLevel, now: datetime) -> None:
    since = min(before.since, now) if before.level == level else now
    ServiceState.objects.filter(pk=before.pk).update(level=level, since=since, noted=now)


def _add_seconds(before: ServiceState, now: datetime) -> None:
    column = _COLUMNS.get(_find_level_between(before, now))
    if column is None:
        return
    for day, seconds in iter_days(before.noted, now):
        row, _made = ServiceDay.objects.get_or_create(service=before.service, day=day)
        ServiceDay.objects.filter(pk=row.pk).update(**{column: F(column) + seconds})


def _find_level_between(before: ServiceState, now: datetime) -> ServiceLevel:
    """Return what the time since the last look counts as."""
    if now - before.noted <= LONGEST_GAP:
        return ServiceLevel(before.level)
    return ServiceLevel.DOWN if before.service == NetworkService.PORTAL else ServiceLevel.UNKNOWN


def iter_days(begin: datetime, end: datetime) -> Iterator[tuple[date, float]]:
    """Yield each day of the network's time zone between the two times, with its seconds. Days have 23 to 25 hours."""
    zone = timezone.get_default_timezone()
    at, last = begin.astimezone(UTC), end.astimezone(UTC)
    while at < last:
        day = at.astimezone(zone).date()
        midnight = datetime.combine(day + timedelta(days=1), time.min, tzinfo=zone)
        upto = min(last, midnight.astimezone(UTC))
        yield day, (upto - at).total_seconds()
        at = upto
