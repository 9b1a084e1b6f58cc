"""Simulated years: month by month, rows with past times are written, and the real retention removes what is too old by then.

Nothing here knows how long rows are kept: that is the business of `apps/*/retention.py` and of the levels of usage.
"""

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from benchmarks.years import usage
from benchmarks.years.ban_feed import write_feed
from benchmarks.years.judgement import TableSizes
from benchmarks.years.letters import write_letters
from benchmarks.years.month import LENGTH, SimulatedMonth, open_month
from benchmarks.years.people import compute_oldest_number, write_people
from benchmarks.years.portal_rows import write_portal_rows

YEAR: Final = 12  # months
SEQUENCES: Final = ("members_member", "members_device", "network_holding", "nat_natmapping", "nat_portforward", "bans_ban", "accounts_user")

type Progress = Callable[[str], None]


@dataclass
class SimulatedYears:
    """What was seen: sizes of all tables at the end of each month, and the seconds that retention needed in each."""

    members: int
    years: int
    prune_seconds: list[float] = field(default_factory=list)
    sizes: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def list_tables(self) -> dict[str, TableSizes]:
        """Return the tables by name, with what bounds them."""
        from apps.operations.table_sizes import list_table_sizes

        return {each.name: TableSizes(each.name, self.sizes[each.name], each.retention) for each in list_table_sizes()}


def simulate(members: int, years: int, now: datetime, say: Progress) -> SimulatedYears:
    """Fill an empty database with these years, which end now. say: gets a line for each year."""
    admin = create_surroundings()
    seen, start = SimulatedYears(members, years), now - years * YEAR * LENGTH
    usage.begin_usage(start)
    for number in range(years * YEAR):
        with open_month(number, start, members, admin) as month:
            _write_month(month)
        usage.write_sampled_usage(month.begin, month.end)
        seen.prune_seconds.append(_remove_old_rows(month.end))
        _note_sizes(seen)
        if number % YEAR == YEAR - 1:
            say(_describe_year(seen))
    advance_sequences()
    return seen


def create_surroundings() -> int:
    """Write a network without members, an endpoint of webhooks and a channel for alarms. Return the id of an administrator."""
    from apps.accounts.models import User
    from apps.alarms.models import AlarmChannel
    from apps.webhooks.models import Endpoint
    from benchmarks.changes import create_network

    create_network()
    admin = User.objects.create_superuser("years", "years@example.org", None)
    Endpoint.objects.create(name="Years", url="https://example.org/", owner=admin)
    AlarmChannel.objects.create(name="Years", target="x", shown="x")
    return admin.pk


def _write_month(month: SimulatedMonth) -> None:
    write_people(month)
    write_letters(month, compute_oldest_number(month))
    write_feed(month)
    write_portal_rows(month)


def _remove_old_rows(now: datetime) -> float:
    """Run all retention, as at that time, until nothing is left to remove. Return the seconds. Raises SystemExit if some of it fails."""
    from apps.operations.models import JobRecord
    from apps.operations.pruning import prune_all
    from apps.traffic import rollup

    began = time.perf_counter()
    while prune_all(now):
        continue
    rollup.run_maintenance(now)
    took = time.perf_counter() - began
    if failed := JobRecord.objects.exclude(failing=None).first():
        raise SystemExit(f"{failed.name}: {failed.error}")
    return took


def _note_sizes(seen: SimulatedYears) -> None:
    """Note the size of each table, after what autovacuum does meanwhile in a real portal."""
    from apps.operations.table_sizes import list_table_sizes
    from benchmarks.changes import run_sql

    run_sql("VACUUM (ANALYZE)")
    for table in list_table_sizes():
        seen.sizes[table.name].append(table.octets)


def _describe_year(seen: SimulatedYears) -> str:
    now = {name: octets[-1] for name, octets in seen.sizes.items()}
    largest = max(now, key=lambda name: now[name])
    slowest = max(seen.prune_seconds[-YEAR:])
    return (
        f"year {len(seen.prune_seconds) // YEAR} of {seen.years}: {sum(now.values()) / 2**20:,.0f} MiB, of these {largest} "
        f"{now[largest] / 2**20:,.0f} MiB; retention took up to {slowest:.1f} s for a month"
    )


def advance_sequences() -> None:
    """Let further rows get higher ids than those that were written with ids of their own."""
    from benchmarks.changes import run_sql

    for table in SEQUENCES:
        run_sql(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")  # noqa: S608 - constants
