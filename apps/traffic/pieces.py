"""Which table of usage knows which part of a window: days and hours where they are complete, five minutes at the edges."""

from datetime import datetime, timedelta
from typing import NamedTuple

from apps.lib.once import once_a_page
from apps.traffic import partitions
from apps.traffic.models import Level
from apps.traffic.rolling import UNITS, begin_of

ORDER = (Level.Name.DAY, Level.Name.HOUR, Level.Name.FIVE_MINUTES)
NEVER = timedelta.max


class Piece(NamedTuple):
    """One level's part, from its first bucket to before its last."""

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


def pieces(since: datetime, until: datetime, now: datetime, coarsest: timedelta = NEVER) -> list[Piece]:
    """The parts in order of time. coarsest: the longest bucket that will do.

    Where the finer level is no longer kept, the first bucket of the coarser one is taken whole, though it began before the window.
    """
    known = {row.name: row for row in _levels()}
    levels = [name for name in ORDER if UNITS[name] <= coarsest and name in known]
    oldest = {name: now - timedelta(days=known[name].days) for name in levels}
    complete = {name: known[name].complete_until for name in levels}

    def parts(since: datetime, until: datetime, levels: list[Level.Name]) -> list[Piece]:
        if since >= until or not levels:
            return []
        level, finer = levels[0], levels[1:]
        if not finer:
            return [Piece(level, since, until)]
        first = begin_of(level, since)
        if first < since and oldest[finer[0]] <= since:
            first += UNITS[level]
        after = min(begin_of(level, until), complete[level])
        if first >= after:
            return parts(since, until, finer)
        return [*parts(since, first, finer), Piece(level, first, after), *parts(after, until, finer)]

    return parts(since, until, levels)


def union(found: list[Piece], columns: str, where: str = "true") -> tuple[str, list[datetime]]:
    """Rows of all pieces as one statement, and its parameters. columns, where: SQL of ours, never anybody's text."""
    some = [
        f"SELECT {columns} FROM {partitions.TABLES[each.level]._meta.db_table} WHERE bucket >= %s AND bucket < %s AND {where}"  # noqa: S608
        for each in found
    ] or [f"SELECT {columns} FROM traffic_day WHERE false"]  # noqa: S608
    return " UNION ALL ".join(some), [moment for each in found for moment in (each.since, each.until)]
