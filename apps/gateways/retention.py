"""Declares how this app's tables are bounded: by what people enter, a maximum (joining/services.py), or pruning."""

from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext_lazy as _

from apps.gateways.agent_upgrade.models import AgentUpgrade
from apps.gateways.evidence.models import EvidenceArchive
from apps.gateways.health.models import HealthReading, HealthSample
from apps.gateways.roles.models import CarrierChange, RoleSwitch
from apps.operations.registry import TableBoundKind, delete_oldest_batch, register_pruned_table, register_unpruned_tables

YEAR: Final = timedelta(days=365)
EVIDENCE_KEPT: Final = timedelta(days=30)
READINGS_KEPT: Final = timedelta(hours=2)
SAMPLES_KEPT: Final = {
    HealthSample.Span.FIVE_MINUTES: timedelta(weeks=2),
    HealthSample.Span.HOUR: YEAR,
    HealthSample.Span.DAY: 5 * YEAR,
}


def prune_carrier_changes(now: datetime, at_most: int) -> int:
    """Delete changes of carriers that are older than a year."""
    return delete_oldest_batch(CarrierChange.objects.filter(at__lt=now - YEAR), "at", at_most)


def prune_switches(now: datetime, at_most: int) -> int:
    """Delete switches that ended more than a year ago."""
    return delete_oldest_batch(RoleSwitch.objects.filter(ended__lt=now - YEAR), "ended", at_most)


def prune_agent_upgrades(now: datetime, at_most: int) -> int:
    """Delete upgrades of agents that ended more than a year ago."""
    return delete_oldest_batch(AgentUpgrade.objects.filter(ended__lt=now - YEAR), "ended", at_most)


def prune_evidence(now: datetime, at_most: int) -> int:
    """Delete archives of evidence that are older than 30 days: they contain members' addresses."""
    return delete_oldest_batch(EvidenceArchive.objects.filter(asked__lt=now - EVIDENCE_KEPT), "asked", at_most)


def prune_health_readings(now: datetime, at_most: int) -> int:
    """Delete readings that are older than two hours. They are summed up within a minute."""
    return delete_oldest_batch(HealthReading.objects.filter(at__lt=now - READINGS_KEPT), "at", at_most)


def prune_health_samples(now: datetime, at_most: int) -> int:
    """Delete samples that are older than their span is kept."""
    removed = 0
    for span, kept in SAMPLES_KEPT.items():  # each by itself: with OR, PostgreSQL would read the whole table instead of the index
        removed += delete_oldest_batch(HealthSample.objects.filter(span=span, begin__lt=now - kept), "begin", at_most - removed)
    return removed


register_unpruned_tables(TableBoundKind.PEOPLE, "gateways.JoiningMachine")
register_unpruned_tables(TableBoundKind.CODE, "gateways.FailoverStatus", "gateways.GatewayRole", "gateways.ProbeStatus")
register_unpruned_tables(TableBoundKind.CODE, "gateways.HealthStatus", "gateways.HealthFinding", "gateways.TimeoutReading")
register_pruned_table("gateways.EvidenceArchive", kept=_("30 days, and at most 30 of each gateway"), prune=prune_evidence)
register_pruned_table("gateways.EvidenceFile", kept=_("30 days, and at most 30 of each gateway"), by="workers.forget")
register_pruned_table("gateways.EvidenceDownload", kept=_("30 days, and at most 30 of each gateway"), by="workers.forget")
register_pruned_table("gateways.HealthReading", kept=_("2 hours"), prune=prune_health_readings)
register_pruned_table("gateways.HealthSample", kept=_("2 weeks; hours for 1 year, days for 5 years"), prune=prune_health_samples)
register_pruned_table("gateways.CarrierChange", kept=_("1 year"), prune=prune_carrier_changes)
register_pruned_table("gateways.RoleSwitch", kept=_("1 year"), prune=prune_switches)
register_pruned_table("gateways.AgentUpgrade", kept=_("1 year"), prune=prune_agent_upgrades)
register_pruned_table("gateways.AgentUpgradeStep", kept=_("1 year"), by="workers.forget")
