"""Queries of the alarm pages."""

from datetime import datetime

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from apps.alarms.models import Alarm, Severity, Silence
from apps.lib.web.navigation import NavigationCount


def list_open_alarms() -> list[Alarm]:
    """Return the open alarms, the most urgent first."""
    order = list(Severity.values)
    return sorted(Alarm.objects.filter(ended=None).select_related("seen_by"), key=lambda alarm: (order.index(alarm.severity), alarm.began))


def find_title(key: str) -> str:
    """Return the newest words about a condition; "" if there are none, or for all conditions."""
    row = Alarm.objects.filter(key=key).first() if key else None
    return row.title if row else ""


def list_past_alarms() -> QuerySet[Alarm]:
    """Return the alarms that are over, the newest first."""
    return Alarm.objects.filter(ended__isnull=False).select_related("seen_by").order_by("-ended", "-id")


def list_silences(now: datetime) -> list[Silence]:
    """Return the silences that go on."""
    return list(Silence.objects.filter(until__gt=now).select_related("by").order_by("until", "id"))


def count_open_alarms(_request: HttpRequest) -> NavigationCount | None:
    """Return the number beside “Alarms”; it asks for attention while nobody has seen one of them."""
    found = list(Alarm.objects.filter(ended=None).values_list("seen", "began"))
    now = timezone.now()
    return NavigationCount(len(found), asks=any(seen is None and began <= now for seen, began in found)) if found else None
