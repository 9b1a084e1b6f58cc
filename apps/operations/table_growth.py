"""Growth of the tables: their sizes are noted once a day, so that each shows how much it grew lately, and where that leads."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from apps.operations.models import TableDay
from apps.operations.portal_health.growth import DailySize, DatabaseGrowth, compute_growth
from apps.operations.table_sizes import TableSize, list_table_sizes

LEAST: Final = 1 << 20  # octets: smaller tables are not noted
GROWTH_DAYS: Final = 30


@dataclass(frozen=True)
class TableTrend:
    """A table with its growth; None if less than a week is known, or the table is too small to be noted."""

    table: TableSize
    growth: DatabaseGrowth | None


def note_table_sizes(now: datetime) -> bool:
    """Note today's sizes of the larger tables, once a day (UTC). Returns False if they were noted already."""
    day = now.astimezone(UTC).date()
    if TableDay.objects.filter(day=day).exists():
        return False
    rows = [TableDay(day=day, table=each.name, octets=each.octets) for each in list_table_sizes() if each.octets >= LEAST]
    TableDay.objects.bulk_create(rows, ignore_conflicts=True)
    return True


def list_table_trends(now: datetime, days: int = GROWTH_DAYS) -> list[TableTrend]:
    """Return all tables, largest first, with their growth over the last days."""
    noted = _map_daily_sizes(now, days)
    return [TableTrend(each, compute_growth(noted.get(each.name, ()), None)) for each in list_table_sizes()]


def _map_daily_sizes(now: datetime, days: int) -> Mapping[str, list[DailySize]]:
    since = now.astimezone(UTC).date() - timedelta(days=days)
    found: dict[str, list[DailySize]] = defaultdict(list)
    for table, day, octets in TableDay.objects.filter(day__gte=since).order_by("day").values_list("table", "day", "octets"):
        found[table].append((day, octets))
    return found
