"""Builds readings of the portal's health: a healthy portal, with one thing changed."""

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

from apps.operations.portal_health.figures import (
    BrokerLevels,
    DatabaseLevels,
    DiskSpace,
    OpenTransaction,
    PartitionCover,
    PortalFigures,
    QueueBacklog,
    RunningStatement,
    SlowStatement,
    TableActivity,
)
from apps.operations.portal_health.growth import DatabaseGrowth
from apps.operations.portal_health.rule import PortalSituation

GIB = 1 << 30
AT = datetime(2026, 7, 1, 12, tzinfo=UTC)
DATABASE = DatabaseLevels(3 * GIB, 14, 97, 40_000_000, 120, "15.8")
DISK = DiskSpace(100 * GIB, 60 * GIB)
TABLE = TableActivity("traffic_hour_20260629", 1 << 28, 400_000, 60_000, 3600)
TRANSACTION = OpenTransaction("pg_dump", "active", 900, "COPY public.members_member TO STDOUT")
QUEUE = QueueBacklog("readings", "collector", True, 3, 4)
BROKER = BrokerLevels(5 << 20, 256 << 20, (QUEUE, QueueBacklog("feeds", "feeds", True, 1, 900)), "")


def build_figures(**changed: Any) -> PortalFigures:
    """Build figures of a healthy portal but for what is changed."""
    usual = PortalFigures(
        database=DATABASE,
        disk=DISK,
        tables=(TABLE,),
        transaction=TRANSACTION,
        running=RunningStatement("netzwart", 2, False, "SELECT ?"),
        statements=(SlowStatement(12_000, 90_000_000, 7_500, "SELECT * FROM members_member WHERE name = $1"),),
        why_no_statements="",
        partitions=(PartitionCover("traffic_hour", 3 * 86_400), PartitionCover("traffic_today", 40 * 3600)),
        broker=BROKER,
    )
    return dataclasses.replace(usual, **changed)


def build_portal_situation(
    *, growth: DatabaseGrowth | None = None, backup: timedelta | None = timedelta(hours=20), **changed: Any
) -> PortalSituation:
    """Build the situation. backup: age of the last one."""
    return PortalSituation(AT, build_figures(**changed), growth, None if backup is None else AT - backup, timedelta(hours=48))
