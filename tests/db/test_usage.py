"""Usage over time: rolled up, kept as long as the settings say, and read as charts and lists need it."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from django.db import connection
from django.db.models import F

from apps.members.models import Room, Site
from apps.network.models import Holding
from apps.preferences.services import change_settings
from apps.traffic import partitions, rollup
from apps.traffic.counter_collection import draw_ticket, record_reading
from apps.traffic.models import Coverage, Day, FiveMinutes, FourWeeks, Hour, Level, Today, Week
from apps.traffic.rollup_planner import find_finest_unit
from apps.traffic.selectors import (
    OctetsByDirection,
    UsageGrouping,
    build_member_series,
    compare_usage,
    get_all_time_usage,
    list_grouped_usage,
    list_throughput,
    list_top_talkers,
    sum_member_usage,
)
from apps.traffic.usage_writer import get_open_bucket
from tests import factories, usage_factories
from tests.counter_factories import reading

pytestmark = pytest.mark.django_db

START = datetime(2050, 1, 3, tzinfo=UTC)  # a Monday
FIVE, HOUR, DAY = (rollup.UNITS[name] for name in (Level.Name.FIVE_MINUTES, Level.Name.HOUR, Level.Name.DAY))


class Clock:
    """Clock that moves in steps, at which nat-1 can be read."""

    def __init__(self, network: factories.Network) -> None:
        self.network, self.now, self.sequence = network, START, 0
        self.m1, self.m2 = (("10.16.0.10", network.residents["m1"].holding.pk), ("10.16.0.11", network.residents["m2"].holding.pk))
        self.six = ("2001:db8:a0:10::/64", network.residents["m1"].prefix.pk)
        self.sums = {"up4": {self.m1: 0, self.m2: 0}, "down4": {self.m1: 0}, "down6_64": {self.six: 0}}

    def read(self, boot: str = "boot", **passed: int) -> None:
        """Record a reading. `m1`, `m2`: octets these members sent; `down`, `six`: octets m1 received by IPv4 and IPv6."""
        self.sequence += 1
        for name, element in (("up4", self.m1), ("up4", self.m2), ("down4", self.m1), ("down6_64", self.six)):
            key = {("up4", self.m1): "m1", ("up4", self.m2): "m2", ("down4", self.m1): "down", ("down6_64", self.six): "six"}[name, element]
            self.sums[name][element] += passed.get(key, 0)
        told = {name: {each: (octets, octets) for each, octets in some.items() if octets} for name, some in self.sums.items()}
        nat_1 = self.network.gateways[0]
        record_reading(
            gateway=nat_1,
            ticket=draw_ticket(nat_1),
            reading=reading(self.sequence, boot=boot, up4=told["up4"], down4=told["down4"], down6_64=told["down6_64"]),
            at=self.now,
        )

    def go_on(self, by: timedelta) -> None:
        self.now += by


@pytest.fixture
def clock(network: factories.Network) -> Clock:
    return Clock(network)


def two_days(clock: Clock) -> None:
    """Pass two days. Every 15 minutes m1 sends 10 octets and m2 sends 1, and m1 receives 2 by IPv4 and 3 by IPv6."""
    for _ in range(2 * 24 * 4):
        clock.read(m1=10, m2=1, down=2, six=3)
        clock.go_on(timedelta(minutes=15))
        rollup.run_maintenance(clock.now)


def test_what_was_rolled_up_says_the_same_as_what_it_came_from_at_every_level(clock: Clock) -> None:
    two_days(clock)
    member = clock.network.residents["m1"].member
    end = clock.now
    for unit, number in ((FIVE, 576), (HOUR, 48), (DAY, 2)):
        points = build_member_series(member, START, end, unit, now=end)
        assert len(points) == number
        found = [point.octets for point in points if point.octets]
        assert tuple(map(sum, zip(*found, strict=True))) == (1920, 384, 0, 576)
    assert (Hour.objects.count(), Day.objects.count()) == (3 * 47, 3)  # the last hour and the last day have not settled
    total = get_all_time_usage(member)
    assert (total.up, total.down, total.since) == (1920, 960, START)


def test_windows_that_begin_and_end_anywhere_are_whole_wherever_they_are_kept(clock: Clock) -> None:
    two_days(clock)
    member = clock.network.residents["m1"].member
    since, until = START + timedelta(minutes=35), START + timedelta(days=1, hours=3, minutes=20)
    assert sum_member_usage(member, since, until, now=clock.now) == OctetsByDirection(10 * 107, 2 * 107, 0, 3 * 107)
    assert compare_usage(member, START + DAY, START + 2 * DAY, now=clock.now) == (OctetsByDirection(960, 192, 0, 288),) * 2


def test_the_greatest_talkers_and_the_sums_by_where_they_live(clock: Clock) -> None:
    site = Site.objects.create(name="House A", code="A")
    first, second = (clock.network.residents[name].member for name in ("m1", "m2"))
    first.room = Room.objects.create(site=site, floor=1, name="101")
    first.save()
    two_days(clock)
    window = START, START + 2 * DAY
    talkers = [(each.member, each.up, each.down) for each in list_top_talkers(*window, now=clock.now)]
    assert talkers == [
        (first.pk, 1920, 960),
        (second.pk, 192, 0),
    ]
    assert len(list_top_talkers(*window, now=clock.now, limit=1)) == 1
    assert [(each.name, each.up, each.members) for each in list_grouped_usage(UsageGrouping.ROOM, *window, now=clock.now)] == [
        ("A-101", 1920, 1),
        (None, 192, 1),
    ]
    assert [each.name for each in list_grouped_usage(UsageGrouping.SITE, *window, now=clock.now)] == ["House A", None]
    assert [(each.up, each.down, each.members) for each in list_grouped_usage(UsageGrouping.TARIFF, *window, now=clock.now)] == [
        (2112, 960, 2)
    ]
    [four, six] = list_throughput([clock.network.gateways[0].pk], START, clock.now, 7 * DAY)
    assert (four.octets, six.octets) == ((2112, 384), (0, 576))


def test_every_window_adds_up_to_what_was_counted_in_it_whatever_was_rolled_up_meanwhile(clock: Clock) -> None:
    """Reads over 60 days with roll-ups at random times: windows of whole hours, and of five minutes where these are kept."""
    random = Random(3)
    resident = clock.network.residents["m1"]
    rollup.ensure_levels(START)
    counted: list[tuple[datetime, int]] = []
    at, end = START, START + timedelta(days=60, hours=13, minutes=41)
    while at < end:
        counted.append((at, 1 << random.randrange(40)))
        usage_factories.count_usage(resident.holding, at, up=counted[-1][1])
        if random.random() < 0.4:
            rollup.run_maintenance(at + random.choice([timedelta(0), HOUR, 3 * HOUR]))
        at = max(at + timedelta(minutes=random.choice([5, 55, 700, 2000])), rollup.lock_oldest_open_bucket(at))
    rollup.run_maintenance(end)
    levels = dict(Level.objects.values_list("name", "complete_until"))
    assert levels["today"] == START + timedelta(days=60, hours=13, minutes=35) and levels["fourweeks"] > START + 28 * DAY
    assert Week.objects.exists() and FourWeeks.objects.exists() and Today.objects.exists()
    for _ in range(80):
        fine = random.random() < 0.3
        unit, span = (FIVE, 7 * DAY) if fine else (HOUR, end - START + DAY)
        since, until = sorted(end - unit * random.randrange(span // unit) - (end - START) % unit for _ in range(2))
        if random.random() < 0.3:
            until = end
        expected = sum(octets for at, octets in counted if since <= at < until)
        assert sum_member_usage(resident.member, since, until, now=end).up == expected, (since, until)
        assert sum(each.up for each in list_top_talkers(since, until, now=end)) == expected
    total = get_all_time_usage(resident.member)
    assert (total.up, total.since) == (sum(octets for _, octets in counted), START)
    days = build_member_series(resident.member, START, end, DAY, now=end)
    assert sum(each.octets.up for each in days if each.octets) == sum(octets for _, octets in counted)


@pytest.mark.parametrize("kept", [31, 60, 365])
def test_windows_take_nothing_from_before_they_begin_wherever_less_than_that_is_kept(clock: Clock, kept: int) -> None:
    change_settings(version=0, values={"keep_days_days": kept}, by=None)
    resident, today = clock.network.residents["m1"], START + timedelta(days=kept + 70)
    end = today + timedelta(hours=12)
    usage_factories.count_days(resident.holding, START, end)
    rollup.run_maintenance(end)
    for days in range(kept - 1, kept - 29, -1):
        since = today - timedelta(days=days)
        assert sum_member_usage(resident.member, since, end, now=end).up == days
        assert sum(each.up for each in list_top_talkers(since, end, now=end)) == days
    everything = sum_member_usage(resident.member, START, end, now=end).up
    assert kept <= everything == Day.objects.count() == sum(each.up for each in list_top_talkers(START, end, now=end))


def test_a_gap_is_not_zero_and_what_a_boot_took_is_said(clock: Clock) -> None:
    clock.read(m1=10)
    clock.go_on(timedelta(hours=1))
    clock.sums = {name: dict.fromkeys(some, 0) for name, some in clock.sums.items()}
    clock.read(boot="other", m1=7)
    clock.go_on(FIVE)
    clock.read(boot="other")
    points = build_member_series(clock.network.residents["m1"].member, START - HOUR, START + 2 * HOUR, timedelta(minutes=20), now=clock.now)
    told = [(point.octets.up if point.octets else None, point.lost) for point in points]
    assert told == [(None, False)] * 3 + [(10, True), (None, True), (None, True), (7, False)]


def test_what_was_lost_is_said_also_where_the_window_begins_in_the_pause(clock: Clock) -> None:
    nat_1, nat_2 = clock.network.gateways
    usage_factories.read([nat_2], START - DAY, START + DAY)
    usage_factories.read([nat_1], START - DAY, START)
    usage_factories.read([nat_1], START + 6 * HOUR, START + DAY, carried=False)
    points = build_member_series(clock.network.residents["m1"].member, START + 2 * HOUR, START + 8 * HOUR, HOUR, now=START + DAY)
    assert [point.lost for point in points] == [True] * 4 + [False] * 2


def test_what_was_lost_a_moment_ago_is_said_at_once(clock: Clock) -> None:
    clock.read(m1=10)
    clock.go_on(timedelta(minutes=2))
    clock.read(boot="other")
    points = build_member_series(clock.network.residents["m1"].member, START, START + FIVE, FIVE, now=clock.now + timedelta(minutes=1))
    assert [point.lost for point in points] == [True]


def test_expired_usage_is_dropped_only_after_it_was_rolled_up(clock: Clock) -> None:
    clock.read(m1=10)
    clock.go_on(timedelta(days=8))
    rollup.ensure_levels(clock.now)
    rollup.drop_expired_usage(clock.now)
    assert FiveMinutes.objects.count() == 1
    rollup.run_maintenance(clock.now)
    assert (FiveMinutes.objects.count(), Hour.objects.count(), Day.objects.count()) == (0, 1, 1)
    clock.go_on(timedelta(days=91))
    rollup.run_maintenance(clock.now)
    assert (Hour.objects.count(), Day.objects.count()) == (0, 1)
    assert get_all_time_usage(clock.network.residents["m1"].member).up == 10
    clock.go_on(timedelta(days=800))
    rollup.run_maintenance(clock.now)
    assert Day.objects.count() == 0


def test_a_reading_that_comes_after_its_hour_was_rolled_up_is_not_lost(clock: Clock) -> None:
    clock.read(m1=10)
    late = clock.now + timedelta(minutes=59)
    clock.go_on(timedelta(hours=2))
    rollup.run_maintenance(clock.now)
    clock.now = late
    clock.read(m1=5)
    assert get_all_time_usage(clock.network.residents["m1"].member).up == 15
    open_since = START + timedelta(hours=1, minutes=55)
    assert sorted(FiveMinutes.objects.values_list("bucket", "up_octets")) == [(START, 10), (open_since, 5)]


def test_a_clock_that_jumped_ahead_for_a_while_moves_no_later_reading_to_another_day(clock: Clock) -> None:
    """A worker whose clock is a day ahead rolls up once, and stores a reading of one octet."""
    member = clock.network.residents["m1"].member
    clock.go_on(timedelta(hours=12, minutes=7))
    clock.read(m1=1000)
    clock.go_on(DAY)
    rollup.run_maintenance(clock.now)
    clock.read(m1=1)
    clock.go_on(-DAY)
    rollup.run_maintenance(clock.now)
    counted = 1000
    for _ in range(23 * 6):
        clock.go_on(timedelta(minutes=10))
        clock.read(m1=10)
        counted += 10
        rollup.run_maintenance(clock.now)
        assert FiveMinutes.objects.filter(bucket=rollup.compute_bucket_start("fiveminutes", clock.now), up_octets=10).exists()
        assert sum_member_usage(member, START, clock.now + FIVE, now=clock.now).up == counted
    assert get_all_time_usage(member).up == counted + 1


def test_five_minutes_are_kept_again_after_a_clock_was_ahead_for_weeks(clock: Clock) -> None:
    clock.read(m1=10)
    for now in (clock.now + 30 * DAY, clock.now):
        rollup.run_maintenance(now)
    clock.go_on(24 * DAY)
    assert find_finest_unit(clock.now - 2 * DAY, clock.now) == FIVE


def test_readings_go_on_being_one_stretch_after_a_clock_jumped_ahead(clock: Clock) -> None:
    clock.read()
    clock.go_on(DAY)
    clock.read()
    clock.go_on(-DAY)
    for _ in range(10):
        clock.go_on(timedelta(minutes=1))
        clock.read()
    stretches = Coverage.objects.order_by("since").values_list("since", "until")
    assert list(stretches) == [(START, clock.now), (START + DAY, START + DAY)]


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_lost_or_counted_twice_however_clocks_jump(clock: Clock, seed: int) -> None:
    """Workers read and roll up for 40 days; now and then the clock of one is ahead, at last by longer than five minutes are kept."""
    random = Random(seed)
    holding, member = clock.network.residents["m1"].holding, clock.network.residents["m1"].member
    rollup.ensure_levels(START)
    total, now = 0, START
    while now < START + 40 * DAY:
        ahead = random.choice([timedelta(0)] * 6 + [FIVE, 2 * HOUR, DAY, 3 * DAY])
        if random.random() < 0.5:
            rollup.run_maintenance(now + ahead)
        else:
            octets = 1 << random.randrange(40)
            add_octets(holding, get_open_bucket(now + ahead), octets)
            total += octets
        assert get_all_time_usage(member).up == total
        now += timedelta(minutes=random.choice([1, 7, 55, 700, 1500]))
    rollup.run_maintenance(now + 30 * DAY)
    rollup.run_maintenance(now)
    assert max(Level.objects.values_list("complete_until", flat=True)) <= now
    rollup.run_maintenance(now + 4 * DAY)
    assert get_all_time_usage(member).up == total


def test_a_clock_that_is_years_behind_reopens_nothing(clock: Clock) -> None:
    two_days(clock)
    before = list(Level.objects.order_by("name").values_list("name", "complete_until"))
    rollup.run_maintenance(clock.now - 800 * DAY)
    assert list(Level.objects.order_by("name").values_list("name", "complete_until")) == before


def add_octets(holding: Holding, bucket: datetime, octets: int) -> None:
    partitions.ensure_partition("fiveminutes", bucket)
    row, _new = FiveMinutes.objects.get_or_create(
        holding_id=holding.pk, bucket=bucket, defaults=dict.fromkeys(("up_octets", "up_packets", "down_octets", "down_packets"), 0)
    )
    FiveMinutes.objects.filter(pk=row.pk).update(up_octets=F("up_octets") + octets, up_packets=F("up_packets") + 1)


def test_partitions_are_there_before_they_are_needed_and_are_made_when_they_are_not(clock: Clock) -> None:
    far = START + timedelta(days=400)
    clock.now = far
    clock.read(m1=1)
    assert FiveMinutes.objects.get().bucket == far
    rollup.run_maintenance(START)
    names = {name for level in Level.Name for name, _ in partitions.iter_partitions(level)}
    assert {"traffic_fiveminutes_20500105", "traffic_hour_20500103", "traffic_day_20500101"} <= names
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_partitioned_table WHERE partrelid = 'traffic_day'::regclass")
        assert cursor.fetchone() == (1,)
