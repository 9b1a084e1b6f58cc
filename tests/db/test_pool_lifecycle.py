"""Pools are enlarged, split, retired and taken back: members keep what they hold, and gateways get nothing taken away."""

import io
from datetime import timedelta
from ipaddress import IPv4Network, ip_address, ip_network
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.announcements.audience import list_reached_members
from apps.audit.undo import find_last_event, undo_event
from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.lib.errors import Conflict, Problem
from apps.nat.models import Move, NatMapping, PortForward
from apps.nat.moving.services import carry_out_move, plan_member_move
from apps.nat.services import map_address
from apps.network import pool_lifecycle, services
from apps.network.models import Holding, Pool
from apps.network.selectors import find_free_prefix
from firewall.diff import diff
from firewall.ruleset import Ruleset
from tests import announcement_factories, factories
from tests.api_responses import wrong
from tests.db.page_client import get_form_input, signed_in, text
from tests.db.rollout_rows import forward

pytestmark = pytest.mark.django_db(transaction=True)

JSON = "application/json"


@pytest.fixture
def pool(network: factories.Network) -> Pool:
    """A private pool of a /22 in which two members hold an address, in its first and in its last quarter."""
    made = services.add_pool(
        name="North", kind="private4", prefix=ip_network("10.60.4.0/22"), group=network.group, kept=[ip_network("10.60.7.254")], by=None
    )
    for address in ("10.60.4.20", "10.60.7.20"):
        services.assign_address(member=factories.member(), pool=made, prefix=ip_network(address), by=network.admin)
    return made


def undo(pool: Pool, network: factories.Network) -> None:
    event = find_last_event(Pool, pool.pk)
    assert event
    undo_event(model=Pool, event=event, by=network.admin)


def retire(pool: Pool) -> Pool:
    return pool_lifecycle.retire_pool(pool=pool, version=pool.version, by=None)


def enlarge(pool: Pool, prefix: str) -> Pool:
    return pool_lifecycle.enlarge_pool(pool=pool, version=pool.version, prefix=ip_network(prefix), by=None)


def split(pool: Pool, length: int) -> list[Pool]:
    return pool_lifecycle.split_pool(pool=pool, version=pool.version, length=length, by=None)


def compile_first(network: factories.Network) -> Ruleset:
    return compute_desired_state(network.group).rulesets[network.gateways[0].pk]


def list_held(pool: Pool) -> list[str]:
    return [str(each.prefix) for each in Holding.objects.filter(pool=pool).order_by("prefix")]


def run_pool(*arguments: str) -> str:
    output = io.StringIO()
    call_command("pool", *arguments, stdout=output)
    return output.getvalue()


# --- Retiring


def test_a_retired_pool_gives_no_more_addresses_and_takes_none_away(network: factories.Network, pool: Pool) -> None:
    before = compile_first(network)
    retire(pool)
    for prefix in (None, ip_network("10.60.5.5")):
        with pytest.raises(Problem, match="is out of service and gives no more addresses"):
            services.assign_address(member=factories.member(), pool=pool, prefix=prefix, by=network.admin)
    assert list_held(pool) == ["10.60.4.20/32", "10.60.7.20/32"]
    assert not diff(before, compile_first(network))
    pool_lifecycle.reinstate_pool(pool=pool, version=pool.version, by=None)
    assert services.assign_address(member=factories.member(), pool=pool, by=network.admin).pool == pool


def test_the_database_refuses_an_address_of_a_retired_pool(network: factories.Network, pool: Pool) -> None:
    [held, _other] = Holding.objects.filter(pool=pool).order_by("prefix")
    Pool.objects.filter(pk=pool.pk).update(retired=timezone.now())
    held.pk, held.prefix = None, IPv4Network("10.60.4.30/32")
    with pytest.raises(IntegrityError, match="gives no more addresses"), transaction.atomic():
        held.save(force_insert=True)


