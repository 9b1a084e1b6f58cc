"""Reads of archives, without their octets. Other apps, such as one for incidents, list them by gateway and time."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Prefetch, QuerySet

from apps.gateways.evidence.models import EvidenceArchive, EvidenceDownload


def list_archives(gateways: Collection[int], since: datetime | None = None, until: datetime | None = None) -> QuerySet[EvidenceArchive]:
    """Return the archives of these gateways (ids) that were asked for from `since` up to `until`, the newest first."""
    found = EvidenceArchive.objects.filter(gateway__in=gateways).select_related("by", "gateway")
    found = found.filter(asked__gte=since) if since else found
    found = found.filter(asked__lt=until) if until else found
    return found.prefetch_related(Prefetch("downloads", EvidenceDownload.objects.select_related("by")))
