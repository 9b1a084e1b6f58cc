"""Gauges of the sets that packets fill (dynamic sets). Read with the counters, shown on gateways' pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.gateways.set_texts import describe_set
from apps.lib.ui.states import StateKind
from apps.network.models import Gateway, Gauge
from firewall.limit_sets import find_limit_kind_of_set

WARN_ABOVE = 80  # percent


@dataclass(frozen=True)
class SetGauge:
    """A set's gauge: what it counts, how many elements it has, and how many fit."""

    words: str
    used: int
    size: int
    at: datetime

    @property
    def percent(self) -> int:
        """Fill level in percent, rounded down."""
        return self.used * 100 // self.size if self.size else 0

    @property
    def kind(self) -> StateKind:
        """Kind of the gauge: a warning above 80 %, because a full set does not limit new keys."""
        return StateKind.WARN if self.percent > WARN_ABOVE else StateKind.PLAIN


def store_set_gauges(*, gateway: Gateway, sets: Mapping[str, tuple[int, int]], at: datetime) -> None:
    """Store what the gateway reports of its dynamic sets; delete those that it no longer has."""
    rows = [
        Gauge(gateway=gateway, name=name, used=used, size=size, at=at)
        for name, (used, size) in sets.items()
        if find_limit_kind_of_set(name)
    ]
    with transaction.atomic():
        Gauge.objects.filter(gateway=gateway).exclude(name__in=sets).delete()
        Gauge.objects.bulk_create(rows, update_conflicts=True, unique_fields=["gateway", "name"], update_fields=["used", "size", "at"])


def list_gauges(gateway: Gateway) -> list[SetGauge]:
    """Return the gateway's gauges, fullest first."""
    rows = [row for row in Gauge.objects.filter(gateway=gateway) if find_limit_kind_of_set(row.name)]
    shown = [SetGauge(describe_set(row.name), row.used, row.size, row.at) for row in rows]
    return sorted(shown, key=lambda each: (-each.percent, each.words))