def test_members_of_a_retired_public_pool_keep_leaving_as_its_addresses_and_no_other_member_does(network: factories.Network) -> None:
    retire(network.public)
    m1 = network.residents["m1"]
    assert map_address(holding=m1.holding, public=m1.mapping.public, by=network.admin).public == m1.mapping.public
    assert forward(network, 8443).public == factories.PUBLIC
    new = services.assign_address(member=factories.member(), pool=network.private, by=network.admin)
    with pytest.raises(Problem, match="is out of service"):
        map_address(holding=new, pool=network.public, by=network.admin)


def test_retiring_is_undone_and_an_old_version_is_a_conflict(network: factories.Network, pool: Pool) -> None:
    with pytest.raises(Conflict):
        pool_lifecycle.retire_pool(pool=pool, version=99, by=None)
    version = retire(pool).version
    assert retire(pool).version == version
    undo(pool, network)
    assert Pool.objects.get(pk=pool.pk).retired is None


# --- Enlarging


def test_an_enlarged_pool_keeps_everything_and_keeps_free_what_it_kept_free(network: factories.Network, pool: Pool) -> None:
    before = compile_first(network)
    enlarge(pool, "10.60.0.0/21")
    assert (pool.prefix, pool.kept_first) == (ip_network("10.60.0.0/21"), 10)
    for kept in ("10.60.4.1", "10.60.4.10", "10.60.7.254", "10.60.0.1"):
        with pytest.raises(Problem, match="is kept free"):
            services.assign_address(member=factories.member(), pool=pool, prefix=ip_network(kept), by=network.admin)
    assert list_held(pool) == ["10.60.4.20/32", "10.60.7.20/32"]
    assert not diff(before, compile_first(network)), "only what members hold is in a ruleset"
    undo(pool, network)
    pool.refresh_from_db()
    assert (pool.prefix, pool.kept) == (ip_network("10.60.4.0/22"), [ip_network("10.60.7.254")])


@pytest.mark.parametrize(
    ("prefix", "words"),
    [
        ("10.60.4.0/22", "does not contain all of"),
        ("10.60.4.0/23", "does not contain all of"),
        ("10.61.0.0/16", "does not contain all of"),
        ("2001:db8::/32", "does not contain all of"),
        ("10.0.0.0/8", "overlaps the pool private4"),
    ],
)
def test_a_pool_is_enlarged_only_to_what_contains_it_and_overlaps_no_other(
    network: factories.Network, pool: Pool, prefix: str, words: str
) -> None:
    with pytest.raises(Problem, match=words) as refused:
        enlarge(pool, prefix)
    assert refused.value.fieldname == "prefix"


def test_an_enlarged_public_pool_only_adds_to_what_the_gateways_answer_for(network: factories.Network) -> None:
    before, shape = compile_first(network), (network.public.sharing, network.public.block_size)
    enlarge(network.public, str(network.public.prefix.supernet()))
    after = compile_first(network)
    delta = diff(before, after)
    assert not any(change.removed for change in delta.elements.values())
    assert (network.public.sharing, network.public.block_size) == shape
    assert NatMapping.objects.filter(pool=network.public, pool_prefix=network.public.prefix).count() == 4


# --- Splitting


def test_the_parts_of_a_pool_have_its_holdings_its_settings_and_what_it_keeps_free(network: factories.Network, pool: Pool) -> None:
    before = compile_first(network)
    parts = split(pool, 24)
    assert [(part.name, str(part.prefix)) for part in parts] == [
        ("North", "10.60.4.0/24"),
        ("North 2", "10.60.5.0/24"),
        ("North 3", "10.60.6.0/24"),
        ("North 4", "10.60.7.0/24"),
    ]
    assert (list_held(parts[0]), list_held(parts[1]), list_held(parts[3])) == (["10.60.4.20/32"], [], ["10.60.7.20/32"])
    assert [(part.kept_first, part.kept) for part in parts] == [(10, []), (0, []), (0, []), (0, [ip_network("10.60.7.254")])]
    assert {part.group_id for part in parts} == {network.group.pk}
    assert not diff(before, compile_first(network))


