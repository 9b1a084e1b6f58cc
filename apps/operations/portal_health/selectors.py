"""What the last reading of the portal's health has shown."""

from datetime import UTC, datetime, timedelta
from typing import Final

from django.db.models import QuerySet

from apps.lib.web.frame_reads import read_with_frame
from apps.lib.web.request_cache import cache_per_request
from apps.operations.portal_health.growth import DailySize
from apps.operations.portal_health.judgement import FRESH
from apps.operations.portal_health.models import DatabaseDay, PortalFinding, PortalReading
from apps.operations.portal_health.rules import PORTAL_RULES

GROWTH_DAYS: Final = 30


@cache_per_request
def find_portal_reading() -> PortalReading | None:
    """Return the last reading; None if there is none yet."""
    return PortalReading.objects.first()


@read_with_frame
def _list_stored_findings() -> QuerySet[PortalFinding]:
    return PortalFinding.objects.all()


def list_portal_findings(now: datetime) -> list[PortalFinding]:
    """Return what a fresh reading has shown, what is critical first, then by rule. What an old reading showed is not said any more."""
    found = [each for each in _list_stored_findings() if each.rule in PORTAL_RULES]
    reading = find_portal_reading() if found else None
    if reading is None or now - reading.at > FRESH:
        return []
    order = list(PORTAL_RULES)
    return sorted(found, key=lambda each: (each.kind != PortalFinding.Kind.BAD, order.index(each.rule)))


def list_daily_sizes(now: datetime, days: int = GROWTH_DAYS) -> list[DailySize]:
    """Return the sizes of the last days, the oldest first."""
    since = now.astimezone(UTC).date() - timedelta(days=days)
    return list(DatabaseDay.objects.filter(day__gte=since).order_by("day").values_list("day", "octets"))
