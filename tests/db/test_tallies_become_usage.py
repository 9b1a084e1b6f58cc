"""A database of before usage by time, or before weeks of it, is brought over with all that it had counted."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from apps.traffic import partitions, rollup
from apps.traffic.counter_collection import draw, record
from apps.traffic.models import Collected, Day, FourWeeks, LastCounts
from apps.traffic.selectors import top_talkers, total_of
from firewall.wire import Counts
from tests import factories
from tests.counter_factories import reading

pytestmark = pytest.mark.django_db

BEFORE = [("bans", "0007_listeners"), ("traffic", "0010_rate_limits")]
AFTER = [("bans", "0009_hits_without_counters"), ("traffic", "0023_today_and_weeks")]
TALLY = """
    INSERT INTO traffic_tally (gateway_id, holding_id, up_octets, up_packets, down_octets, down_packets, since, last,
        counter_up_octets, counter_up_packets, counter_down_octets, counter_down_packets)
    VALUES (%s, %s, 5000, 50, 7000, 70, now() - interval '1 day', now(), 3000, 30, 4000, 40)
"""


def migrate(to: list[tuple[str, str]]) -> None:
    """In the test's own transaction, which is taken back."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    MigrationExecutor(connection).migrate(to)


def test_what_was_counted_stays_and_the_next_reading_goes_on_from_it(network: factories.Network) -> None:
    nat_1, resident = network.gateways[0], network.residents["m1"]
    migrate(BEFORE)
    with connection.cursor() as cursor:
        for holding in (resident.holding, resident.prefix):
            cursor.execute(TALLY, (nat_1.pk, holding.pk))
    migrate(AFTER)
    assert Collected.objects.get().gateway == nat_1
    assert set(LastCounts.objects.values_list("set", "elements")) == {(name, 1) for name in ("up4", "down4", "up6_64", "down6_64")}
    kept = LastCounts.objects.get(set="up4")
    assert Counts(kept.elements, bytes(kept.keys), bytes(kept.packets), bytes(kept.octets), bytes(kept.owners)) == Counts(
        1, bytes((10, 16, 0, 10)), (30).to_bytes(8), (3000).to_bytes(8), b""
    )
    assert (total_of(resident.member).up, total_of(resident.member).down) == (10_000, 14_000)
    again = reading(1, up4={("10.16.0.10", 0): (31, 3100)})
    record(gateway=nat_1, ticket=draw(nat_1), reading=again, at=timezone.now())
    assert total_of(resident.member).up == 10_100


def test_days_of_before_there_were_weeks_are_added_up_by_the_next_look_and_no_sum_changes(network: factories.Network) -> None:
    now, holding = timezone.now(), network.residents["m1"].holding
    today, day = rollup.begin_of("day", now), rollup.UNITS[rollup.DAY]
    rollup.levels(now)
    partitions.ensure_between("day", today - 100 * day, today)
    counts = {"up_octets": 7, "up_packets": 1, "down_octets": 0, "down_packets": 0}
    Day.objects.bulk_create(Day(holding_id=holding.pk, bucket=today - ago * day, **counts) for ago in range(1, 101))
    migrate([("traffic", "0022_fair_share")])
    migrate([leaf for leaf in MigrationExecutor(connection).loader.graph.leaf_nodes() if leaf[0] == "traffic"])
    assert [each.up for each in top_talkers(today - 90 * day, now, now=now)] == [630]
    rollup.tick(now)
    assert FourWeeks.objects.count() > 2
    assert [each.up for each in top_talkers(today - 90 * day, now, now=now)] == [630]
