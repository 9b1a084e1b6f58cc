"""Hits of bans: what was counted between two readings is added to sums."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_network

import pytest

from apps.bans.hits import record_hits
from apps.bans.models import BanHits, Direction
from apps.bans.selectors import list_most_hit_prefixes
from apps.lib.fields import Prefix
from tests.counter_factories import hit
from tests.factories import Network

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)
FIRST, SECOND = ip_network("203.0.113.1"), ip_network("2001:db8:66::/48")
ONE, TWO = (FIRST, Direction.BOTH), (SECOND, Direction.IN)
type Element = tuple[Prefix, Direction]


def read_hits() -> dict[Element, tuple[int, int, datetime | None]]:
    return {(hits.prefix, Direction(hits.direction)): (hits.packets, hits.octets, hits.last_hit) for hits in BanHits.objects.all()}


def minutes(number: int) -> datetime:
    return NOON + timedelta(minutes=number)


def test_ban_hits_add_up_and_keep_the_time_of_the_last_one(network: Network) -> None:
    nat1 = network.gateways[0]
    record_hits(gateway=nat1, passed=hit({ONE: (10, 600), TWO: (1, 60)}), at=NOON)
    record_hits(gateway=nat1, passed=hit({ONE: (5, 300)}), at=minutes(1))
    record_hits(gateway=nat1, passed={}, at=minutes(2))
    assert read_hits() == {ONE: (15, 900, minutes(1)), TWO: (1, 60, NOON)}


def test_a_clock_that_was_set_back_does_not_take_the_last_hit_back(network: Network) -> None:
    nat1 = network.gateways[0]
    record_hits(gateway=nat1, passed=hit({ONE: (5, 300)}), at=minutes(1))
    record_hits(gateway=nat1, passed=hit({ONE: (3, 180)}), at=NOON)
    assert read_hits() == {ONE: (8, 480, minutes(1))}


def test_each_gateway_counts_for_itself(network: Network) -> None:
    for gateway in network.gateways:
        record_hits(gateway=gateway, passed=hit({ONE: (5, 300)}), at=NOON)
    assert BanHits.objects.count() == 2


def test_a_prefix_counts_for_both_of_its_directions(network: Network) -> None:
    nat1 = network.gateways[0]
    record_hits(gateway=nat1, passed=hit({(FIRST, Direction.IN): (7, 70), (FIRST, Direction.OUT): (5, 50)}), at=NOON)
    record_hits(gateway=nat1, passed=hit({(FIRST, Direction.BOTH): (2, 20)}), at=minutes(1))
    [(prefix, hits)] = list_most_hit_prefixes()
    assert (prefix, hits.packets, hits.octets, hits.last) == (FIRST, 14, 140, minutes(1))
