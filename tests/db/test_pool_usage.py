"""Port blocks of public pools: how many are in use, and the need before they are used up."""

from datetime import timedelta
from ipaddress import ip_address

import pytest
from django.utils import timezone

from apps.desk.needs.collection import list_attention_items
from apps.gateways.health.selectors import list_findings
from apps.nat import services
from apps.nat.pool_usage import list_block_usages
from apps.nat.services import add_forward
from apps.network.models import Gauge, Holding, Pool
from apps.network.selectors import list_pools
from tests import factories
from tests.health_situations import build_counters, store_reading

pytestmark = pytest.mark.django_db
BLOCK = 16_384  # three of each address


@pytest.fixture
def network() -> factories.Network:
    return factories.network()


@pytest.fixture
def small(network: factories.Network) -> Pool:
    """A pool of two addresses, which have six blocks together."""
    return factories.pool(network.group, "public4", "192.0.2.0/30", sharing="blocks", block_size=BLOCK)


def count_free() -> int:
    [usage] = list_block_usages(list_pools())
    return usage.free


def add_members(network: factories.Network, pool: Pool, number: int) -> list[Holding]:
    made = []
    for _ in range(number):
        at = Holding.objects.count() + 1
        made.append(factories.make_holding(factories.member(f"New {at}"), network.private, f"10.16.2.{at}/32"))
        services.map_address(holding=made[-1], pool=pool, by=network.admin)
    return made


def list_needs(pool: Pool) -> list[tuple[str, str]]:
    return [(each.what, each.evidence) for each in list_attention_items(timezone.now()) if each.key == f"pool-{pool.pk}"]


def test_each_member_has_a_block_until_it_leaves_the_pool(network: factories.Network, small: Pool) -> None:
    assert [(each.pool, each.blocks, each.free) for each in list_block_usages(list_pools())] == [(small, 6, 6)]
    first, _second = add_members(network, small, 2)
    assert count_free() == 4
    services.map_address(holding=first, pool=network.public, by=network.admin)
    assert count_free() == 5


def test_a_forward_takes_the_block_that_it_is_in_and_none_below_all_blocks(network: factories.Network, small: Pool) -> None:
    [holding] = add_members(network, small, 1)
    for port in (2222, 50_000, 50_001):
        add_forward(
            holding=holding, public=ip_address("192.0.2.2"), protocol="tcp", public_port=port, private_port=22, purpose="", by=network.admin
        )
    assert count_free() == 4


def test_the_dashboard_says_before_that_blocks_are_used_up_and_how_many_members_can_be_added(network: factories.Network) -> None:
    pool = factories.pool(network.group, "public4", "192.0.2.0/29", sharing="blocks", block_size=BLOCK)
    add_members(network, pool, 16)
    assert (count_free(), list_needs(pool)) == (2, [])
    add_members(network, pool, 1)
    cure = "Enlarge the pool, add another one, or choose smaller blocks for it."
    title = f"The port blocks of {pool.name} are nearly used up"
    assert list_needs(pool) == [(title, f"1 of 18 blocks is free: so many members can still be added. {cure}")]
    add_members(network, pool, 1)
    assert list_needs(pool) == [(title, f"All 18 blocks are in use: a further member gets no public IPv4 address from it. {cure}")]


def test_a_retired_pool_and_one_without_blocks_are_not_measured(small: Pool) -> None:
    for changed in ({"retired": timezone.now()}, {"retired": None, "sharing": "shared", "block_size": None}):
        Pool.objects.filter(pk=small.pk).update(**changed)
        assert list_block_usages(list_pools()) == []


@pytest.mark.parametrize(("minutes", "rules"), [(1, ["set_full"]), (9, [])])
def test_a_set_of_limits_that_is_nearly_full_is_a_finding_while_its_gauge_is_fresh(
    network: factories.Network, minutes: int, rules: list[str]
) -> None:
    gateway, now = network.gateways[0], timezone.now()
    at = now - timedelta(minutes=minutes)
    Gauge.objects.create(gateway=gateway, name="source_rate4_9_9", used=64_000, size=65_536, at=at)
    for age in (20, 10, 0):
        read = now - timedelta(seconds=age)
        store_reading(gateway, build_counters(1000 - age, read.timestamp()), read)
    assert [each.rule for each in list_findings(now)] == rules
