"""Which table of usage knows which part of a window: the coarsest where it is complete, finer ones at the edges."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from apps.lib.web.request_cache import cache_per_request
from apps.traffic import partitions
from apps.traffic.models import Level
from apps.traffic.rollup import UNITS, compute_bucket_start

ORDER = (Level.Name.FOUR_WEEKS, Level.Name.WEEK, Level.Name.DAY, Level.Name.TODAY, Level.Name.HOUR, Level.Name.FIVE_MINUTES)
POINTS = (Level.Name.DAY, Level.Name.HOUR, Level.Name.FIVE_MINUTES)  # whose buckets say when it was, in charts


class LevelPiece(NamedTuple):
    """One level's part: the buckets that begin in this time."""

    level: Level.Name
    since: datetime
    until: datetime


@cache_per_request
def _list_levels() -> tuple[Level, ...]:
    return tuple(Level.objects.all())


def find_finest_unit(since: datetime, now: datetime) -> timedelta:
    """The shortest buckets that are still there from this moment on; days where none are."""
    kept = [UNITS[Level.Name(row.name)] for row in _list_levels() if now - timedelta(days=row.days) <= since]
    return min(kept, default=UNITS[Level.Name.DAY])


def plan_pieces(since: datetime, until: datetime, now: datetime, unit: timedelta | None = None) -> list[LevelPiece]:
    """The parts in order of time. unit: of points, which no bucket may straddle; without it, all is one sum.

    Where the finer level is no longer kept, the first bucket of the coarser one is taken whole, though it began before the window, and
    nothing of the one in which the window ends: so windows that follow each other count nothing twice.
    """
    known = {row.name: row for row in _list_levels()}
    levels = [name for name in ORDER if name in known and (unit is None or (name in POINTS and not unit % UNITS[name]))]
    oldest = {name: now - timedelta(days=known[name].days) for name in levels}
    complete = {name: known[name].complete_until for name in levels}

    def parts(since: datetime, until: datetime, levels: Sequence[Level.Name]) -> list[LevelPiece]:
        if since >= until or not levels:
            return []
        level, finer = levels[0], levels[1:]
        if not finer:
            return [LevelPiece(level, since, until)]
        earlier = [name for name in finer if name != Level.Name.TODAY]
        first = compute_bucket_start(level, complete[level] if level == Level.Name.TODAY else since)
        if first < since and (level == Level.Name.TODAY or oldest[earlier[0]] <= first):
            first += UNITS[level]
        after = complete[level] if complete[level] <= until else compute_bucket_start(level, until)
        tail = finer if complete[level] <= until or oldest[earlier[0]] <= after else ()
        if first >= after:
            return parts(since, until, tail)
        return [*parts(since, first, earlier), LevelPiece(level, first, after), *parts(after, until, tail)]

    return parts(since.astimezone(UTC), until.astimezone(UTC), levels)  # on the wall, days of a clock change are an hour longer or shorter


def build_union(found: list[LevelPiece], columns: str, where: str = "true") -> tuple[str, list[datetime]]:
    """Rows of all pieces as one statement, and its parameters. columns, where: SQL of ours, never anybody's text."""
    some = [
        f"SELECT {columns} FROM {partitions.TABLES[each.level]._meta.db_table} WHERE bucket >= %s AND bucket < %s AND {where}"  # noqa: S608
        for each in found
    ] or [f"SELECT {columns} FROM traffic_day WHERE false"]  # noqa: S608
    return " UNION ALL ".join(some), [moment for each in found for moment in (each.since, each.until)]