def test_first_addresses_that_reach_into_other_parts_stay_free_there(network: factories.Network, pool: Pool) -> None:
    Pool.objects.filter(pk=pool.pk).update(kept_first=299)
    pool.refresh_from_db()
    first, second = split(pool, 24)[:2]
    assert first.kept_first == 256 and find_free_prefix(first) is None
    assert find_free_prefix(second) == ip_network("10.60.5.44")


def test_a_split_is_undone_while_no_part_has_changed(network: factories.Network, pool: Pool) -> None:
    *_others, last = split(pool, 23)
    services.assign_address(member=factories.member(), pool=last, prefix=ip_network("10.60.6.7"), by=network.admin)
    undo(pool, network)
    pool.refresh_from_db()
    assert (pool.prefix, pool.kept) == (ip_network("10.60.4.0/22"), [ip_network("10.60.7.254")])
    assert list_held(pool) == ["10.60.4.20/32", "10.60.6.7/32", "10.60.7.20/32"]
    *_others, last = split(pool, 23)
    retire(last)
    with pytest.raises(Problem, match=r"North 2 .* has been changed since"):
        undo(pool, network)


def plan_move(network: factories.Network, pool: Pool, host: str = "m1") -> Move:
    given: dict[str, Any] = {"member": network.residents[host].member, "on": timezone.localdate() + timedelta(days=3), "room": None}
    return plan_member_move(**given, pool=pool, follow=True, by=network.admin)


def test_an_undone_split_takes_moves_to_its_parts_and_announcements_to_their_members_along(network: factories.Network, pool: Pool) -> None:
    first, last = split(pool, 23)
    moves = [plan_move(network, part, host) for part, host in ((first, "m1"), (last, "m2"))]
    written = [announcement_factories.draft(network.admin, pools=pools) for pools in ([last], [first, last])]
    undo(pool, network)
    assert [Move.objects.get(pk=each.pk).pool for each in moves] == [pool, pool]
    assert [list(each.pools.all()) for each in written] == [[pool], [pool]]


def test_an_announcement_to_the_members_of_a_pool_reaches_those_of_all_its_parts(network: factories.Network, pool: Pool) -> None:
    written = announcement_factories.draft(network.admin, pools=[pool])
    parts = split(pool, 24)
    assert set(written.pools.all()) == set(parts)
    assert list_reached_members(written).count() == 2
    undo(pool, network)
    assert list(written.pools.all()) == [pool]
    assert list_reached_members(written).count() == 2


def test_a_move_to_a_pool_that_is_split_leads_to_its_first_part(network: factories.Network, pool: Pool) -> None:
    planned = plan_move(network, pool)
    first, *_others = split(pool, 24)
    assert carry_out_move(planned)
    assert Holding.objects.filter(member=planned.member, pool=first, prefix__within=first.prefix).count() == 1


def test_a_public_pool_is_split_with_its_mappings_and_forwards(network: factories.Network) -> None:
    forward(network, 8443)
    public = network.public
    before = compile_first(network)
    parts = split(public, public.prefix.prefixlen + 1)
    for row in (*NatMapping.objects.all(), *PortForward.objects.all()):
        part = next(each for each in parts if ip_address(str(row.public)) in each.prefix)
        assert (row.pool_id, row.pool_prefix) == (part.pk, part.prefix)
    assert {part.sharing for part in parts} == {public.sharing}
    assert not any(change.removed for change in diff(before, compile_first(network)).elements.values())


@pytest.mark.parametrize(("length", "words"), [(22, "/22 has a prefix length of 23 to 26"), (27, "of 23 to 26")])
def test_the_parts_are_smaller_and_at_most_sixteen(network: factories.Network, pool: Pool, length: int, words: str) -> None:
    with pytest.raises(Problem, match=words):
        split(pool, length)


