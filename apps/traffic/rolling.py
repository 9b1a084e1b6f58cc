"""From five minutes to hours to days, inside the database; and what is older than it is kept goes.

Whoever writes usage holds the level of hours (`open_since`), so nothing is added to an hour that has been rolled up.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import structlog
from django.db import connection, transaction

from apps.traffic import partitions
from apps.traffic.models import Coverage, Level, Throughput

log = structlog.get_logger()

DAYS: Final = {Level.Name.FIVE_MINUTES: 7, Level.Name.HOUR: 90, Level.Name.DAY: 730}
FINER: Final = {Level.Name.HOUR: Level.Name.FIVE_MINUTES, Level.Name.DAY: Level.Name.HOUR}
UNITS: Final = {Level.Name.FIVE_MINUTES: timedelta(minutes=5), Level.Name.HOUR: timedelta(hours=1), Level.Name.DAY: timedelta(days=1)}
SETTLES: Final = timedelta(minutes=2)  # how long after its end an hour is left open for readings that are under way
EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)

ROLL: Final = """
    INSERT INTO {to} (holding_id, bucket, up_octets, up_packets, down_octets, down_packets)
    SELECT holding_id, date_bin(%(unit)s, bucket, %(epoch)s), sum(up_octets), sum(up_packets), sum(down_octets), sum(down_packets)
    FROM {of} WHERE bucket >= %(since)s AND bucket < %(until)s GROUP BY 1, 2 ORDER BY 1, 2
"""


def begin_of(level: str, at: datetime) -> datetime:
    """When the bucket began that holds this moment, in UTC."""
    return at - (at - EPOCH) % UNITS[Level.Name(level)]


def levels(now: datetime) -> None:
    """Each level has its row, with what is kept by default; nothing before now is waited for."""
    if Level.objects.count() < len(DAYS):
        made = (Level(name=name, days=days, complete_until=begin_of(name, now)) for name, days in DAYS.items())
        Level.objects.bulk_create(made, ignore_conflicts=True)


def open_since(now: datetime) -> datetime:
    """The first five minutes into which may still be written; they stay open until the end of this transaction."""
    levels(now)
    with connection.cursor() as cursor:
        cursor.execute("SELECT complete_until FROM traffic_level WHERE name = 'hour' FOR SHARE")
        complete: datetime = cursor.fetchone()[0]
    return complete


def tick(now: datetime) -> None:
    """What is due: partitions, roll-ups, and what is too old. Doing it twice does nothing twice."""
    levels(now)
    partitions.ahead(now)
    for level in FINER:
        roll_up(level, now)
    forget(now)


def roll_up(level: Level.Name, now: datetime) -> int:
    """Make the level complete up to now; how many rows came. The finer one has to be complete by then."""
    with transaction.atomic():
        row = Level.objects.select_for_update().get(name=level)
        settled = now - SETTLES if level == Level.Name.HOUR else Level.objects.get(name=FINER[level]).complete_until
        until = begin_of(level, settled)
        if until <= row.complete_until:
            return 0
        partitions.ensure_between(level, row.complete_until, until)
        tables = {"to": partitions.TABLES[level]._meta.db_table, "of": partitions.TABLES[FINER[level]]._meta.db_table}
        with connection.cursor() as cursor:
            given: dict[str, Any] = {"unit": UNITS[level], "epoch": EPOCH, "since": row.complete_until, "until": until}
            cursor.execute(ROLL.format(**tables), given)
            rows: int = cursor.rowcount
        row.complete_until = until
        row.save(update_fields=["complete_until"])
    return rows


def forget(now: datetime) -> None:
    """Drop what is older than it is kept, and never what no coarser level knows yet."""
    kept = {row.name: row for row in Level.objects.all()}
    for level in Level.Name:
        coarser = next((name for name, finer in FINER.items() if finer == level), None)
        known = kept[coarser].complete_until if coarser else now
        dropped = partitions.drop_before(level, min(now - timedelta(days=kept[level].days), known))
        if dropped:
            log.info("usage forgotten", partitions=dropped)
    oldest = now - timedelta(days=kept[Level.Name.DAY].days)
    Coverage.objects.filter(until__lt=oldest).delete()
    Throughput.objects.filter(bucket__lt=oldest).delete()
