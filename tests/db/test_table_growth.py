"""Sizes of tables over time: noted once a day, shown with their growth by the page and the command."""

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from apps.operations.models import DatabaseDay, TableDay
from apps.operations.table_growth import LEAST, list_table_trends, note_table_sizes
from apps.operations.table_sizes import list_table_sizes
from tests import factories
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db
TABLE = "traffic_hour"
MB = 1_000_000


def note(day_octets: dict[int, int], table: str = TABLE) -> None:
    """Note sizes of a table. day_octets: by days before today."""
    today = timezone.now().date()
    for days, octets in day_octets.items():
        TableDay.objects.create(day=today - timedelta(days=days), table=table, octets=octets)


def run_sizes(*options: str) -> str:
    output = io.StringIO()
    call_command("sizes", *options, stdout=output)
    return output.getvalue().replace("\u202f", " ").replace("\xa0", " ")


def read_report() -> dict[str, Any]:
    report: dict[str, Any] = json.loads(run_sizes("--json"))
    return report


def test_the_larger_tables_are_noted_once_a_day() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE public.nw_large AS SELECT n, repeat('x', 100) FROM generate_series(1, 20000) n")
    now = timezone.now()
    assert note_table_sizes(now) is True
    noted = dict(TableDay.objects.values_list("table", "octets"))
    large = {each.name: each.octets for each in list_table_sizes() if each.octets >= LEAST}
    assert noted.keys() == large.keys() and "nw_large" in noted and noted["nw_large"] >= LEAST
    assert note_table_sizes(now) is False
    assert note_table_sizes(now + timedelta(days=1)) is True


def test_a_table_grows_as_its_days_say_and_one_without_a_week_is_not_known() -> None:
    note({30: 100 * MB, 15: 300 * MB, 0: 400 * MB})
    note({3: 5 * MB, 0: 9 * MB}, "mail_outgoing")
    found = {each.table.name: each.growth for each in list_table_trends(timezone.now())}
    growth = found[TABLE]
    assert growth and (growth.octets, growth.days) == (10 * MB, 30)
    assert found["members_member"] is None


def test_days_before_the_last_thirty_do_not_count() -> None:
    note({90: 1, 10: 100 * MB, 0: 100 * MB})
    growth = {each.table.name: each.growth for each in list_table_trends(timezone.now())}[TABLE]
    assert growth and (growth.octets, growth.days) == (0, 10)


def test_the_command_shows_tables_their_bounds_and_when_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    note({30: 100 * MB, 0: 400 * MB})
    for days, octets in ((30, 1000 * MB), (0, 4000 * MB)):
        DatabaseDay.objects.create(day=timezone.now().date() - timedelta(days=days), octets=octets)
    said = run_sizes("--all")
    [line] = [each for each in said.splitlines() if each.startswith(f"{TABLE} ")]
    assert "+300 MB" in line and "pruning of old rows" in line
    assert "smaller tables (--all)" in run_sizes() and "smaller tables" not in said
    assert "All tables together:" in said
    report = {each["table"]: each for each in read_report()["tables"]}
    assert report[TABLE]["in_30_days"] == 300 * MB and report["members_member"]["in_30_days"] is None
    assert report["members_member"]["bound"] == "people"


def test_without_a_week_of_sizes_the_command_says_when_growth_is_known() -> None:
    assert "Growth is known once sizes of a week are noted." in run_sizes()
    assert read_report()["full"] is None


def test_the_page_shows_how_much_a_table_grows(network: factories.Network) -> None:
    note({30: 400 * MB, 0: 100 * MB})
    page = text(signed_in(network.admin).get("/system/")).replace("\u202f", " ").replace("\xa0", " ")
    assert "Grows in 30 days" in page and "−300 MB" in page


def test_the_database_refuses_a_second_size_of_the_same_day() -> None:
    note({0: 1})
    with pytest.raises(IntegrityError, match="tableday_once"), transaction.atomic():
        note({0: 2})
