"""Reading ban lists, bans and hits, in few queries."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.utils import timezone

from apps.bans import selectors, services
from apps.bans.hits import record_hits
from apps.bans.models import Ban, BanList, Direction
from tests.counter_factories import hit
from tests.factories import Network

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)


@pytest.fixture
def own() -> BanList:
    own = services.create_list(name="Own", by=None)
    for prefix, comment in (("203.0.113.0/24", "scans"), ("203.0.113.9", "mails"), ("203.0.114.9", ""), ("2001:db8:66::/48", "Scans v6")):
        services.ban_prefix(list=own, prefix=prefix, comment=comment, author=None)
    return own


def list_found(own: BanList, search: str) -> list[str]:
    return [str(ban.prefix) for ban in selectors.list_bans(own, search)]


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("203.0.113.9", ["203.0.113.0/24", "203.0.113.9/32"]),
        ("203.0.113.77", ["203.0.113.0/24"]),
        ("203.0.0.0/16", ["203.0.113.0/24", "203.0.113.9/32", "203.0.114.9/32"]),
        ("2001:db8:66:1::5", ["2001:db8:66::/48"]),
        ("192.0.2.1", []),
        ("scans", ["203.0.113.0/24", "2001:db8:66::/48"]),
        ("100%", []),
        ("\0", ["203.0.113.0/24", "203.0.113.9/32", "203.0.114.9/32", "2001:db8:66::/48"]),
    ],
)
def test_a_search_finds_what_covers_an_address_lies_in_a_prefix_or_says_a_word(own: BanList, search: str, expected: list[str]) -> None:
    assert list_found(own, search) == expected


def test_what_already_covers_a_prefix_is_named_unless_off_or_over(own: BanList) -> None:
    prefix = ip_network("203.0.113.9")
    assert [str(ban) for ban in selectors.list_covering_bans(prefix)] == ["203.0.113.0/24", "203.0.113.9/32"]
    Ban.objects.filter(prefix=ip_network("203.0.113.0/24")).update(expires=timezone.now() - timedelta(days=1))
    assert [str(ban) for ban in selectors.list_covering_bans(prefix)] == ["203.0.113.9/32"]
    BanList.objects.update(enabled=False)
    assert not selectors.list_covering_bans(prefix).exists()


def test_hits_are_summed_over_gateways(own: BanList, network: Network) -> None:
    nine = ip_network("203.0.113.9")
    record_hits(gateway=network.gateways[0], passed=hit({(nine, Direction.BOTH): (5, 300)}), at=NOON)
    record_hits(gateway=network.gateways[1], passed=hit({(nine, Direction.BOTH): (7, 500)}), at=NOON + timedelta(hours=1))
    expected = selectors.Hits(12, 800, NOON + timedelta(hours=1))
    assert selectors.map_hits(selectors.list_bans(own)) == {nine: expected}
    assert selectors.list_most_hit_prefixes() == [(nine, expected)]


def test_lists_come_with_counts_and_hits_in_two_queries(own: BanList, network: Network, django_assert_num_queries: Any) -> None:
    services.create_list(name="Empty", by=None)
    Ban.objects.filter(prefix=ip_network("203.0.114.9")).update(expires=timezone.now() - timedelta(days=1))
    nat1, nine = network.gateways[0], ip_network("203.0.113.9")
    record_hits(gateway=nat1, passed=hit({(nine, Direction.BOTH): (5, 300), (ip_network("192.0.2.1"), Direction.IN): (9, 900)}), at=NOON)
    with django_assert_num_queries(2):
        rows = [(each.list.name, each.bans, each.hits) for each in selectors.list_ban_lists()]
    assert rows == [("Empty", 0, selectors.Hits()), ("Own", 3, selectors.Hits(5, 300, NOON))]
