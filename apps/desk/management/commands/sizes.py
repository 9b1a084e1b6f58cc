"""manage.py sizes: how large each table is, what bounds it, how much it grows, and when the disk is full."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from apps.desk.selectors.system import TableSizeRow, build_table_row
from apps.lib.ui import formats
from apps.operations.portal_health.disk import read_disk
from apps.operations.portal_health.growth import DatabaseGrowth, compute_growth
from apps.operations.portal_health.selectors import list_daily_sizes
from apps.operations.table_growth import list_table_trends


class Command(BaseCommand):
    help = "Show the size of each table, what bounds it, how much it grows in 30 days at its present pace, and when the disk is full."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="small tables, too: otherwise only the twenty largest")
        parser.add_argument("--json", action="store_true", help="all tables as JSON, sizes in octets")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        rows = [build_table_row(each) for each in list_table_trends(now)]
        disk = read_disk()
        growth = compute_growth(list_daily_sizes(now), disk)
        if options["json"]:
            self.stdout.write(json.dumps(_build_report(rows, growth, disk.free if disk else None), indent=2))
            return
        shown = rows if options["all"] else rows[:20]
        for line in _render_table([("table", "size", "in 30 days", "rows", "limited by", "kept for"), *map(_render_row, shown)]):
            self.stdout.write(line)
        if len(rows) > len(shown):
            self.stdout.write(f"… and {len(rows) - len(shown)} smaller tables (--all)")
        self.stdout.write(_describe_total(sum(each.table.octets for each in rows), growth, disk.free if disk else None))


def _render_row(row: TableSizeRow) -> tuple[str, ...]:
    rows = formats.format_number(row.table.rows)
    return row.table.name, formats.format_volume(row.table.octets), formats.format_change(row.month), rows, row.bound, row.kept


def _render_table(rows: list[tuple[str, ...]]) -> list[str]:
    """Align columns: names and words to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    numbers = range(1, 4)
    return [
        "  ".join(text.rjust(widths[at]) if at in numbers else text.ljust(widths[at]) for at, text in enumerate(row)).rstrip()
        for row in rows
    ]


def _describe_total(octets: int, growth: DatabaseGrowth | None, free: int | None) -> str:
    said = [f"All tables together: {formats.format_volume(octets)}."]
    if free is not None:
        said.append(f"Free on the database’s disk: {formats.format_volume(free)}.")
    if growth is None:
        said.append("Growth is known once sizes of a week are noted.")
    elif growth.full:
        said.append(f"The disk is full on {growth.full.isoformat()} if the database goes on growing as in the last {growth.days} days.")
    else:
        said.append(f"In the last {growth.days} days it grew by {formats.format_volume(max(growth.octets, 0))} a day.")
    return " ".join(said)


def _build_report(rows: list[TableSizeRow], growth: DatabaseGrowth | None, free: int | None) -> dict[str, Any]:
    return {
        "tables": [
            {
                "table": each.table.name,
                "octets": each.table.octets,
                "rows": each.table.rows,
                "in_30_days": each.month,
                "bound": str(each.table.retention.bound) if each.table.retention else "code",
                "kept": each.kept,
            }
            for each in rows
        ],
        "disk_free": free,
        "full": growth.full.isoformat() if growth and growth.full else None,
    }