def test_what_is_too_small_or_would_have_a_name_twice_is_not_split(network: factories.Network, pool: Pool) -> None:
    small = services.add_pool(name="North 2", kind="private4", prefix=ip_network("10.61.0.0/30"), group=network.group, by=None)
    with pytest.raises(Problem, match="too small to be split"):
        split(small, 31)
    with pytest.raises(Problem, match="There is already a pool “North 2”"):
        split(pool, 23)
    assert Pool.objects.get(pk=pool.pk).prefix == pool.prefix


# --- Pages, API and command


def test_the_pages_say_before_what_follows(network: factories.Network, pool: Pool) -> None:
    mara, path = signed_in(network.admin), f"/addresses/{pool.pk}"
    form: dict[str, Any] = {"version": pool.version, "prefix": "10.60.0.0/21"}
    assert "Enlarge 10.60.4.0/22 to 10.60.0.0/21?" in text(mara.post(f"{path}/enlarge/", form))
    assert "does not contain all of" in text(mara.post(f"{path}/enlarge/", form | {"prefix": "10.60.4.0/24"}))
    stale = mara.post(f"{path}/enlarge/", form | {"seen": "1", "version": form["version"] - 1})
    assert "Changes nothing yet." in text(stale) and get_form_input(stale) == form | {"version": str(form["version"]), "seen": ""}
    assert "has been enlarged" in text(mara.post(f"{path}/enlarge/", form | {"seen": "1"}, follow=True))
    form = {"version": pool.version + 1, "length": 22}
    page = text(mara.post(f"{path}/split/", form))
    assert "Split North into 2 pools?" in page and "North 2: <code>10.60.4.0/22</code>, 2 held" in page
    assert "is 2 pools now" in text(mara.post(f"{path}/split/", form | {"seen": "1"}, follow=True))
    assert "Retire North?" in text(mara.get(f"{path}/retire/"))
    assert "has been out of service since" in text(mara.post(f"{path}/retire/", {"version": pool.version + 2}, follow=True))
    assert "Take North back into service?" in text(mara.get(f"{path}/retire/"))
    assert "back in service" in text(mara.post(f"{path}/retire/", {"version": pool.version + 3, "back": "1"}, follow=True))


def test_a_script_enlarges_splits_and_retires(network: factories.Network, pool: Pool) -> None:
    key = tokens.create_token(user=network.admin, name="script")[1]
    api, path = Client(headers={"authorization": f"Bearer {key}"}), f"/api/network/pools/{pool.pk}/"
    assert "does not contain" in wrong(api.post(f"{path}enlarge/", {"prefix": "10.60.4.0/23"}, JSON))["prefix"][0]
    assert api.post(f"{path}enlarge/", {"prefix": "10.60.0.0/21"}, JSON).json()["prefix"] == "10.60.0.0/21"
    assert len(api.post(f"{path}split/", {"length": 22}, JSON).json()["pools"]) == 2
    assert api.post(f"{path}retire/").json()["retired"]
    assert [row["id"] for row in api.get("/api/network/pools/?retired__isnull=false").json()["results"]] == [pool.pk]
    assert api.post(f"{path}reinstate/").json()["retired"] is None


def test_the_command_enlarges_splits_and_retires(network: factories.Network, pool: Pool) -> None:
    assert "10.60.0.0/21  held 2 of" in run_pool("enlarge", "North", "10.60.0.0/21")
    assert run_pool("split", "North", "22").count("\n") == 2
    assert "out of service" in run_pool("retire", "North 2") and "out of service" in run_pool("list")
    assert "back in service" in run_pool("reinstate", "North 2")
    with pytest.raises(CommandError, match="does not contain"):
        run_pool("enlarge", "North", "10.60.0.0/24")
