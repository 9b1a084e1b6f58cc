"""Counters of the kernel become sums, whatever happens to the counters."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_network

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.bans.hits import record
from apps.bans.models import BanHits, Direction
from apps.bans.selectors import most_hit
from apps.lib.fields import Prefix
from tests.rows import Network

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)
FIRST, SECOND = ip_network("203.0.113.1"), ip_network("2001:db8:66::/48")
ONE, TWO = (FIRST, Direction.BOTH), (SECOND, Direction.IN)
type Element = tuple[Prefix, Direction]


def known() -> dict[Element, tuple[int, int, datetime | None]]:
    return {(hits.prefix, Direction(hits.direction)): (hits.packets, hits.octets, hits.last_hit) for hits in BanHits.objects.all()}


def minutes(number: int) -> datetime:
    return NOON + timedelta(minutes=number)


def test_readings_add_up_over_a_reset(network: Network) -> None:
    nat1 = network.gateways[0]
    for minute, reading in enumerate([(10, 600), (15, 900), (2, 120), (2, 120)]):
        record(gateway=nat1, readings={ONE: reading}, at=minutes(minute))
    assert known() == {ONE: (17, 1020, minutes(2))}


def test_what_was_never_hit_has_no_row_and_a_known_one_can_fall_to_zero(network: Network) -> None:
    nat1 = network.gateways[0]
    record(gateway=nat1, readings={ONE: (5, 300), TWO: (0, 0)}, at=NOON)
    record(gateway=nat1, readings={ONE: (0, 0), TWO: (0, 0)}, at=minutes(1))
    record(gateway=nat1, readings={ONE: (5, 300)}, at=minutes(2))
    assert known() == {ONE: (10, 600, minutes(2))}


def test_a_reading_from_before_the_last_hit_changes_nothing(network: Network) -> None:
    nat1 = network.gateways[0]
    record(gateway=nat1, readings={ONE: (5, 300)}, at=minutes(1))
    record(gateway=nat1, readings={ONE: (3, 180)}, at=NOON)
    assert known() == {ONE: (5, 300, minutes(1))}


def test_each_gateway_counts_for_itself(network: Network) -> None:
    for gateway in network.gateways:
        record(gateway=gateway, readings={ONE: (5, 300)}, at=NOON)
    assert BanHits.objects.count() == 2


def test_a_prefix_counts_for_both_of_its_directions(network: Network) -> None:
    nat1 = network.gateways[0]
    record(gateway=nat1, readings={(FIRST, Direction.IN): (7, 70), (FIRST, Direction.OUT): (5, 50)}, at=NOON)
    record(gateway=nat1, readings={(FIRST, Direction.BOTH): (2, 20)}, at=minutes(1))
    [(prefix, hits)] = most_hit()
    assert (prefix, hits.packets, hits.octets, hits.last) == (FIRST, 14, 140, minutes(1))


step = st.tuples(st.sampled_from([ONE, TWO]), st.one_of(st.just("again"), st.just("reset"), st.integers(0, 9)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(st.lists(step, max_size=12))
def test_the_sum_is_what_passed_whatever_is_delivered_twice_or_reset(network: Network, steps: list[tuple[Element, str | int]]) -> None:
    BanHits.objects.all().delete()
    nat1 = network.gateways[0]
    counters, passed = {ONE: 0, TWO: 0}, {ONE: 0, TWO: 0}
    for minute, (prefix, what) in enumerate(steps):
        if what == "reset":
            counters[prefix] = 0
        elif isinstance(what, int):
            counters[prefix] += what
            passed[prefix] += what
        record(gateway=nat1, readings={prefix: (counters[prefix], 60 * counters[prefix])}, at=minutes(minute))
    sums = {prefix: (packets, octets) for prefix, (packets, octets, _last) in known().items()}
    assert sums == {prefix: (packets, 60 * packets) for prefix, packets in passed.items() if packets}
