"""Queries of the alarm pages."""

from datetime import datetime

from django.db.models import QuerySet
from django.http import HttpRequest

from apps.alarms.models import Alarm, Severity
from apps.lib.web.frame_reads import read_with_frame
from apps.lib.web.navigation import NavigationCount


def list_open_alarms() -> list[Alarm]:
    """Return the open alarms, the most urgent first, and last those whose cause is gone for now."""
    order, found = list(Severity.values), Alarm.objects.filter(ended=None).select_related("seen_by")
    return sorted(found, key=lambda alarm: (alarm.gone is not None, order.index(alarm.severity), alarm.began))


def find_title(key: str) -> str:
    """Return the newest words about a condition; "" if there are none, or for all conditions."""
    row = Alarm.objects.filter(key=key).first() if key else None
    return row.title if row else ""


def list_past_alarms() -> QuerySet[Alarm]:
    """Return the alarms that are over, the newest first."""
    return Alarm.objects.filter(ended__isnull=False).select_related("seen_by").order_by("-ended", "-id")


@read_with_frame
def _list_seen() -> QuerySet[Alarm, datetime | None]:
    """Return when each alarm whose cause lasts was seen."""
    return Alarm.objects.filter(ended=None, gone=None).values_list("seen", flat=True)


def count_open_alarms(_request: HttpRequest) -> NavigationCount | None:
    """Return the number beside “Alarms”: those whose cause lasts. It asks for attention while nobody has seen one of them."""
    seen = _list_seen()
    return NavigationCount(len(seen), asks=None in seen) if seen else None
