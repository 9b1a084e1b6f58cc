"""Finds the removed port forwards and pinholes that can be opened again now, and the URLs that do so by POST."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from apps.audit.trail import EndedRow
from apps.lib.database.validity import is_valid_now
from apps.nat.models import Pinhole, PortForward


def build_forward_restore_urls(ended: Sequence[EndedRow]) -> Mapping[int, str]:
    """Return the URLs by the id of the forward."""
    taken = PortForward.objects.filter(public__in={each.row.public for each in ended})
    return _build_urls(ended, taken, ("public", "protocol", "public_port"), "nat:forward-restore")


def build_pinhole_restore_urls(ended: Sequence[EndedRow]) -> Mapping[int, str]:
    """Return the URLs by the id of the pinhole."""
    taken = Pinhole.objects.filter(address__in={each.row.address for each in ended})
    return _build_urls(ended, taken, ("address", "protocol", "port"), "nat:pinhole-restore")


def _build_urls(ended: Sequence[EndedRow], taken: QuerySet[Any], place: tuple[str, ...], route: str) -> dict[int, str]:
    """Return URLs for the rows that still exist, if their holding still holds, and their first port is free."""
    kept = taken.model._default_manager.filter(pk__in={each.row.pk for each in ended})
    there = set(kept.filter(is_valid_now("holding__valid")).values_list("pk", flat=True))
    gone = set(taken.filter(is_valid_now()).values_list(*place))
    rows = [each.row for each in ended if each.row.pk in there]
    return {row.pk: reverse(route, args=[row.pk]) for row in rows if tuple(getattr(row, name) for name in place) not in gone}
