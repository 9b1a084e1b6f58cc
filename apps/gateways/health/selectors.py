"""What the last health readings of the gateways have shown."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet

from apps.deployments.models import Rollout
from apps.gateways.health.judgement import FRESH, is_shown
from apps.gateways.health.models import HealthFinding, HealthReading, HealthSample, HealthStatus
from apps.gateways.health.rules import RULES
from apps.lib.web.frame_reads import read_with_frame
from apps.lib.web.request_cache import cache_per_request
from apps.network.models import Gateway

PRECEDING: Final = timedelta(minutes=30)
"""Time before a finding in which a rollout is named as the change before it."""
USUAL_DAYS: Final = 7


def find_health_status(gateway: Gateway) -> HealthStatus | None:
    """Return the state of the gateway's readings; None if it was never asked. Lists of gateways bring it along (`select_related`)."""
    return getattr(gateway, "health", None)


@read_with_frame
def _list_stored_findings() -> QuerySet[HealthFinding]:
    return HealthFinding.objects.order_by("gateway_id", "since", "rule")


def list_findings(now: datetime) -> list[HealthFinding]:
    """Return what fresh readings have shown, what is critical first, then by rule. What an old reading showed is not said any more.

    A finding is as old as the reading that showed it last, or one reading older.
    """
    order = list(RULES)
    shown = (each for each in _list_stored_findings() if is_shown(each) and each.rule in RULES)
    fresh = [each for each in shown if now - each.at <= FRESH]
    return sorted(fresh, key=lambda each: (each.kind != HealthFinding.Kind.BAD, order.index(each.rule)))


def find_last_reading(gateway: Gateway, now: datetime) -> HealthReading | None:
    """Return the newest reading with measures; None if there is none. One that lies ahead was made while the clock was ahead."""
    return HealthReading.objects.filter(gateway=gateway, at__lte=now).exclude(measures={}).order_by("-at").first()


def find_usual_measures(gateway: Gateway, now: datetime) -> Mapping[str, tuple[float, float]]:
    """Return by key the lowest and the highest average of this hour of the day over the last days; empty before the second day."""
    begins = [now - timedelta(days=day) for day in range(1, USUAL_DAYS + 1)]
    hours = [each.replace(minute=0, second=0, microsecond=0) for each in begins]
    rows = HealthSample.objects.filter(gateway=gateway, span=HealthSample.Span.HOUR, begin__in=hours).values_list("averages", flat=True)
    found: dict[str, tuple[float, float]] = {}
    for averages in rows:
        for key, value in averages.items():
            lowest, highest = found.get(key, (value, value))
            found[key] = (min(lowest, value), max(highest, value))
    return found


@cache_per_request
def find_preceding_rollout(group: int, since: datetime) -> Rollout | None:
    """Return the group's last rollout that ended shortly before this time; None if nothing was deployed."""
    ended = Rollout.objects.filter(group=group, finished__lte=since, finished__gte=since - PRECEDING)
    return ended.select_related("revision").order_by("-finished").first()
