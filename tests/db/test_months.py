"""A member's usage month by month: sums, the quota of that time, and months without readings."""

import csv
import io
from datetime import UTC, date, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.trail import get_trail
from apps.lib.ui.formats import SPACE
from apps.members.models import Member, Tariff
from apps.preferences.services import change_settings
from apps.traffic import months, quotas, rollup
from apps.traffic.models import Quota
from apps.traffic.months import MonthUsage
from apps.traffic.selectors import build_member_series
from tests import factories, usage_factories
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db

NOW = datetime(2050, 11, 21, 12, 3, tzinfo=UTC)
DAY = timedelta(days=1)


def set_event_time(model: type[Quota] | type[Member], pk: int, at: datetime) -> None:
    """Set the time of the row's newest event."""
    events = get_trail(model).events.objects
    events.filter(pgh_id=events.filter(pgh_obj_id=pk).latest("pgh_id").pgh_id).update(pgh_created_at=at)


def by_name(found: list[MonthUsage]) -> dict[str, MonthUsage]:
    return {f"{timezone.localtime(each.since):%Y-%m}": each for each in found}


def test_months_begin_at_midnight_on_the_wall_and_nothing_is_counted_twice_or_never(network: factories.Network) -> None:
    resident, now = network.residents["m1"], datetime(2050, 4, 10, 12, 3, tzinfo=UTC)  # two weeks after daylight saving time began
    at, midnight = now - timedelta(days=300), quotas.compute_month_bounds(now)[0]
    counted = {at + number * timedelta(hours=18): 3 << number % 20 for number in range(400)}
    counted |= {midnight - timedelta(minutes=5): 1000, midnight: 10}
    rollup.ensure_levels(at)
    usage_factories.read(network.gateways, at, now)
    for number, (moment, octets) in enumerate(counted.items()):
        usage_factories.count_usage(resident.holding if number % 2 else resident.prefix, moment, up=1, down=octets - 1)
    rollup.run_maintenance(now)
    quotas.set_tariff_quota(tariff=resident.member.tariff, octets=10**9, by=network.admin)
    found, filling = by_name(months.list_months(resident.member, now=now)), quotas.find_quota_usage(resident.member, now=now)
    assert (min(found), max(found), len(found)) == ("2049-05", "2050-04", months.NUMBER)
    assert sum(each.total or 0 for each in found.values()) == sum(counted.values())
    for name in ("2050-02", "2050-03", "2050-04"):
        assert found[name].total == sum(octets for moment, octets in counted.items() if f"{timezone.localtime(moment):%Y-%m}" == name)
    for name in ("2049-08", "2049-12"):  # of these only days are kept
        assert found[name].total == sum(octets for moment, octets in counted.items() if f"{moment:%Y-%m}" == name)
    assert filling
    assert filling.used == found["2050-04"].total
    change_settings(version=0, values={"keep_hours_days": 400}, by=None)
    assert by_name(months.list_months(resident.member, now=now)) == found, "hours that were dropped are not kept again"


def test_a_quota_s_month_begins_where_its_bar_does_also_when_its_first_hours_are_gone(network: factories.Network) -> None:
    change_settings(version=0, values={"keep_hours_days": 7}, by=None)
    resident, now = network.residents["m1"], datetime(2050, 10, 25, 12, 3, tzinfo=UTC)
    counted = {datetime(2050, 9, 30, 12, tzinfo=UTC): 1000, datetime(2050, 9, 30, 22, 30, tzinfo=UTC): 20, now - 15 * DAY: 3}
    usage_factories.read(network.gateways, min(counted), now)
    for at, octets in counted.items():
        usage_factories.count_usage(resident.holding, at, up=octets)
    rollup.run_maintenance(now)
    quotas.set_tariff_quota(tariff=resident.member.tariff, octets=100, by=network.admin)
    found, filling = by_name(months.list_months(resident.member, now=now)), quotas.find_quota_usage(resident.member, now=now)
    assert (found["2050-09"].total, found["2050-10"].total, filling and filling.used) == (1020, 3, 3)
    assert [each.total for each in quotas.list_members_above(1, now=now)] == [3]


