"""Planner that splits a window among the tables of usage: the coarsest level where it is complete, finer ones at the edges."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from apps.lib.web.request_cache import cache_per_request
from apps.traffic import partitions
from apps.traffic.models import Level
from apps.traffic.rollup import EPOCH, UNITS, compute_bucket_start

ORDER = (Level.Name.FOUR_WEEKS, Level.Name.WEEK, Level.Name.DAY, Level.Name.TODAY, Level.Name.HOUR, Level.Name.FIVE_MINUTES)
POINTS = (Level.Name.DAY, Level.Name.HOUR, Level.Name.FIVE_MINUTES)  # levels for the points of charts


class LevelPiece(NamedTuple):
    """Part of a window that one level answers: the buckets that begin in [since, until)."""

    level: Level.Name
    since: datetime
    until: datetime


@cache_per_request
def _list_levels() -> tuple[Level, ...]:
    return tuple(Level.objects.all())


def find_finest_unit(since: datetime, now: datetime) -> timedelta:
    """Return the length of the shortest buckets that are kept from `since` on; a day where none are."""
    points = [row for row in _list_levels() if row.name in POINTS]
    kept = [UNITS[Level.Name(row.name)] for row in points if _find_oldest(row, now) <= since]
    return min(kept, default=UNITS[Level.Name.DAY])


def align_border(at: datetime, now: datetime) -> datetime:
    """Return the start of a bucket nearest to this moment, by the finest level that is still kept: no bucket straddles it."""
    unit = find_finest_unit(at, now)
    middle = at.astimezone(UTC) + unit / 2
    return middle - (middle - EPOCH) % unit


def _find_oldest(row: Level, now: datetime) -> datetime:
    """Return from when on the level has all buckets. Whole partitions are dropped, and a longer retention brings nothing back."""
    since, _until = partitions.compute_partition_bounds(row.name, now - timedelta(days=row.days))
    return max(since, row.kept_since) if row.kept_since and row.kept_since <= now else since


def plan_pieces(since: datetime, until: datetime, now: datetime, unit: timedelta | None = None) -> list[LevelPiece]:
    """Return the pieces of the window in order of time. unit: length of a point, which no bucket may straddle; None for one sum over all.

    Where the finer level is no longer kept, the first bucket of the coarser level is taken whole although it began before the window,
    and the bucket in which the window ends is left out: so consecutive windows count nothing twice. What even the coarsest level no
    longer has is left out.
    """
    known = {row.name: row for row in _list_levels()}
    levels = [name for name in ORDER if name in known and (unit is None or (name in POINTS and not unit % UNITS[name]))]
    oldest = {name: _find_oldest(known[name], now) for name in levels}
    complete = {name: known[name].complete_until for name in levels}

    def parts(since: datetime, until: datetime, levels: Sequence[Level.Name]) -> list[LevelPiece]:
        if since >= until or not levels:
            return []
        level, finer = levels[0], levels[1:]
        if not finer:
            return [LevelPiece(level, since, until)]
        earlier = [name for name in finer if name != Level.Name.TODAY]
        first = compute_bucket_start(level, complete[level] if level == Level.Name.TODAY else since)
        if first < since and (level == Level.Name.TODAY or oldest[earlier[0]] <= since):
            first += UNITS[level]
        after = complete[level] if complete[level] <= until else compute_bucket_start(level, until)
        tail = finer if complete[level] <= until or oldest[earlier[0]] <= until else ()
        if first >= after:
            return parts(since, until, tail)
        return [*parts(since, first, earlier), LevelPiece(level, first, after), *parts(after, until, tail)]

    begin = max([since.astimezone(UTC), *(oldest[name] for name in levels[:1])])
    return parts(begin, until.astimezone(UTC), levels)  # in local time, a day of a clock change has 23 or 25 hours


def build_union(found: list[LevelPiece], columns: str, where: str = "true") -> tuple[str, list[datetime]]:
    """Return one SELECT for the rows of all pieces, and its parameters. columns, where: our own SQL, never user input."""
    some = [
        f"SELECT {columns} FROM {partitions.TABLES[each.level]._meta.db_table} WHERE bucket >= %s AND bucket < %s AND {where}"  # noqa: S608
        for each in found
    ] or [f"SELECT {columns} FROM traffic_day WHERE false"]  # noqa: S608
    return " UNION ALL ".join(some), [moment for each in found for moment in (each.since, each.until)]
