"""Services that give addresses, take them back, and change pools."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from ipaddress import ip_network

import pytest
from django.conf import LazySettings
from django.db import IntegrityError, connection, connections, transaction
from django.utils import timezone

from apps.lib import dependents
from apps.lib.errors import Conflict, Problem
from apps.members import services as people
from apps.members.models import Device, Member
from apps.nat.models import PortForward
from apps.nat.selectors import list_forwards
from apps.nat.services import add_forward
from apps.network import services
from apps.network.models import Holding, Pool
from apps.network.selectors import count_assigned_shares, count_member_shares, find_free_prefix, list_holdings_at, list_previous_holders
from tests import factories


def give(network: factories.Network, who: Member, pool: Pool, prefix: str | None = None) -> Holding:
    return services.assign_address(member=who, pool=pool, prefix=ip_network(prefix) if prefix else None, by=network.admin)


def open_port(network: factories.Network, host: str, port: int) -> PortForward:
    holding = network.residents[host].holding
    return add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=443, by=network.admin)


# --- Giving


def test_the_next_free_address_follows_the_highest_ever_held(network: factories.Network) -> None:
    assert give(network, factories.member("New"), network.private).address == "10.16.0.14"
    assert give(network, factories.member("Newer"), network.private).address == "10.16.0.15"


def test_the_next_free_prefix_follows_the_highest_ever_held(network: factories.Network) -> None:
    assert give(network, factories.member("New"), network.prefixes).address == "2001:db8:a0:14::/64"


def test_the_first_of_an_empty_pool_is_neither_its_network_nor_its_broadcast_address(network: factories.Network) -> None:
    pool = factories.pool(network.group, "private4", "192.168.0.0/30")
    held = [give(network, factories.member(), pool).address for _ in range(2)]
    assert held == ["192.168.0.1", "192.168.0.2"]
    with pytest.raises(Problem, match="is full"):
        give(network, factories.member(), pool)


def test_a_pool_of_two_addresses_has_no_edges(network: factories.Network) -> None:
    pool = factories.pool(network.group, "private4", "192.168.0.0/31")
    assert [give(network, factories.member(), pool).address for _ in range(2)] == ["192.168.0.0", "192.168.0.1"]
    assert find_free_prefix(pool) is None


@pytest.mark.parametrize(("prefix", "length", "first", "last"), [
    ("2001:db8:b0::/62", 64, "2001:db8:b0::/64", "2001:db8:b0:3::/64"),
    ("2001:db8:b0::/54", 56, "2001:db8:b0::/56", "2001:db8:b0:300::/56"),
    ("ffff:ffff:ffff:fffc::/62", 64, "ffff:ffff:ffff:fffc::/64", "ffff:ffff:ffff:ffff::/64"),
])  # fmt: skip
def test_prefixes_are_given_to_the_last_one(network: factories.Network, prefix: str, length: int, first: str, last: str) -> None:
    pool = factories.pool(network.group, "prefix6", prefix, member_length=length)
    held = [give(network, factories.member(), pool).address for _ in range(count_member_shares(pool))]
    assert (held[0], held[-1], len(set(held))) == (first, last, count_member_shares(pool))
    assert find_free_prefix(pool) is None


def test_gaps_are_used_only_when_nothing_is_left_above(network: factories.Network) -> None:
    pool = factories.pool(network.group, "private4", "192.168.0.0/29")
    holdings = [give(network, factories.member(), pool) for _ in range(4)]
    services.release_holding(holding=holdings[1], by=network.admin)
    assert [give(network, factories.member(), pool).address for _ in range(3)] == ["192.168.0.5", "192.168.0.6", "192.168.0.2"]


def test_the_lowest_address_is_a_gap_too(network: factories.Network) -> None:
    pool = factories.pool(network.group, "private4", "192.168.0.0/30")
    first, _second = (give(network, factories.member(), pool) for _ in range(2))
    services.release_holding(holding=first, by=network.admin)
    assert find_free_prefix(pool) == first.prefix


def test_an_address_that_somebody_gets_later_is_not_free_now(network: factories.Network) -> None:
    pool = factories.pool(network.group, "private4", "192.168.0.0/30")
    factories.make_holding(factories.member(), pool, "192.168.0.1", valid=(timezone.now() + timedelta(days=1), None))
    assert give(network, factories.member(), pool).address == "192.168.0.2"
    assert find_free_prefix(pool) is None


def test_a_taken_address_names_its_holder_and_a_free_one(network: factories.Network) -> None:
    resident = network.residents["m1"]
    with pytest.raises(Problem) as caught:
        give(network, factories.member("New"), network.private, "10.16.0.10")
    assert str(caught.value) == f"10.16.0.10 is held by Resident of m1 (M-{resident.member.number}). 10.16.0.14 is free."
    assert (caught.value.fieldname, caught.value.offer, caught.value.culprit) == ("prefix", "10.16.0.14", resident.holding)


def test_the_chosen_address_is_given(network: factories.Network) -> None:
    holding = give(network, factories.member("New"), network.private, "10.17.3.4")
    assert (holding.address, holding.kind, holding.valid.upper) == ("10.17.3.4", "private4", None)


@pytest.mark.parametrize(("prefix", "says"), [
    ("192.168.0.1", "is not in the pool"),
    ("2001:db8:a0:99::/64", "is not in the pool"),
    ("10.16.0.0/24", "Members get a /32 from the pool"),
    ("10.16.0.0", "first or last address"),
    ("10.31.255.255", "first or last address"),
])  # fmt: skip
def test_an_address_that_is_not_the_pools_is_refused_and_another_offered(network: factories.Network, prefix: str, says: str) -> None:
    with pytest.raises(Problem, match=says) as caught:
        give(network, factories.member("New"), network.private, prefix)
    assert (caught.value.fieldname, caught.value.offer) == ("prefix", "10.16.0.14")


@pytest.mark.parametrize("prefix", [None, "198.51.100.9"])
def test_public_addresses_are_not_held(network: factories.Network, prefix: str | None) -> None:
    with pytest.raises(Problem, match="is a public pool: members get its addresses by NAT mapping"):
        give(network, factories.member("New"), network.public, prefix)


def test_whoever_has_left_is_given_nothing(network: factories.Network) -> None:
    with pytest.raises(Problem, match="has left"):
        give(network, factories.member("Gone", state="left"), network.private)


def test_a_device_of_somebody_else_is_refused(network: factories.Network) -> None:
    device = Device.objects.get(member=network.residents["m1"].member)
    with pytest.raises(Problem, match="belongs to Resident of m1"):
        services.assign_address(member=factories.member("New"), pool=network.private, device=device, by=network.admin)


@pytest.mark.django_db(transaction=True)
def test_many_at_once_get_one_address_each(network: factories.Network) -> None:
    members = [factories.member(f"Number {number}") for number in range(12)]

    def want(who: Member) -> str:
        try:
            return give(network, who, network.private).address
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        held = list(pool.map(want, members))
    assert sorted(held) == sorted(f"10.16.0.{14 + number}" for number in range(12))


# --- Taking back


def test_releasing_ends_what_hangs_on_it_and_says_how_much(network: factories.Network) -> None:
    resident = network.residents["m1"]
    open_port(network, "m1", 443)
    open_port(network, "m1", 444)
    assert dependents.describe_ended(dependents.count_dependents(Holding, [resident.holding.pk])) == "2 port forwards and 1 NAT mapping"
    ended = services.release_holding(holding=resident.holding, by=network.admin)
    assert dependents.describe_ended(ended) == "2 port forwards and 1 NAT mapping"
    assert not list_forwards().filter(holding=resident.holding).exists()
    resident.holding.refresh_from_db()
    assert resident.holding.valid.upper is not None


def test_releasing_twice_is_harmless(network: factories.Network) -> None:
    resident = network.residents["m1"]
    services.release_holding(holding=resident.holding, by=network.admin)
    resident.holding.refresh_from_db()
    until = resident.holding.valid.upper
    assert services.release_holding(holding=resident.holding, by=network.admin) == []
    resident.holding.refresh_from_db()
    assert resident.holding.valid.upper == until


def test_a_released_address_is_free_for_somebody_else_who_learns_who_had_it(network: factories.Network) -> None:
    services.release_holding(holding=network.residents["m1"].holding, by=network.admin)
    holding = give(network, factories.member("New"), network.private, "10.16.0.10")
    before = list_previous_holders([holding])[holding.pk]
    assert (before.name, before.member) == ("Resident of m1", network.residents["m1"].member.pk)
    assert list_holdings_at(holding.prefix[0], timezone.now()).get() == holding


def test_without_a_hold_leaving_ends_everything_and_activating_gives_nothing_back(
    network: factories.Network, settings: LazySettings
) -> None:
    settings.HOLD_DAYS = 0
    resident = network.residents["m1"]
    open_port(network, "m1", 443)
    ended = people.end_membership(member=resident.member, by=network.admin)
    assert dependents.describe_ended(ended) == "1 port forward, 1 NAT mapping and 2 addresses and prefixes"
    assert people.end_membership(member=resident.member, by=network.admin) == []
    people.activate_member(member=resident.member, by=network.admin)
    resident.member.refresh_from_db()
    assert resident.member.state == Member.State.ACTIVE
    assert not Holding.objects.filter(member=resident.member, valid__endswith=None).exists()


def test_activating_asks_anew_whether_the_gateways_have_it(network: factories.Network) -> None:
    who = factories.member("Waiting", state="pending")
    holding = give(network, who, network.private)
    people.activate_member(member=who, by=network.admin)
    again = Holding.objects.get(pk=holding.pk)
    assert again.changed_at > holding.changed_at


def test_what_would_begin_later_never_begins_after_leaving(network: factories.Network, settings: LazySettings) -> None:
    settings.HOLD_DAYS = 0
    who = factories.member("Moving in")
    factories.make_holding(who, network.private, "10.16.7.7", valid=(timezone.now() + timedelta(days=1), None))
    people.end_membership(member=who, by=network.admin)
    assert not Holding.objects.filter(member=who).exists()


# --- Pools


def test_an_overlapping_pool_is_refused_by_name(network: factories.Network) -> None:
    with pytest.raises(Problem) as caught:
        services.add_pool(
            name="All of it", kind="prefix6", prefix=ip_network("2001:db8:a0::/43"), group=network.group, member_length=64, by=network.admin
        )
    assert str(caught.value) == "2001:db8:a0::/43 overlaps the pool prefix6 2001:db8:a0::/44 (2001:db8:a0::/44)."
    assert caught.value.fieldname == "prefix"


@pytest.mark.parametrize(("kind", "prefix", "length", "says", "fieldname"), [
    ("private4", "2001:db8:c0::/44", 32, "is IPv6", "prefix"),
    ("prefix6", "192.168.0.0/24", 64, "is IPv4", "prefix"),
    ("prefix6", "2001:db8:c0::/44", 65, "is /32 to /64", "member_length"),
    ("prefix6", "2001:db8:c0::/60", 56, "larger than the pool", "member_length"),
    ("public4", "192.168.178.64/26", 32, r"192\.168\.178\.64/26 is private", "prefix"),
    ("public4", "100.64.0.0/10", 32, "is private", "prefix"),
])  # fmt: skip
def test_a_pool_that_makes_no_sense_is_refused(
    network: factories.Network, kind: str, prefix: str, length: int, says: str, fieldname: str
) -> None:
    with pytest.raises(Problem, match=says) as caught:
        services.add_pool(name="New", kind=kind, prefix=ip_network(prefix), group=network.group, member_length=length, by=network.admin)
    assert caught.value.fieldname == fieldname


def test_a_name_is_given_once(network: factories.Network) -> None:
    with pytest.raises(Problem, match="There is already a pool") as caught:
        services.add_pool(
            name=network.private.name, kind="private4", prefix=ip_network("192.168.0.0/24"), group=network.group, by=network.admin
        )
    assert caught.value.fieldname == "name"


def test_a_pool_grows_with_its_holdings_and_does_not_shrink_below_them(network: factories.Network) -> None:
    pool = network.private
    services.change_pool(pool=pool, version=pool.version, name=pool.name, prefix=ip_network("10.0.0.0/8"), by=network.admin)
    assert Holding.objects.filter(pool=pool, pool_prefix="10.0.0.0/8").count() == 4
    with pytest.raises(Problem, match=r"does not contain all addresses .* \(4 addresses still in use\)"), transaction.atomic():
        services.change_pool(pool=pool, version=pool.version, name=pool.name, prefix=ip_network("10.32.0.0/16"), by=network.admin)
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def test_a_stale_change_of_a_pool_is_a_conflict(network: factories.Network) -> None:
    pool = network.private
    services.change_pool(pool=pool, version=1, name="Renamed", prefix=pool.prefix, by=network.admin)
    with pytest.raises(Conflict):
        services.change_pool(pool=pool, version=1, name="Renamed again", prefix=pool.prefix, by=network.admin)
    assert Pool.objects.get(pk=pool.pk).name == "Renamed"


def test_shares_of_pools_are_counted(network: factories.Network) -> None:
    assert count_assigned_shares() == {network.private.pk: 4, network.prefixes.pk: 4}
    assert (count_member_shares(network.public), count_member_shares(network.prefixes)) == (254, 2**20)


def test_the_database_holds_a_device_to_one_member_per_mac(network: factories.Network) -> None:
    mine = Device.objects.get(member=network.residents["m1"].member)
    with pytest.raises(Problem, match=f"{mine.mac} is “Laptop of m1” of Resident of m1") as caught:
        people.add_device(member=factories.member("New"), name="Mine", mac=mine.mac.upper().replace(":", "-"), by=network.admin)
    assert (caught.value.fieldname, caught.value.culprit) == ("mac", mine)
    with pytest.raises(IntegrityError):
        Device.objects.create(member=factories.member(), name="x", mac=mine.mac)
