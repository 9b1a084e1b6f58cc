"""Queries of incidents."""

from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, Prefetch, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from apps.lib.web.frame_reads import read_with_frame
from apps.lib.web.navigation import NavigationCount
from apps.lib.web.request_cache import cache_per_request
from apps.members.models import Member
from apps.status.incidents.models import Incident, IncidentUpdate

ANNOUNCED: Final = timedelta(days=2)
"""Time before planned work from which on members read of it on their own pages."""


def list_incidents() -> QuerySet[Incident]:
    """Return all incidents, the newest first, each with its number of attached tickets (`tickets`)."""
    attached = Count("attached", filter=Q(attached__detached=None))
    return Incident.objects.annotate(tickets=attached).prefetch_related("sites").order_by("-began", "-pk")


def list_unfinished_incidents() -> list[Incident]:
    """Return the incidents that go on or are planned: faults, then work, each by its beginning."""
    found = list_incidents().filter(ended=None)
    return sorted(found, key=lambda each: (each.is_maintenance, each.began, each.pk))


def list_ended_incidents() -> QuerySet[Incident]:
    """Return the incidents that are over, the last one first."""
    return list_incidents().filter(ended__isnull=False).order_by("-ended", "-pk")


def list_public_incidents(ended_after: datetime) -> list[Incident]:
    """Return the published incidents that are not over, or ended after this time, with their public updates (`told`), the newest first."""
    told = Prefetch("updates", IncidentUpdate.objects.filter(public=True).order_by("-at", "-pk"), to_attr="told")
    wanted = Incident.objects.filter(Q(ended=None) | Q(ended__gte=ended_after), public=True)
    return list(wanted.prefetch_related("sites", told).order_by("-began", "-pk"))


@cache_per_request
def list_current_incidents() -> list[Incident]:
    """Return what members' own pages may tell: published faults that go on and work of the next two days, with the updates (`told`)."""
    told = Prefetch("updates", IncidentUpdate.objects.filter(public=True).order_by("-at", "-pk"), to_attr="told")
    found = Incident.objects.filter(public=True, ended=None, began__lte=timezone.now() + ANNOUNCED).order_by("kind", "began", "pk")
    return list(found.prefetch_related("sites", told))


def affects_member(incident: Incident, member: Member) -> bool:
    """True if the member's house is affected. A member without a room reads of every incident."""
    houses = {house.pk for house in incident.sites.all()}
    return not houses or member.room is None or member.room.site_id in houses


@read_with_frame
def _list_open_times() -> QuerySet[Incident, tuple[datetime, datetime | None, datetime | None]]:
    """Return when each incident that is not over begins, when its next update is promised, and when it ends if that is planned."""
    return Incident.objects.filter(ended=None).values_list("began", "next_update", "planned_end")


def count_open_incidents(_request: HttpRequest) -> NavigationCount | None:
    """Return the number beside “Incidents”: those that go on. It asks for attention if an update that was promised is late."""
    now = timezone.now()
    rows = [times for began, *times in _list_open_times() if began <= now]
    late = any(at is not None and at <= now for row in rows for at in row)
    return NavigationCount(len(rows), asks=late) if rows else None
