"""Which table of usage knows which part of a window: the coarsest where it is complete, finer ones at the edges."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from apps.lib.web.request_cache import once_a_page
from apps.traffic import partitions
from apps.traffic.models import Level
from apps.traffic.rollup import UNITS, begin_of

ORDER = (Level.Name.FOUR_WEEKS, Level.Name.WEEK, Level.Name.DAY, Level.Name.TODAY, Level.Name.HOUR, Level.Name.FIVE_MINUTES)
POINTS = (Level.Name.DAY, Level.Name.HOUR, Level.Name.FIVE_MINUTES)  # whose buckets say when it was, in charts


class Piece(NamedTuple):
    """One level's part: the buckets that begin in this time."""

    level: Level.Name
    since: datetime
    until: datetime


@once_a_page
def _levels() -> tuple[Level, ...]:
    return tuple(Level.objects.all())


def finest_kept(since: datetime, now: datetime) -> timedelta:
    """The shortest buckets that are still there from this moment on; days where none are."""
    kept = [UNITS[Level.Name(row.name)] for row in _levels() if now - timedelta(days=row.days) <= since]
    return min(kept, default=UNITS[Level.Name.DAY])


def pieces(since: datetime, until: datetime, now: datetime, unit: timedelta | None = None) -> list[Piece]:
    """The parts in order of time. unit: of points, which no bucket may straddle; without it, all is one sum.

    Where the finer level is no longer kept, the first bucket of the coarser one is taken whole, though it began before the window, and
    nothing of the one in which the window ends: so windows that follow each other count nothing twice.
    """
    known = {row.name: row for row in _levels()}
    levels = [name for name in ORDER if name in known and (unit is None or (name in POINTS and not unit % UNITS[name]))]
    oldest = {name: now - timedelta(days=known[name].days) for name in levels}
    complete = {name: known[name].complete_until for name in levels}

    def parts(since: datetime, until: datetime, levels: Sequence[Level.Name]) -> list[Piece]:
        if since >= until or not levels:
            return []
        level, finer = levels[0], levels[1:]
        if not finer:
            return [Piece(level, since, until)]
        earlier = [name for name in finer if name != Level.Name.TODAY]
        first = begin_of(level, complete[level] if level == Level.Name.TODAY else since)
        if first < since and (level == Level.Name.TODAY or oldest[earlier[0]] <= first):
            first += UNITS[level]
        after = complete[level] if complete[level] <= until else begin_of(level, until)
        tail = finer if complete[level] <= until or oldest[earlier[0]] <= after else ()
        if first >= after:
            return parts(since, until, tail)
        return [*parts(since, first, earlier), Piece(level, first, after), *parts(after, until, tail)]

    return parts(since.astimezone(UTC), until.astimezone(UTC), levels)  # on the wall, days of a clock change are an hour longer or shorter


def union(found: list[Piece], columns: str, where: str = "true") -> tuple[str, list[datetime]]:
    """Rows of all pieces as one statement, and its parameters. columns, where: SQL of ours, never anybody's text."""
    some = [
        f"SELECT {columns} FROM {partitions.TABLES[each.level]._meta.db_table} WHERE bucket >= %s AND bucket < %s AND {where}"  # noqa: S608
        for each in found
    ] or [f"SELECT {columns} FROM traffic_day WHERE false"]  # noqa: S608
    return " UNION ALL ".join(some), [moment for each in found for moment in (each.since, each.until)]