def test_what_is_no_longer_kept_is_a_gap_and_not_zero(network: factories.Network) -> None:
    change_settings(version=0, values={"keep_days_days": 60}, by=None)
    member = network.residents["m1"].member
    rollup.ensure_levels(NOW)
    usage_factories.read(network.gateways, NOW - 300 * DAY, NOW)
    rollup.run_maintenance(NOW)
    found = by_name(months.list_months(member, now=NOW))
    assert [name for name, each in found.items() if each.total is not None] == ["2050-09", "2050-10", "2050-11"]
    points = build_member_series(member, NOW - 90 * DAY, NOW, DAY, now=NOW)
    assert next(point.start for point in points if point.octets is not None) == datetime(2050, 9, 22, tzinfo=UTC)


def test_a_month_says_what_the_tariff_that_was_in_force_at_its_end_allowed(network: factories.Network) -> None:
    member, small, large = network.residents["m1"].member, Tariff.objects.get(), Tariff.objects.create(name="Large")
    usage_factories.read(network.gateways, NOW - timedelta(days=200), NOW)
    set_event_time(Member, member.pk, NOW - timedelta(days=180))
    for tariff, octets, day in ((small, 100, 8), (large, 500, 8), (small, 200, 10)):
        quotas.set_tariff_quota(tariff=tariff, octets=octets, by=network.admin)
        set_event_time(Quota, tariff.pk, datetime(2050, day, 15, tzinfo=UTC))
    Member.objects.filter(pk=member.pk).update(tariff=large)
    set_event_time(Member, member.pk, datetime(2050, 9, 30, 12, tzinfo=UTC))
    Member.objects.filter(pk=member.pk).update(tariff=small)
    set_event_time(Member, member.pk, datetime(2050, 10, 2, tzinfo=UTC))
    quotas.set_tariff_quota(tariff=small, octets=None, by=network.admin)
    set_event_time(Quota, small.pk, datetime(2050, 11, 3, tzinfo=UTC))
    found = by_name(months.list_months(member, now=NOW))
    assert {name: (each.tariff, each.quota) for name, each in found.items() if name >= "2050-07"} == {
        "2050-07": ("", None),
        "2050-08": ("Standard", 100),
        "2050-09": ("Large", 500),
        "2050-10": ("Standard", 200),
        "2050-11": ("", None),
    }


def test_months_before_somebody_joined_and_without_a_reading_are_empty_and_silent_ones_are_nothing(network: factories.Network) -> None:
    member = network.residents["m1"].member
    Member.objects.filter(pk=member.pk).update(since=date(2050, 6, 10))
    member.refresh_from_db()
    usage_factories.read(network.gateways, datetime(2050, 2, 1, tzinfo=UTC), datetime(2050, 7, 20, tzinfo=UTC))
    usage_factories.read(network.gateways, datetime(2050, 10, 5, tzinfo=UTC), NOW)
    found = by_name(months.list_months(member, now=NOW))
    assert [name for name, each in found.items() if each.total == 0] == ["2050-06", "2050-07", "2050-10", "2050-11"]
    assert {each.total for name, each in found.items() if name < "2050-06" or name in ("2050-08", "2050-09")} == {None}


def test_the_own_page_has_bars_a_table_and_a_csv_of_the_months(network: factories.Network) -> None:
    member, now = network.residents["m1"].member, timezone.now()
    account = factories.user("selin", staff=False)
    Member.objects.filter(pk=member.pk).update(user=account)
    usage_factories.read(network.gateways, now - 3 * DAY, now)
    usage_factories.count_usage(network.residents["m1"].holding, now, down=3_000_000, up=1_000_000)
    quotas.set_tariff_quota(tariff=member.tariff, octets=8_000_000, by=network.admin)
    browser: Client = signed_in(account)
    page = text(browser.get("/me/")).replace(SPACE, " ")
    assert page.count('<rect class="nw-column"') >= 1
    assert '<td class="nw-num">4.00 MB</td><td class="nw-num">50 % of 8.00 MB (Standard)</td>' in page
    assert 'href="/me/months.csv"' in page
    content = b"".join(browser.get("/me/months.csv").streaming_content).decode().removeprefix("\ufeff")  # type: ignore[attr-defined]
    cells = list(csv.reader(io.StringIO(content)))
    assert (len(cells), cells[-1][2:]) == (13, ["3000000", "1000000", "4000000", "Standard", "8000000"])
    assert cells[1][2:] == [""] * 5
    staff = signed_in(network.admin)
    assert f'href="/members/{member.pk}/months.csv"' in text(staff.get(f"/members/{member.pk}/traffic/"))
    assert staff.get(f"/members/{member.pk}/months.csv").status_code == 200
