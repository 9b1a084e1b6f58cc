"""Charts of traffic end with the last complete bucket, so that unfinished or partly read ones do not look like less traffic."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from apps.traffic import exports, usage_charts
from apps.traffic.selectors import OctetsByDirection, UsagePoint
from apps.traffic.windows import DAY, FIVE_MINUTES, HOUR, RATES, WindowPreset, build_recent_window
from tests import factories, usage_factories
from tests.db.page_client import signed_in, text

NOW = datetime(2026, 11, 22, 12, 40, 30, tzinfo=UTC)
NAMES = usage_charts.DirectionNames("down", "up")


def at(hour: int, minute: int) -> datetime:
    return NOW.replace(hour=hour, minute=minute, second=0)


def points(unit: timedelta, *down: int | None, last: datetime) -> list[UsagePoint]:
    """Return consecutive buckets, the last of which begins at `last`."""
    begins = [last - unit * ago for ago in reversed(range(len(down)))]
    return [
        UsagePoint(begin, None if each is None else OctetsByDirection(down4=each), lost=False)
        for begin, each in zip(begins, down, strict=True)
    ]


def test_five_minutes_in_which_a_gateway_was_read_for_the_last_time_are_a_gap_and_counted_in_the_sum(network: factories.Network) -> None:
    first = network.gateways[0]
    usage_factories.read([first], at(9, 0), at(12, 7))
    usage_factories.count_throughput(first, 4, at(12, 0), down=300_000_000)
    usage_factories.count_throughput(first, 4, at(12, 5), down=100_000_000)
    way, _six = usage_charts.list_gateway_throughput([first], build_recent_window(NOW, WindowPreset.HOUR, RATES))
    chart = way.draw(usage_charts.ThroughputMeasure.BITS).chart
    shown = dict(zip(chart.starts, chart.lines[0].values, strict=True))
    assert shown[at(12, 0)] == 8_000_000
    assert shown[at(12, 5)] is None and shown[at(12, 10)] is None
    assert way.octets == (400_000_000, 0)
    assert (way.has_gaps, way.read_until) == (True, at(12, 7))
    remarks = {row[2]: row[4:] for row in exports.iter_throughput_rows([way])}
    assert remarks[at(12, 0).isoformat()][-1] == ""
    assert remarks[at(12, 5).isoformat()] == ["2666666.7", "0.0", "333.3", "0.0", "a part was not read"]


def test_a_gateway_that_was_read_a_moment_ago_has_no_gap_and_no_words(network: factories.Network) -> None:
    first = network.gateways[0]
    usage_factories.read([first], at(9, 0), at(12, 39))
    usage_factories.count_throughput(first, 4, at(12, 30), down=300_000_000)
    way, _six = usage_charts.list_gateway_throughput([first], build_recent_window(NOW, WindowPreset.HOUR, RATES))
    assert (way.has_gaps, way.read_until) == (False, None)
    assert way.end == at(12, 35)


def test_a_reading_after_a_pause_within_one_bucket_leaves_no_gap(network: factories.Network) -> None:
    first = network.gateways[0]
    usage_factories.read([first], at(1, 0), at(9, 10))
    usage_factories.read([first], at(9, 20), at(12, 40))
    way, _six = usage_charts.list_gateway_throughput([first], build_recent_window(NOW, WindowPreset.WEEK, RATES))
    assert {step.start.hour: step.whole for step in way.steps if step.start >= at(1, 0)} == dict.fromkeys(range(1, 12), True)


@pytest.mark.parametrize(("unit", "preset"), [(FIVE_MINUTES, WindowPreset.HOUR), (HOUR, WindowPreset.WEEK)])
def test_five_minutes_or_an_hour_that_are_under_way_are_left_out_of_a_member_s_chart(unit: timedelta, preset: WindowPreset) -> None:
    begun = at(12, 0) if unit == HOUR else at(12, 40)
    chart = usage_charts.draw_usage(points(unit, 7, 8, 1, last=begun), build_recent_window(at(12, 44), preset), NAMES).chart
    assert (chart.lines[0].values, chart.end) == ([7, 8], begun)


def test_the_day_that_is_under_way_is_shown() -> None:
    chart = usage_charts.draw_usage(points(DAY, 7, 8, 1, last=at(0, 0)), build_recent_window(NOW, WindowPreset.MONTH), NAMES).chart
    assert chart.lines[0].values == [7, 8, 1]


def test_five_minutes_before_a_gap_were_read_in_part_and_are_a_gap_too() -> None:
    chart = usage_charts.draw_usage(
        points(FIVE_MINUTES, 7, 2, None, None, 9, 9, last=at(12, 30)), build_recent_window(NOW, WindowPreset.HOUR), NAMES
    ).chart
    assert chart.lines[0].values == [7, None, None, None, 9, 9]


def test_pages_say_until_when_was_read_if_that_is_long_ago(network: factories.Network) -> None:
    now = timezone.now()
    admin, resident = signed_in(network.admin), network.residents["m1"]
    usage_factories.read(network.gateways[:1], now - 3 * HOUR, now)
    usage_factories.read(network.gateways[1:], now - 3 * HOUR, now - HOUR)
    usage_factories.count_usage(resident.holding, now - 2 * HOUR, down=1000)
    assert text(admin.get("/traffic/")).count("read until <time") == 1
    of_member = f"/members/{resident.member.pk}/traffic/"
    assert "Last read " not in text(admin.get(of_member))  # the group's other gateway is still read


def test_a_member_s_traffic_says_when_no_gateway_has_been_read_for_long(network: factories.Network) -> None:
    now, resident = timezone.now(), network.residents["m1"]
    usage_factories.read(network.gateways, now - 3 * HOUR, now - HOUR)
    usage_factories.count_usage(resident.holding, now - 2 * HOUR, down=1000)
    page = text(signed_in(network.admin).get(f"/members/{resident.member.pk}/traffic/"))
    assert "Last read <time" in page
    assert "The last point is still growing." not in page
