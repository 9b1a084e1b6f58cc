"""Rolls usage up from five minutes to hours, days and weeks, inside the database, and drops what is past its retention.

A writer of usage locks the oldest open bucket (`lock_oldest_open_bucket`), so nothing is added to a bucket that has been rolled up.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import structlog
from django.db import connection, transaction
from django.db.models import Q

from apps.traffic import partitions
from apps.traffic.models import Coverage, Level, Span, Throughput

log = structlog.get_logger()

FIVE_MINUTES, HOUR, DAY, TODAY, WEEK, FOUR_WEEKS = (
    Level.Name.FIVE_MINUTES, Level.Name.HOUR, Level.Name.DAY, Level.Name.TODAY, Level.Name.WEEK, Level.Name.FOUR_WEEKS,
)  # fmt: skip
FINER: Final = {HOUR: FIVE_MINUTES, DAY: HOUR, TODAY: FIVE_MINUTES, WEEK: DAY, FOUR_WEEKS: WEEK}  # in the order of rolling up
UNITS: Final = {
    FIVE_MINUTES: timedelta(minutes=5),
    HOUR: timedelta(hours=1),
    DAY: timedelta(days=1),
    TODAY: timedelta(days=1),
    WEEK: timedelta(days=7),
    FOUR_WEEKS: timedelta(days=28),
}
STEPS: Final = UNITS | {TODAY: UNITS[FIVE_MINUTES]}  # steps in which a level becomes complete
SETTLES: Final = timedelta(minutes=2)  # how long a bucket stays open after its end, for readings that are under way
EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
FARTHEST_AHEAD: Final = timedelta(days=366)  # a level complete further ahead than this says rather that the clock is behind now

ROLL: Final = """
    INSERT INTO {to} AS known (holding_id, bucket, up_octets, up_packets, down_octets, down_packets)
    SELECT holding_id, date_bin(%(unit)s, bucket, %(epoch)s), sum(up_octets), sum(up_packets), sum(down_octets), sum(down_packets)
    FROM {of} WHERE bucket >= %(since)s AND bucket < %(until)s GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (holding_id, bucket) DO UPDATE SET
        up_octets = known.up_octets + excluded.up_octets, up_packets = known.up_packets + excluded.up_packets,
        down_octets = known.down_octets + excluded.down_octets, down_packets = known.down_packets + excluded.down_packets
"""

TAKE_BACK: Final = """
    UPDATE {to} known SET
        up_octets = known.up_octets - back.up_octets, up_packets = known.up_packets - back.up_packets,
        down_octets = known.down_octets - back.down_octets, down_packets = known.down_packets - back.down_packets
    FROM (
        SELECT holding_id, date_bin(%(unit)s, bucket, %(epoch)s) AS bucket, sum(up_octets) AS up_octets, sum(up_packets) AS up_packets,
            sum(down_octets) AS down_octets, sum(down_packets) AS down_packets
        FROM {of} WHERE bucket >= %(since)s AND bucket < %(until)s GROUP BY 1, 2
    ) back
    WHERE known.holding_id = back.holding_id AND known.bucket = back.bucket
"""


def compute_bucket_start(level: str, at: datetime) -> datetime:
    """Return the start, in UTC, of the bucket that contains this moment."""
    at = at.astimezone(UTC)
    return at - (at - EPOCH) % UNITS[Level.Name(level)]


def ensure_levels(now: datetime) -> None:
    """Create missing rows of levels, complete up to now: nothing earlier is rolled up."""
    if Level.objects.count() < len(Level.Name):
        made = (Level(name=name, complete_until=compute_bucket_start(name, now)) for name in Level.Name)
        Level.objects.bulk_create(made, ignore_conflicts=True)


def lock_oldest_open_bucket(now: datetime) -> datetime:
    """Return the start of the oldest five-minute bucket that is still writable; a share lock keeps it open until this transaction ends."""
    ensure_levels(now)
    first = [level for level, finer in FINER.items() if finer == FIVE_MINUTES]
    with connection.cursor() as cursor:
        cursor.execute("SELECT complete_until FROM traffic_level WHERE name = ANY(%s) ORDER BY name FOR SHARE", [first])
        completes: list[tuple[datetime]] = cursor.fetchall()
    return max(complete for (complete,) in completes)


def run_maintenance(now: datetime) -> None:
    """Make partitions, roll up, and drop what is too old. Idempotent. now: by the database's clock, which is the same for all workers."""
    ensure_levels(now)
    reopen_levels(now)
    partitions.ensure_future_partitions(now)
    for level in FINER:
        roll_up(level, now)
    drop_expired_usage(now)


