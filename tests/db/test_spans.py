"""Precomputed totals, made once a day, agree with the rows they were made from, and lists start from them."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from apps.preferences.services import change_settings
from apps.traffic import precomputed_totals, rollup
from apps.traffic.models import Span, SpanUsage
from apps.traffic.selectors import UsageGrouping, build_member_sums_sql, list_grouped_usage, list_top_talkers, sum_member_usage
from apps.traffic.windows import LISTS, WindowPreset, build_recent_window
from tests import factories, usage_factories

pytestmark = pytest.mark.django_db

START = datetime(2050, 1, 3, tzinfo=UTC)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
NOW = START + timedelta(days=20, hours=7, minutes=21)


@pytest.fixture
def counted_network(network: factories.Network) -> factories.Network:
    """A network with usage of three members over 20 days, of one by IPv6 too."""
    random = Random(7)
    rollup.ensure_levels(START)
    people = network.residents
    holdings = [people["m1"].holding, people["m1"].prefix, people["m2"].holding, people["m3"].holding]
    at = START
    while at < NOW - HOUR:
        for holding in random.sample(holdings, 2):
            usage_factories.count_usage(holding, at, up=random.randrange(1 << 40), down=random.randrange(1 << 41))
        at += 6 * HOUR
    rollup.run_maintenance(NOW)
    return network


def lists() -> list[object]:
    """Return the lists of all members, for the presets and for windows that begin and end anywhere."""
    windows = [(each.since, each.until) for preset in WindowPreset for each in [build_recent_window(NOW, preset, LISTS)]]
    windows += [(START + timedelta(days=2, hours=5), NOW), (START, NOW - 3 * DAY), (NOW - timedelta(days=9, hours=1), NOW - HOUR)]
    return [(list_top_talkers(*each, now=NOW), list_grouped_usage(UsageGrouping.TARIFF, *each, now=NOW)) for each in windows]


def test_lists_say_the_same_with_spans_as_without_also_of_what_is_counted_later(counted_network: factories.Network) -> None:
    before = lists()
    assert precomputed_totals.refresh_totals(NOW) == len(precomputed_totals.PRESETS)
    assert lists() == before
    week = build_recent_window(NOW, WindowPreset.WEEK, LISTS)
    assert "traffic_spanusage" in build_member_sums_sql(week.since, week.until, NOW)[0]

    late = counted_network.residents["m4"]
    usage_factories.count_usage(late.holding, NOW - timedelta(minutes=1), down=123)
    assert list_top_talkers(week.since, week.until, now=NOW)[-1][::3] == (late.member.pk, 123)


def test_lists_of_a_year_say_the_same_with_spans_where_a_year_is_kept(network: factories.Network) -> None:
    change_settings(version=0, values={"keep_days_days": 365}, by=None)
    resident = network.residents["m1"]
    usage_factories.count_days(resident.holding, NOW - 420 * DAY, NOW)
    rollup.run_maintenance(NOW)
    year = build_recent_window(NOW, WindowPreset.YEAR, LISTS)
    for _with_spans in (False, True):
        [talker] = list_top_talkers(year.since, NOW, now=NOW)
        assert talker.up == sum_member_usage(resident.member, year.since, NOW, now=NOW).up == 364
        precomputed_totals.refresh_totals(NOW)


def test_spans_are_made_once_a_day_without_the_silent_and_those_of_yesterday_go(counted_network: factories.Network) -> None:
    precomputed_totals.refresh_totals(NOW)
    talked = sorted(counted_network.residents[name].member.pk for name in ("m1", "m2", "m3"))
    made = list(Span.objects.values_list("pk", flat=True))
    assert {pk: sorted(SpanUsage.objects.filter(span=pk).values_list("member_id", flat=True)) for pk in made} == dict.fromkeys(made, talked)
    assert (precomputed_totals.refresh_totals(NOW), precomputed_totals.refresh_totals(NOW + HOUR)) == (0, 0)
    rollup.run_maintenance(NOW + DAY)
    assert precomputed_totals.refresh_totals(NOW + DAY) == len(precomputed_totals.PRESETS)
    assert not Span.objects.filter(pk__in=made).exists()
    assert not SpanUsage.objects.filter(span__in=made).exists()


def test_totals_of_days_that_are_not_over_are_dropped_when_a_clock_was_ahead(counted_network: factories.Network) -> None:
    rollup.run_maintenance(NOW + DAY)
    precomputed_totals.refresh_totals(NOW + DAY)
    assert Span.objects.filter(until__gt=NOW).exists()
    rollup.run_maintenance(NOW)
    assert not Span.objects.filter(until__gt=NOW).exists()
    late = counted_network.residents["m4"]
    usage_factories.count_usage(late.holding, NOW, down=123)
    rollup.run_maintenance(NOW + DAY)
    precomputed_totals.refresh_totals(NOW + DAY)
    window = build_recent_window(NOW + DAY, WindowPreset.WEEK, LISTS)
    assert list_top_talkers(window.since, window.until, now=NOW + DAY)[-1][::3] == (late.member.pk, 123)
