"""script/bench years in small: what simulated years write, what the real retention leaves, and that a table without a bound is named."""

from datetime import UTC, datetime, timedelta

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import Max, Min

from apps.bans.models import Ban
from apps.members.models import Member
from apps.nat.models import PortForward
from apps.network.models import Holding
from apps.operations import registry
from apps.operations.registry import TableBoundKind, TableRetention
from apps.traffic.models import Day, Level
from apps.webhooks.models import Delivery
from benchmarks.years import iter_size_figures, rates
from benchmarks.years.judgement import NOTHING, find_largest_unbounded
from benchmarks.years.simulation import SimulatedYears, simulate
from benchmarks.years.usage import write_everybodys_usage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

MEMBERS, YEARS = 20, 2
NOW = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the portal itself write less: a test is about bounds, and these rates do not depend on the members."""
    monkeypatch.setattr(rates, "ROLLOUTS_A_DAY", 2)
    monkeypatch.setattr(rates, "SAMPLE_VALUES", 3)


def simulate_years() -> tuple[SimulatedYears, list[str]]:
    said: list[str] = []
    return simulate(MEMBERS, YEARS, NOW, said.append), said


def find_unbounded(seen: SimulatedYears) -> tuple[str, list[int]]:
    """Return the table that grew too much, with its size after each month."""
    name, excess = find_largest_unbounded(seen.list_tables(), MEMBERS, YEARS)
    return name, list(seen.sizes[name]) if excess else []


def check_people(seen: SimulatedYears) -> None:
    assert Member.objects.filter(state="active").count() == seen.members
    assert Member.objects.filter(state="left").count() == 12 * seen.years - 1  # one in each month but the first
    assert Holding.objects.filter(valid__endswith=None).count() >= 2 * seen.members
    assert PortForward.objects.exists()
    assert Ban.objects.count() == rates.FEED * seen.members


def check_history_of_the_feed() -> None:
    """History of bans that went is as old as the setting allows; bans that are there have the event that says since when."""
    events = apps.get_model("bans", "BanEvent")._default_manager
    gone = events.filter(pgh_label="delete").aggregate(first=Min("pgh_created_at"), last=Max("pgh_created_at"))
    assert NOW - timedelta(days=90) <= gone["first"] < NOW - timedelta(days=85)
    assert gone["last"] > NOW - timedelta(days=1)
    assert not Ban.objects.exclude(pk__in=events.filter(pgh_label="insert").values("pgh_obj_id")).exists()


def check_usage_of_everybody() -> None:
    """Usage fills the level of days for as long as it is kept."""
    write_everybodys_usage(NOW - timedelta(days=365 * YEARS), NOW)
    oldest, newest = Day.objects.aggregate(oldest=Min("bucket"), newest=Max("bucket")).values()
    assert NOW - timedelta(days=Level(name=Level.Name.DAY).days + 32) <= oldest < NOW - timedelta(days=700)
    assert newest == NOW - timedelta(days=1)
    assert Day.objects.filter(bucket=newest).count() > MEMBERS


def check_sizes() -> None:
    """Sizes are those of the database, the largest table first."""
    figures = {figure.name: figure for figure in iter_size_figures(MEMBERS, YEARS)}
    assert figures["bytes_per_member_year"].value * MEMBERS * YEARS == pytest.approx(figures["database_mib"].value * 2**20)
    tables = [figures[f"largest_table_{place}"] for place in range(1, 11)]
    assert [each.value for each in tables] == sorted((each.value for each in tables), reverse=True)
    assert tables[0].about in list_tables()


def list_tables() -> set[str]:
    return set(connection.introspection.table_names())


def test_years_leave_what_is_kept_and_no_table_grows_beyond_its_bound() -> None:
    seen, said = simulate_years()
    assert find_unbounded(seen) == (NOTHING, [])
    assert [line.split(":")[0] for line in said] == ["year 1 of 2", "year 2 of 2"]
    assert len(seen.prune_seconds) == 24 and all(seconds > 0 for seconds in seen.prune_seconds)
    check_people(seen)
    check_history_of_the_feed()
    check_usage_of_everybody()
    check_sizes()


def test_a_table_whose_pruning_removes_nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = TableRetention("webhooks.Delivery", TableBoundKind.PRUNED, "30 days", prune=lambda _now, _at_most: 0)
    monkeypatch.setitem(registry._registry, broken.label, broken)
    seen, _said = simulate_years()
    assert find_unbounded(seen)[0] == Delivery._meta.db_table
