from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.members.models import Member
from apps.network.models import Gateway, GatewayGroup
from apps.traffic.models import Tally
from apps.traffic.selectors import total_of
from apps.traffic.tallies import Counted, record
from tests import rows

START = datetime(2050, 1, 1, tzinfo=UTC)
M1 = ip_network("10.16.0.10/32")


def read(network: rows.Network, counters: Iterable[Counted]) -> None:
    for at, counted in enumerate(counters):
        record(gateway=network.gateways[0], readings={M1: counted}, at=START + timedelta(minutes=at))


def test_what_the_kernel_counted_is_the_members(network: rows.Network) -> None:
    read(network, [Counted(1, 100, 2, 200), Counted(3, 300, 4, 400)])
    total = total_of(network.residents["m1"].member)
    assert (total.up, total.down, total.since, total.last) == (300, 400, START, START + timedelta(minutes=1))


def test_the_same_reading_twice_adds_nothing(network: rows.Network) -> None:
    read(network, [Counted(1, 100, 2, 200)] * 2)
    assert total_of(network.residents["m1"].member).down == 200


def test_a_counter_that_began_anew_is_added_whole(network: rows.Network) -> None:
    read(network, [Counted(9, 900, 9, 900), Counted(1, 100, 9, 950)])
    total = total_of(network.residents["m1"].member)
    assert (total.up, total.down) == (1000, 950)


def test_an_address_that_nobody_holds_is_left_out(network: rows.Network) -> None:
    record(gateway=network.gateways[0], readings={ip_network("10.16.77.77/32"): Counted(1, 1, 1, 1)}, at=START)
    assert not Tally.objects.exists()


def test_both_families_and_both_gateways_add_up(network: rows.Network) -> None:
    for gateway, prefix in zip(network.gateways, ("10.16.0.10/32", "2001:db8:a0:10::/64"), strict=True):
        record(gateway=gateway, readings={ip_network(prefix): Counted(1, 1000, 1, 10)}, at=START)
    total = total_of(network.residents["m1"].member)
    assert (total.up, total.down) == (2000, 20)


def test_a_silent_member_has_no_row(network: rows.Network) -> None:
    assert total_of(network.residents["m2"].member).since is None


class Sums(TestCase):
    @classmethod
    def setUpTestData(cls) -> None:
        group = GatewayGroup.objects.create(name="Lindenhof")
        cls.gateway, cls.member = rows.gateway(group, "nat-1"), rows.member()
        rows.hold(cls.member, rows.pool(group, "private4", "10.16.0.0/12"), str(M1))

    gateway: ClassVar[Gateway]
    member: ClassVar[Member]

    @given(st.lists(st.tuples(st.integers(1, 10**12), st.booleans()), min_size=1, max_size=12))
    @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def test_the_sum_is_what_passed_whatever_was_reset(self, steps: list[tuple[int, bool]]) -> None:
        counter = passed = 0
        for at, (octets, reset) in enumerate(steps):
            counter = octets if reset and octets < counter else counter + octets
            passed += octets
            record(gateway=self.gateway, readings={M1: Counted(at + 1, counter, 0, 0)}, at=START + timedelta(seconds=at))
        assert total_of(self.member).up == passed


pytestmark = pytest.mark.django_db
