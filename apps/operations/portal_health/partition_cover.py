"""Partitions ahead: for how long each partitioned table has partitions. A row without a partition cannot be written."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from math import ceil

from django.db import connection

from apps.operations.portal_health.figures import PartitionCover

type Bounds = tuple[datetime, datetime]
BOUNDS = r"""
    SELECT parent.relname, bounds[1]::timestamptz, bounds[2]::timestamptz
    FROM pg_inherits
    JOIN pg_class parent ON parent.oid = inhparent
    JOIN pg_class part ON part.oid = inhrelid
    CROSS JOIN LATERAL regexp_match(pg_get_expr(part.relpartbound, part.oid), 'FROM \(''([^'']+)''\) TO \(''([^'']+)''\)') AS bounds
    WHERE parent.relkind = 'p' AND parent.relnamespace = 'public'::regnamespace AND bounds IS NOT NULL
    UNION ALL
    SELECT relname, NULL, NULL FROM pg_class
    WHERE relkind = 'p' AND NOT relispartition AND relnamespace = 'public'::regnamespace
"""


def read_partition_covers(now: datetime) -> tuple[PartitionCover, ...]:
    """Return the tables that are partitioned by ranges of time, by name. One query of the catalogue."""
    found: dict[str, list[Bounds]] = {}
    with connection.cursor() as cursor:
        cursor.execute(BOUNDS)
        for table, since, until in cursor.fetchall():
            found.setdefault(table, []).extend([(since, until)] if since else [])
    return compute_covers(found, now)


def compute_covers(bounds: Mapping[str, Iterable[Bounds]], now: datetime) -> tuple[PartitionCover, ...]:
    """Return for how long from now on there are partitions without a gap."""
    covers = {table: find_end(each, now) - now for table, each in bounds.items()}
    return tuple(PartitionCover(table, ceil(covers[table].total_seconds())) for table in sorted(covers))


def find_end(bounds: Iterable[Bounds], now: datetime) -> datetime:
    """Return the moment up to which partitions follow each other from now on; now itself if that has none."""
    end = now
    for since, until in sorted(bounds):
        if since <= end < until:
            end = until
    return end