def reopen_levels(now: datetime) -> None:
    """Make the levels complete no further than the bucket that contains now, if a clock that was ahead has rolled them up further.

    Otherwise every reading would be added to a bucket of that time.
    """
    ahead = Level.objects.filter(name__in=FINER, complete_until__gt=now).order_by("-complete_until").first()
    if ahead is None:
        return
    if ahead.complete_until > now + FARTHEST_AHEAD:
        log.warning("usage complete far ahead of the clock", level=ahead.name, until=ahead.complete_until.isoformat())
        return
    _reopen_levels(now)


@transaction.atomic
def _reopen_levels(now: datetime) -> None:
    """Reopen the coarsest level first, because the rows that it was rolled up from are as they were then.

    Precomputed totals up to the end of a day that is not over are dropped. What was dropped by that clock is kept from now on.
    """
    rows = {row.name: row for row in Level.objects.select_for_update().order_by("name")}
    for level in reversed(FINER):
        if rows[level].complete_until > now:
            _reopen_level(rows[level], compute_bucket_start(level, now))
    Span.objects.filter(until__gt=rows[DAY].complete_until).delete()
    Level.objects.filter(kept_since__gt=now).update(kept_since=now)


def _reopen_level(row: Level, since: datetime) -> None:
    """Take back what the level was given from finer rows since then. They are rolled up again in their time.

    Rows that were dropped meanwhile stay counted in this level: they cannot be counted once more.
    """
    level = Level.Name(row.name)
    given: dict[str, Any] = {"unit": UNITS[level], "epoch": EPOCH, "since": since, "until": row.complete_until}
    log.warning("usage reopened after a clock was ahead", level=row.name, since=since.isoformat(), until=row.complete_until.isoformat())
    with connection.cursor() as cursor:
        cursor.execute(TAKE_BACK.format(**_get_tables(level)), given)
    row.complete_until = since
    row.save(update_fields=["complete_until"])


def _get_tables(level: Level.Name) -> dict[str, str]:
    """Return the level's table and the one that it is rolled up from."""
    return {"to": partitions.TABLES[level]._meta.db_table, "of": partitions.TABLES[FINER[level]]._meta.db_table}


def roll_up(level: Level.Name, now: datetime) -> int:
    """Roll up into this level as far as the finer level is complete. Return the number of rows inserted or updated."""
    rows = 0
    while (more := _roll_up_some(level, now)) is not None:
        rows += more
    return rows


@transaction.atomic
def _roll_up_some(level: Level.Name, now: datetime) -> int | None:
    """Roll up to the end of a bucket of four weeks at most, so that a long backlog is not one long transaction.

    Return the number of rows, or None when the level is complete.
    """
    row = Level.objects.select_for_update().get(name=level)
    settled = now - SETTLES if FINER[level] == FIVE_MINUTES else Level.objects.get(name=FINER[level]).complete_until
    until = min(settled, compute_bucket_start(FOUR_WEEKS, row.complete_until) + UNITS[FOUR_WEEKS])
    until -= (until - EPOCH) % STEPS[level]
    if until <= row.complete_until:
        return None
    partitions.ensure_between(level, row.complete_until, until)
    with connection.cursor() as cursor:
        given: dict[str, Any] = {"unit": UNITS[level], "epoch": EPOCH, "since": row.complete_until, "until": until}
        cursor.execute(ROLL.format(**_get_tables(level)), given)
        rows: int = cursor.rowcount
    row.complete_until = until
    row.save(update_fields=["complete_until"])
    return rows


def drop_expired_usage(now: datetime) -> None:
    """Drop what is past its retention, except what is not rolled up into every coarser level yet."""
    kept = {row.name: row for row in Level.objects.all()}
    for level in Level.Name:
        known = min([kept[coarser].complete_until for coarser, finer in FINER.items() if finer == level], default=now)
        _drop_before(level, min(now - timedelta(days=kept[level].days), known))
    _drop_coverage_before(compute_bucket_start(DAY, now - timedelta(days=kept[DAY].days)))


def _drop_before(level: Level.Name, end: datetime) -> None:
    """Drop the partitions that ended by then. The level says so before, so that no query that is planned meanwhile misses them."""
    since, _until = partitions.compute_partition_bounds(level, end)
    Level.objects.filter(Q(kept_since=None) | Q(kept_since__lt=since), name=level).update(kept_since=since)
    if dropped := partitions.drop_partitions_before(level, end):
        log.info("usage forgotten", partitions=dropped)


def _drop_coverage_before(oldest: datetime) -> None:
    """Drop throughput and coverage from before the oldest day that is kept: what is not known any more is a gap, not zero."""
    Coverage.objects.filter(until__lt=oldest).delete()
    Coverage.objects.filter(since__lt=oldest).update(since=oldest)
    Throughput.objects.filter(bucket__lt=oldest).delete()
