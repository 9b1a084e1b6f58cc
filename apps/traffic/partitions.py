"""Partitions of the tables of usage: made ahead of time, or by the writer that needs a missing one; dropped when they are past retention.

PostgreSQL manual, "Table Partitioning". A partition is named after its table and first day: traffic_hour_20261123.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta

from django.db import connection, transaction

from apps.traffic.models import Day, FiveMinutes, FourWeeks, HoldingUsage, Hour, Level, Today, Week

TABLES: dict[str, type[HoldingUsage]] = {
    Level.Name.FIVE_MINUTES: FiveMinutes,
    Level.Name.HOUR: Hour,
    Level.Name.DAY: Day,
    Level.Name.TODAY: Today,
    Level.Name.WEEK: Week,
    Level.Name.FOUR_WEEKS: FourWeeks,
}
AHEAD = timedelta(days=2)  # how far ahead partitions are made
_LOCK = 7_011_700  # key of pg_advisory_xact_lock: one transaction at a time makes partitions
# Rows of the current five minutes are updated with each reading, today's every five minutes: free room on their page makes that cheap
_ROOM = {Level.Name.FIVE_MINUTES: "WITH (fillfactor = 60)", Level.Name.TODAY: "WITH (fillfactor = 50)"}


def compute_partition_bounds(level: str, at: datetime) -> tuple[datetime, datetime]:
    """Return start and end of the partition that contains this moment: a day, a week (from Monday) or a month, in UTC."""
    day = at.astimezone(UTC).date()
    if level in (Level.Name.FIVE_MINUTES, Level.Name.TODAY):
        first, after = day, day + timedelta(days=1)
    elif level == Level.Name.HOUR:
        first = day - timedelta(days=day.weekday())
        after = first + timedelta(days=7)
    else:
        first = day.replace(day=1)
        after = (first + timedelta(days=31)).replace(day=1)
    return datetime.combine(first, time(), UTC), datetime.combine(after, time(), UTC)


def ensure_partition(level: str, at: datetime) -> None:
    """Make the partition that contains this moment if it does not exist. Costs one query of the catalogue if it does."""
    table = TABLES[level]._meta.db_table
    since, until = compute_partition_bounds(level, at)
    name = f"{table}_{since:%Y%m%d}"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)", [name])
        if cursor.fetchone()[0] is not None:
            return
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        cursor.execute(
            f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF {table} FOR VALUES FROM ('{since.isoformat()}') TO ('{until.isoformat()}')"
            f" {_ROOM.get(Level.Name(level), '')}"
        )


def ensure_between(level: str, since: datetime, until: datetime) -> None:
    """Make all missing partitions from one moment to another."""
    at = since
    while at <= until:
        ensure_partition(level, at)
        at = compute_partition_bounds(level, at)[1]


def ensure_future_partitions(now: datetime) -> None:
    """Make the partitions of all levels that will be needed up to AHEAD."""
    for level in TABLES:
        ensure_between(level, now, now + AHEAD)


def iter_partitions(level: str) -> Iterator[tuple[str, datetime]]:
    """Yield name and end of each existing partition, the oldest first."""
    table = TABLES[level]._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass", [table])
        names = sorted(name for (name,) in cursor.fetchall())
    for name in names:
        yield name, compute_partition_bounds(level, datetime.strptime(name.removeprefix(f"{table}_"), "%Y%m%d").replace(tzinfo=UTC))[1]


def drop_partitions_before(level: str, end: datetime) -> list[str]:
    """Drop the partitions that ended by then. Return their names."""
    over = [name for name, until in iter_partitions(level) if until <= end]
    with connection.cursor() as cursor:
        for name in over:
            cursor.execute(f"DROP TABLE {name}")
    return over
