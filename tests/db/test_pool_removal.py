"""Pools: removed while unused, retired by keeping all of them free, undone, and managed by command."""

from io import StringIO
from ipaddress import ip_address, ip_network

import pytest
from django.core.management import CommandError, call_command

from apps.audit.undo import find_last_event, undo_event
from apps.lib.errors import Problem
from apps.network import services
from apps.network.models import GatewayGroup, Pool
from apps.network.pool_removal import remove_pool
from tests import factories
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)


def new_pool(network: factories.Network) -> Pool:
    return services.add_pool(
        name="New",
        kind="private4",
        prefix=ip_network("10.60.0.0/24"),
        group=network.group,
        kept=[ip_network("10.60.0.254")],
        by=network.admin,
    )


def undo(pool: Pool, network: factories.Network) -> None:
    event = find_last_event(Pool, pool.pk)
    assert event
    undo_event(model=Pool, event=event, by=network.admin)


def test_a_pool_that_was_never_used_is_removed_and_returns_as_it_was(network: factories.Network) -> None:
    pool = new_pool(network)
    remove_pool(pool)
    remove_pool(pool)  # harmless
    undo(pool, network)
    back = Pool.objects.get(pk=pool.pk)
    assert (back.name, back.prefix, back.kept_first, back.kept) == ("New", pool.prefix, 10, [ip_network("10.60.0.254")])


def test_a_pool_that_a_member_holds_or_held_something_of_stays_and_says_so(network: factories.Network) -> None:
    held = network.residents["m1"].holding
    with pytest.raises(Problem, match=r"stays, because the history names it: 4 addresses and prefixes") as refused:
        remove_pool(network.private)
    assert refused.value.culprit == held
    with pytest.raises(Problem, match="4 NAT mappings"):
        remove_pool(network.public)
    pool = new_pool(network)
    holding = services.assign_address(member=factories.member(), pool=pool, by=network.admin)
    services.release_holding(holding=holding, by=network.admin)
    with pytest.raises(Problem, match="1 address or prefix"):
        remove_pool(pool)


def test_a_pool_that_keeps_everything_free_gives_no_more_addresses_and_takes_none_away(network: factories.Network) -> None:
    private = network.private
    services.change_pool(pool=private, version=1, name=private.name, prefix=private.prefix, kept=[private.prefix], by=network.admin)
    for prefix in (None, ip_network("10.16.9.9")):
        with pytest.raises(Problem, match=r"is full|is kept free"):
            services.assign_address(member=factories.member(), pool=private, prefix=prefix, by=network.admin)
    assert network.residents["m1"].holding.prefix[0] == ip_address("10.16.0.10")
    undo(private, network)
    assert services.assign_address(member=factories.member(), pool=private, by=network.admin).address == "10.16.0.14"


def test_a_former_prefix_that_another_pool_has_now_is_refused_in_words(network: factories.Network) -> None:
    pool = new_pool(network)
    services.change_pool(pool=pool, version=1, name="New", prefix=ip_network("10.61.0.0/24"), kept=[], by=network.admin)
    factories.pool(network.group, "private4", "10.60.0.0/25")
    with pytest.raises(Problem, match="overlaps another pool"):
        undo(pool, network)


def test_how_members_use_a_public_pool_is_not_undone_behind_their_back(network: factories.Network) -> None:
    pool = factories.pool(network.group, "public4", "198.18.0.0/24")
    Pool.objects.filter(pk=pool.pk).update(sharing="own")
    with pytest.raises(Problem, match="shows before what each would leave as"):
        undo(pool, network)


def test_pages_and_the_api_remove_a_pool(network: factories.Network) -> None:
    mara, pool = signed_in(network.admin), new_pool(network)
    assert "4 addresses and prefixes" in text(mara.get(f"/addresses/{network.private.pk}/remove/"))
    assert "No member ever had one" in text(mara.get(f"/addresses/{pool.pk}/remove/"))
    assert "has been removed" in text(mara.post(f"/addresses/{pool.pk}/remove/", follow=True))
    event = find_last_event(Pool, pool.pk)
    assert "Undone" in text(mara.post(f"/addresses/undo/{event}/", follow=True))
    assert mara.delete(f"/api/network/pools/{network.private.pk}/").status_code in (400, 409)
    assert mara.delete(f"/api/network/pools/{pool.pk}/").status_code == 204
    assert not Pool.objects.filter(pk=pool.pk).exists()


def run(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def test_the_command_adds_lists_changes_and_removes(network: factories.Network) -> None:
    assert "New  private4  10.60.0.0/24  held 0 of 243  kept free: first 10, 10.60.0.254/32" in run(
        "pool", "add", "New", "10.60.0.0/24", "--kind", "private4", "--kept", "10.60.0.254"
    )
    assert "held 0 of 253" in run("pool", "change", "New", "--kept-first", "0")
    assert "Lindenhof  New" in run("pool", "list")
    assert "is removed" in run("pool", "remove", "New")
    GatewayGroup.objects.create(name="Second")
    for words, error in (
        (("add", "New", "10.60.0.0/24", "--kind", "private4"), "Give one of the groups by --group: Lindenhof, Second."),
        (("add", "New", "10.16.0.0/24", "--kind", "private4", "--group", "Second"), "overlaps the pool"),
        (("remove", "Nix"), "There is no pool Nix"),
    ):
        with pytest.raises(CommandError, match=error):
            run("pool", *words)
