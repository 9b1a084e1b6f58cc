"""Addresses that a pool keeps free: which are handed out, refused and counted."""

from ipaddress import IPv4Network, ip_address, ip_network
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.lib.errors import Problem
from apps.network import services
from apps.network.kept_free import count_kept_shares
from apps.network.models import Holding, Pool
from apps.network.selectors import count_member_shares, find_free_prefix
from tests import factories
from tests.db.page_client import signed_in, text
from tests.example_counts import count_examples

pytestmark = pytest.mark.django_db

FEW = settings(
    max_examples=count_examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def new_pool(network: factories.Network, prefix: str, **changes: Any) -> Pool:
    given: dict[str, Any] = {"name": prefix, "kind": "private4", "prefix": ip_network(prefix), "group": network.group, "by": network.admin}
    return services.add_pool(**(given | changes))


def give(network: factories.Network, pool: Pool, prefix: str = "") -> Holding:
    chosen = ip_network(prefix) if prefix else None
    return services.assign_address(member=factories.member(), pool=pool, prefix=chosen, by=network.admin)


@pytest.mark.parametrize(
    ("prefix", "changes", "first"),
    [
        ("10.60.0.0/24", {}, "10.60.0.11"),
        ("10.60.0.0/28", {}, "10.60.0.2"),
        ("10.60.0.0/30", {}, "10.60.0.1"),
        ("10.60.0.0/24", {"kept_first": 0}, "10.60.0.1"),
        ("10.60.0.0/24", {"kept_first": 50, "kept": [ip_network("10.60.0.51"), ip_network("10.60.0.52/30")]}, "10.60.0.56"),
        ("2001:db8:b0::/44", {"kind": "prefix6", "member_length": 64}, "2001:db8:b0:a::/64"),
        ("2001:db8:b0::/44", {"kind": "prefix6", "member_length": 56, "kept_first": 1}, "2001:db8:b0:100::/56"),
        ("2001:db8:b0::/44", {"kind": "prefix6", "member_length": 56, "kept_first": 0, "kept": [ip_network("2001:db8:b0:1::/64")]},
         "2001:db8:b0:100::/56"),
    ],
)  # fmt: skip
def test_a_new_pool_keeps_its_first_addresses_free(network: factories.Network, prefix: str, changes: dict[str, Any], first: str) -> None:
    assert give(network, new_pool(network, prefix, **changes)).address == first


def test_an_address_that_is_kept_free_is_refused_with_another_one(network: factories.Network) -> None:
    pool = new_pool(network, "10.60.0.0/24", kept=[ip_network("10.60.0.254")])
    for kept in ("10.60.0.1", "10.60.0.10", "10.60.0.254"):
        with pytest.raises(Problem, match=f"{kept} is kept free in the pool") as refused:
            give(network, pool, kept)
        assert (refused.value.fieldname, refused.value.offer) == ("prefix", "10.60.0.11")
    assert give(network, pool, "10.60.0.253").address == "10.60.0.253"
    assert give(network, pool).address == "10.60.0.11"  # nothing is left above, where .254 is kept


def test_a_pool_whose_rest_is_kept_free_is_full(network: factories.Network) -> None:
    pool = new_pool(network, "10.60.0.0/29", kept_first=3, kept=[ip_network("10.60.0.6")])
    assert [give(network, pool).address for _ in range(2)] == ["10.60.0.4", "10.60.0.5"]
    with pytest.raises(Problem, match="is full"):
        give(network, pool)
    assert (count_member_shares(pool), count_kept_shares(pool)) == (2, 4)


def test_what_members_hold_stays_theirs_when_it_is_kept_free_later(network: factories.Network) -> None:
    held = network.residents["m1"].holding
    pool = services.change_pool(
        pool=network.private, version=1, name="Members", prefix=network.private.prefix, kept_first=1000, by=network.admin
    )
    held.refresh_from_db()
    assert held.valid.upper is None
    assert give(network, pool).address == "10.16.3.233"  # the first behind a thousand
    same = services.change_pool(pool=pool, version=pool.version, name="Residents", prefix=pool.prefix, by=network.admin)
    assert (same.name, same.kept_first) == ("Residents", 1000)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"kept_first": 255}, "kept_first"),
        ({"kept_first": -1}, "kept_first"),
        ({"kept": [ip_network("10.61.0.1")]}, "kept"),
        ({"kept": [ip_network("2001:db8::/64")]}, "kept"),
        ({"kept": [ip_network("10.60.0.0/24")], "kept_first": 0}, "kept"),  # of a new pool; one that exists may end so
        ({"kind": "public4", "kept_first": 1}, "kept_first"),
        ({"kept": [ip_network(f"10.60.0.{at}") for at in range(65)]}, "kept"),
    ],
)
def test_what_cannot_be_kept_free_is_refused_at_its_field(network: factories.Network, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(Problem) as refused:
        new_pool(network, "203.0.113.0/24" if "kind" in changes else "10.60.0.0/24", **changes)
    assert refused.value.fieldname == field


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("public4", {"kept_first": 1}),
        ("private4", {"kept": [ip_network("10.61.0.1")]}),
        ("private4", {"kept": [ip_network("10.0.0.0/8")]}),
        ("private4", {"kept_first": 1_000_001}),
    ],
)
def test_the_database_refuses_it_too(network: factories.Network, kind: str, values: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        factories.pool(network.group, kind, "10.60.0.0/24", **values)


@FEW
@given(
    length=st.integers(27, 32),
    held=st.sets(st.integers(0, 31), max_size=12),
    ended=st.sets(st.integers(0, 31), max_size=12),
    first=st.integers(0, 8),
    kept=st.lists(st.tuples(st.integers(0, 31), st.integers(28, 32)), max_size=4),
)
def test_the_next_free_one_is_neither_held_nor_kept_and_found_while_there_is_one(
    network: factories.Network, length: int, held: set[int], ended: set[int], first: int, kept: list[tuple[int, int]]
) -> None:
    base = IPv4Network(f"10.60.0.0/{length}")
    inside = [IPv4Network(f"10.60.0.{at}/{size}", strict=False) for at, size in kept]
    pool = factories.pool(
        network.group, "private4", str(base), name="Random", kept_first=first, kept=[each for each in inside if each.subnet_of(base)]
    )
    try:
        held_ever = [at for at in sorted(held | ended) if at < base.num_addresses]
        holdings = [give_at(network, pool, at) for at in held_ever]
        for each in holdings:
            if int(each.prefix.network_address) & 31 not in held:
                services.release_holding(holding=each, by=network.admin)
        free = find_free_prefix(pool)
        edge = 1 if length < 31 else 0
        numbers = range(edge + first, base.num_addresses - edge)
        possible = [at for at in numbers if at not in held and not any(base[at] in each for each in pool.kept)]
        above = [at for at in possible if at > max(held_ever, default=-1)]
        assert free == (ip_network(base[(above or possible)[0]]) if possible else None)
        assert count_member_shares(pool) == len([at for at in numbers if not any(base[at] in each for each in pool.kept)])
    finally:
        Holding.objects.filter(pool=pool).delete()
        pool.delete()


def give_at(network: factories.Network, pool: Pool, at: int) -> Holding:
    return factories.make_holding(network.residents["m1"].member, pool, f"{ip_address(int(pool.prefix[0]) + at)}/32")


def test_the_page_of_a_pool_keeps_addresses_free(network: factories.Network) -> None:
    mara = signed_in(network.admin)
    form = {"name": "New", "kind": "private4", "prefix": "10.60.0.0/24", "group": network.group.pk, "member_length": 64}
    assert mara.post("/addresses/add/", form | {"kept": "10.60.0.254 10.60.9.9"}).status_code == 422
    assert "has been added" in text(mara.post("/addresses/add/", form | {"kept": "10.60.0.254"}, follow=True))
    pool = Pool.objects.get(name="New")
    assert (pool.kept_first, pool.kept) == (10, [ip_network("10.60.0.254")])
    assert "(11 more are kept free)" in text(mara.get(f"/addresses/{pool.pk}/"))
    assert 'value="10.60.0.254/32"' in mara.get(f"/addresses/{pool.pk}/edit/").content.decode()
    change = {"name": "New", "prefix": "10.60.0.0/24", "version": pool.version, "kept_first": "0", "kept": ""}
    assert mara.post(f"/addresses/{pool.pk}/edit/", change).status_code == 302
    pool.refresh_from_db()
    assert (pool.kept_first, pool.kept) == (0, [])


def test_the_api_keeps_addresses_free(network: factories.Network, client: Client) -> None:
    mara = signed_in(network.admin)
    given = {"name": "New", "kind": "private4", "prefix": "10.60.0.0/24", "group": network.group.pk}
    made = mara.post("/api/network/pools/", given, content_type="application/json").json()
    assert (made["kept_first"], made["kept"], made["size"]) == (10, [], 244)
    changed = mara.patch(f"/api/network/pools/{made['id']}/", {"kept": ["10.60.0.254/32"]}, content_type="application/json").json()
    assert (changed["kept_first"], changed["size"]) == (10, 243)
    refused = mara.patch(f"/api/network/pools/{made['id']}/", {"kept": ["10.61.0.0/24"]}, content_type="application/json")
    assert "10.61.0.0/24 is not in the pool" in refused.content.decode()
