"""Reads the portal's health, stores it, and judges it. Called once a minute by a worker, never by a page."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from apps.operations import heartbeats
from apps.operations.portal_health import broker, database, disk, partition_cover, statements
from apps.operations.portal_health.backups import find_last_backup
from apps.operations.portal_health.figures import PortalFigures
from apps.operations.portal_health.growth import compute_growth
from apps.operations.portal_health.judgement import build_findings, judge_portal
from apps.operations.portal_health.models import DatabaseDay, PortalFinding, PortalReading
from apps.operations.portal_health.rule import PortalSituation
from apps.operations.portal_health.rules import PORTAL_RULES
from apps.operations.portal_health.selectors import list_daily_sizes
from apps.operations.table_growth import note_table_sizes
from firewall.codec import encode


def read_portal(roles: Mapping[str, str], backup_limit: timedelta, now: datetime) -> None:
    """Read, store and judge. roles: the role that serves each queue, by the queue's name. Once a day, the sizes of tables are noted."""
    store_portal_reading(read_figures(roles, now), backup_limit, now)
    note_table_sizes(now)


def read_figures(roles: Mapping[str, str], now: datetime) -> PortalFigures:
    """Return the figures as they are now. A broker that does not answer is a figure, too."""
    faulty = frozenset(str(fault.role) for fault in heartbeats.list_process_faults(now))
    slowest, reason = statements.read_statements()
    return PortalFigures(
        database.read_levels(),
        disk.read_disk(),
        database.read_tables(),
        database.find_oldest_transaction(),
        database.find_longest_statement(),
        slowest,
        reason,
        partition_cover.read_partition_covers(now),
        broker.read_broker(roles, faulty, now),
    )


@transaction.atomic
def store_portal_reading(figures: PortalFigures, backup_limit: timedelta, now: datetime) -> None:
    """Store the reading in place of the last one, the size of the day, and what the rules find."""
    PortalReading.objects.update_or_create(pk=1, defaults={"at": now, "figures": encode(figures)})
    _store_day(figures.database.octets, now)
    growth, backup = compute_growth(list_daily_sizes(now), figures.disk), find_last_backup()
    situation = PortalSituation(now, figures, growth, backup.at if backup else None, backup_limit)
    since = dict(PortalFinding.objects.values_list("rule", "since"))
    findings = build_findings(judge_portal(situation, PORTAL_RULES.values()), since, now)
    PortalFinding.objects.exclude(pk__in=[each.pk for each in findings]).delete()
    fields = ["kind", "evidence", "since"]
    PortalFinding.objects.bulk_create(findings, update_conflicts=True, unique_fields=["rule"], update_fields=fields)


def _store_day(octets: int, now: datetime) -> None:
    day = now.astimezone(UTC).date()
    _row, is_new = DatabaseDay.objects.get_or_create(day=day, defaults={"octets": octets})
    if not is_new:
        DatabaseDay.objects.filter(day=day).update(octets=Greatest(F("octets"), octets))
