"""Failover of a group: what is stored, what is refused and why, and the files that a gateway gets."""

from dataclasses import replace
from ipaddress import ip_address, ip_interface, ip_network
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from apps.audit.undo import find_last_event, undo_event
from apps.bans.listeners.models import ServerInterface
from apps.bans.own_networks import list_own_networks
from apps.gateways.failover_facts import check_failover_row
from apps.gateways.failover_files import FILENAMES, render_failover_files
from apps.gateways.failover_settings import change_failover, get_failover, stop_managing_failover
from apps.gateways.group_settings import change_profile, get_profile
from apps.gateways.groups import remove_group
from apps.gateways.services import configure_gateway, get_facts
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import AddressInNetwork
from apps.network.models import Failover, Gateway, GatewayGroup, Pool
from apps.network.services import add_pool, change_pool
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

INSIDE = ["10.16.0.1/11", "fe80::1/64"]
OUTSIDE = ["192.0.2.2/24", "2001:db8:b0::fe/64"]


def parse(*texts: str) -> list[AddressInNetwork]:
    return [ip_interface(text) for text in texts]


def change(network: factories.Network, **changes: Any) -> Failover:
    """Change the failover of the network's group, by its admin, from its present version on."""
    given = {"inside": INSIDE, "outside": OUTSIDE} | changes
    sides: dict[str, Any] = {name: parse(*given.pop(name)) for name in ("inside", "outside", "servers") if name in given}
    version = get_failover(network.group).version
    return change_failover(group=network.group, by=network.admin, **({"version": version} | sides | given))


@pytest.fixture
def cabled_network(network: factories.Network) -> factories.Network:
    """A network whose gateways have addresses on their sync interfaces, and whose pool keeps the router's address free."""
    for number, gateway in enumerate(network.gateways, 1):
        gateway.sync_address = ip_address(f"172.31.255.{number}")
        gateway.save()
    Pool.objects.filter(pk=network.private.pk).update(kept_first=1)
    return network


def test_the_carrier_announces_the_pools_that_are_routed_to_it_if_that_is_wanted(cabled_network: factories.Network) -> None:
    change(cabled_network)
    nat_1 = Gateway.objects.get(name="nat-1")
    assert "blackhole" not in render_failover_files(nat_1)["keepalived.conf"]
    change(cabled_network, announce=True)
    text = render_failover_files(nat_1)["keepalived.conf"]
    pools = Pool.objects.exclude(kind=Pool.Kind.PRIVATE4)
    assert pools.exists() and text.count("blackhole") == pools.count()
    assert all(f"blackhole {pool.prefix} table 179 no_track" in text for pool in pools)


def test_the_carrier_holds_the_public_addresses_that_are_on_the_uplinks_own_link(cabled_network: factories.Network) -> None:
    pool = cabled_network.public
    router = pool.prefix.supernet().broadcast_address - 1
    change(cabled_network, outside=[f"{router}/{pool.prefix.prefixlen - 1}"])
    text = render_failover_files(Gateway.objects.get(name="nat-1"))["keepalived.conf"]
    first, last = pool.prefix[1], pool.prefix[-1]
    assert f"        {first}/32 dev wan0\n" in text
    assert f"        {last}/32 dev wan0\n" in text
    assert text.count("/32 dev wan0") == pool.prefix.num_addresses - 1, "a network has no host at its first address"


def test_virtual_addresses_keep_their_host_bits_and_their_prefix_length(cabled_network: factories.Network) -> None:
    change(cabled_network, outside=["192.0.2.2/32", "2001:db8:b0::fe/128"])
    row = get_failover(cabled_network.group)
    assert list(map(str, row.inside)) == INSIDE
    assert list(map(str, row.outside)) == ["192.0.2.2/32", "2001:db8:b0::fe/128"]
    assert (row.version, row.virtual_router, row.interval, row.failback, row.cache) == (1, 1, 20, None, "direct")


def test_a_second_change_needs_the_version_of_the_first(cabled_network: factories.Network) -> None:
    change(cabled_network)
    assert change(cabled_network, virtual_router=7, failback=300, cache="external").version == 2
    for outdated in (0, 1):
        with pytest.raises(Conflict):
            change(cabled_network, version=outdated)


REFUSED = [
    ({"virtual_router": 0}, "virtual_router", "Between 1 and 255"),
    ({"virtual_router": 256}, "virtual_router", "Between 1 and 255"),
    ({"interval": 4}, "interval", "Between 5 and 100"),
    ({"failback": 1001}, "failback", "Between 5 and 1000"),
    ({"cache": "none"}, "cache", "Choose one of these: direct, external"),
    ({"inside": []}, "inside", "Enter at least one virtual address inside"),
    ({"inside": ["10.16.0.1/11"]}, "inside", "There is no IPv6 address inside"),
    ({"inside": ["fe80::1/64"]}, "inside", "There is no IPv4 address inside"),
    ({"outside": ["192.0.2.2/24", "192.0.2.2/25"]}, "outside", "192.0.2.2 occurs twice"),
    ({"outside": ["fe80::1/64"]}, "outside", "fe80::1 occurs twice"),
    ({"outside": ["224.0.0.18/24"]}, "outside", "cannot be the address of an interface"),
    ({"outside": ["127.0.0.1/8"]}, "outside", "cannot be the address of an interface"),
    ({"outside": ["::/128"]}, "outside", "cannot be the address of an interface"),
    ({"outside": ["192.0.2.2/0"]}, "outside", "needs the prefix length of its network"),
    ({"outside": ["192.0.2.0/24"]}, "outside", "first or last address of 192.0.2.0/24"),
    ({"outside": ["192.0.2.255/24"]}, "outside", "first or last address of 192.0.2.0/24"),
    ({"outside": ["2001:db8:b0::/64"]}, "outside", "first or last address of 2001:db8:b0::/64"),
    ({"servers": ["10.200.0.1/24"]}, "servers", "nat-1 has no interface to servers"),
    ({"outside": [f"192.0.2.{number}/24" for number in range(2, 65)]}, "outside", "at most 64 virtual addresses"),
    ({"outside": ["172.31.255.1/24"]}, "outside", "172.31.255.1 belongs to nat-1 alone"),
    ({"inside": ["10.16.0.99/11", "fe80::1/64"]}, "inside", "Members can get 10.16.0.99 from the pool"),
]


@pytest.mark.parametrize(("given", "fieldname", "said"), REFUSED)
def test_what_the_programs_would_refuse_is_refused_at_its_field(
    cabled_network: factories.Network, given: dict[str, Any], fieldname: str, said: str
) -> None:
    with pytest.raises(Problem, match=said) as refused:
        change(cabled_network, **given)
    assert refused.value.fieldname == fieldname
    assert not Failover.objects.exists()


def test_an_address_that_a_member_holds_is_refused_with_the_member(cabled_network: factories.Network) -> None:
    held = cabled_network.residents["m1"].holding
    with pytest.raises(Problem, match=r"is held by .* \(M-\d+\)") as refused:
        change(cabled_network, inside=[f"{held.prefix.network_address}/11", "fe80::1/64"])
    assert refused.value.culprit == held and "by a member" in str(refused.value.unnamed)


@pytest.mark.parametrize("fieldname", ["address", "probe_source4", "probe_public4", "probe_source6", "sync_address"])
def test_what_a_gateway_has_for_itself_moves_to_no_other(cabled_network: factories.Network, fieldname: str) -> None:
    factories.probes(cabled_network)
    gateway = cabled_network.gateways[1]
    gateway.address = ip_address("172.31.0.12")
    gateway.save()
    own = getattr(gateway, fieldname)
    with pytest.raises(Problem, match=f"{own} belongs to nat-2 alone"):
        change(cabled_network, outside=[f"{own}/{16 if own.version == 4 else 64}"])


def test_what_moves_becomes_no_gateways_own(cabled_network: factories.Network) -> None:
    change(cabled_network)
    gateway = cabled_network.gateways[0]
    for fieldname in ("address", "sync_address"):
        facts = replace(get_facts(gateway), **{fieldname: ip_address("192.0.2.2")})  # type: ignore[arg-type]  # one of two fields
        with pytest.raises(Problem, match=r"192\.0\.2\.2 is a virtual address of Lindenhof") as refused:
            configure_gateway(gateway=gateway, version=gateway.version, facts=facts)
        assert refused.value.fieldname == fieldname


def test_two_groups_do_not_share_an_address_but_a_link_local_one(cabled_network: factories.Network) -> None:
    change(cabled_network)
    other = GatewayGroup.objects.create(name="Elsewhere")
    with pytest.raises(Problem, match=r"192\.0\.2\.2 is a virtual address of Lindenhof"):
        change_failover(group=other, version=0, inside=parse("192.0.2.2/24"), by=None)
    assert change_failover(group=other, version=0, inside=parse("fe80::1/64"), by=None).version == 1


def test_a_gateway_without_a_sync_interface_is_named(cabled_network: factories.Network) -> None:
    Gateway.objects.filter(name="nat-2").update(sync="", sync_address=None)
    with pytest.raises(Problem, match="nat-2 has no state sync interface"):
        change(cabled_network)


def test_with_an_interface_to_servers_they_have_a_virtual_router_too(cabled_network: factories.Network) -> None:
    for gateway in cabled_network.gateways:
        ServerInterface.objects.create(gateway=gateway, name="srv0")
    change(cabled_network, servers=["10.200.0.1/24"])
    assert "10.200.0.1/24 dev srv0" in render_failover_files(cabled_network.gateways[0])["keepalived.conf"]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("failover_virtual_router", {"virtual_router": 256}),
        ("failover_virtual_router", {"virtual_router": 0}),
        ("failover_interval", {"interval": 101}),
        ("failover_failback", {"failback": 4}),
        ("failover_cache", {"cache": "other"}),
        ("failover_has_inside", {"inside": []}),
        ("failover_few_addresses", {"outside": parse(*[f"10.0.{number}.1/24" for number in range(65)])}),
    ],
)
def test_the_database_refuses_what_cannot_be(network: factories.Network, name: str, values: dict[str, Any]) -> None:
    given = {"group": network.group, "inside": parse(*INSIDE)} | values
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        Failover.objects.create(**given)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("gateway_sync_address_is_ipv4", {"sync_address": ip_address("2001:db8::1")}),
        ("gateway_sync_address_is_ipv4", {"sync": "", "sync_address": ip_address("172.31.255.1")}),
    ],
)
def test_the_address_on_the_sync_interface_is_ipv4_and_has_an_interface(network: factories.Network, name: str, values: Any) -> None:
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        Gateway.objects.filter(name="nat-1").update(**values)


SYNC_REFUSED = [
    ({"sync_address": "2001:db8::1"}, "sync_address", "is not an IPv4 address"),
    ({"sync_address": "172.31.255.9", "sync": ""}, "sync", "Enter the state sync interface"),
    ({"sync_address": "127.0.0.1"}, "sync_address", "cannot be the address of an interface"),
    ({"sync_address": "172.31.255.2"}, "sync_address", "is the address of nat-2 on its state sync interface"),
    ({"sync_address": "10.16.0.77"}, "sync_address", "is in the pool"),
]


@pytest.mark.parametrize(("given", "fieldname", "said"), SYNC_REFUSED)
def test_an_impossible_sync_address_is_refused_at_its_field(
    cabled_network: factories.Network, given: dict[str, str], fieldname: str, said: str
) -> None:
    gateway = cabled_network.gateways[0]
    values: dict[str, Any] = given | {"sync_address": ip_address(given["sync_address"])}
    facts = replace(get_facts(gateway), **values)
    with pytest.raises(Problem, match=said) as refused:
        configure_gateway(gateway=gateway, version=gateway.version, facts=facts)
    assert refused.value.fieldname == fieldname


def test_two_gateways_of_a_group_have_different_sync_addresses(cabled_network: factories.Network) -> None:
    with pytest.raises(IntegrityError, match="gateway_sync_address_of_one"), transaction.atomic():
        Gateway.objects.update(sync_address=ip_address("172.31.255.9"))


# --- Files


def test_each_gateway_has_files_of_its_own(cabled_network: factories.Network) -> None:
    change(cabled_network)
    first, second = (render_failover_files(Gateway.objects.get(name=name)) for name in ("nat-1", "nat-2"))
    assert list(first) == list(FILENAMES) == ["keepalived.conf", "conntrackd.conf", "failover.conf"]
    assert "10.16.0.1/11" in first["keepalived.conf"] and "192.0.2.2/24 dev wan0" in first["keepalived.conf"]
    assert "IPv4_interface 172.31.255.1" in first["conntrackd.conf"] and "IPv4_interface 172.31.255.2" in second["conntrackd.conf"]
    assert first["keepalived.conf"] != second["keepalived.conf"]  # each is preferred for one family


def test_the_tables_of_conntrackd_follow_the_profile(cabled_network: factories.Network) -> None:
    change(cabled_network)
    assert "HashLimit 524288" in render_failover_files(cabled_network.gateways[0])["conntrackd.conf"]
    row = get_profile(cabled_network.group)
    values = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    for name in ("id", "group_id", "version", "changed_in", "changed_at"):
        values.pop(name)
    change_profile(
        group=cabled_network.group, version=0, by=cabled_network.admin, **(values | {"connections": 1_048_576, "buckets": 1_048_576})
    )
    assert "HashLimit 2097152" in render_failover_files(cabled_network.gateways[0])["conntrackd.conf"]


def test_files_need_settings_an_interface_and_an_address(cabled_network: factories.Network) -> None:
    gateway = cabled_network.gateways[0]
    with pytest.raises(Problem, match="Failover is not set for Lindenhof"):
        render_failover_files(gateway)
    change(cabled_network)
    gateway.sync_address = None
    with pytest.raises(Problem, match="nat-1 has no address on its state sync interface sync0"):
        render_failover_files(gateway)
    gateway.sync = ""
    with pytest.raises(Problem, match="nat-1 has no state sync interface"):
        render_failover_files(gateway)


# --- Around it


def test_no_pool_gives_a_virtual_address_to_members(cabled_network: factories.Network) -> None:
    change(cabled_network)
    pool = Pool.objects.get(pk=cabled_network.private.pk)
    with pytest.raises(Problem, match=r"10\.16\.0\.1 is a virtual address of the gateways of Lindenhof") as refused:
        change_pool(pool=pool, version=pool.version, name=pool.name, prefix=pool.prefix, kept_first=0, by=cabled_network.admin)
    assert refused.value.fieldname == "kept"
    change(cabled_network, inside=["10.16.0.1/11", "10.99.0.1/24", "fe80::1/64"])
    given: dict[str, Any] = {"name": "New", "kind": "private4", "prefix": ip_network("10.99.0.0/24"), "group": cabled_network.group}
    with pytest.raises(Problem, match=r"10\.99\.0\.1 is a virtual address"):
        add_pool(**given, kept_first=0, by=cabled_network.admin)
    assert add_pool(**given, by=cabled_network.admin).kept_first == 10


def test_a_virtual_address_cannot_be_banned(cabled_network: factories.Network) -> None:
    change(cabled_network)
    assert any(network == ip_network("192.0.2.2/32") and "Lindenhof" in name for network, name in list_own_networks())


def test_the_end_of_managing_it_can_be_undone(cabled_network: factories.Network) -> None:
    row = change(cabled_network)
    with pytest.raises(Conflict):
        stop_managing_failover(group=cabled_network.group, version=7, by=cabled_network.admin)
    event = stop_managing_failover(group=cabled_network.group, version=row.version, by=cabled_network.admin)
    assert event and not Failover.objects.exists()
    assert stop_managing_failover(group=cabled_network.group, version=0, by=cabled_network.admin) is None
    undo_event(model=Failover, event=event, by=cabled_network.admin)
    assert list(map(str, get_failover(cabled_network.group).inside)) == INSIDE


def test_an_undo_brings_the_former_values_back_if_they_are_possible_still(cabled_network: factories.Network) -> None:
    row = change(cabled_network)
    change(cabled_network, outside=["192.0.2.3/24", "2001:db8:b0::fe/64"])
    Gateway.objects.filter(name="nat-1").update(address=ip_address("192.0.2.2"))
    event = find_last_event(Failover, row.pk) or 0
    with pytest.raises(Problem, match=r"192\.0\.2\.2 belongs to nat-1 alone"):
        undo_event(model=Failover, event=event, by=cabled_network.admin)
    Gateway.objects.filter(name="nat-1").update(address=None)
    undo_event(model=Failover, event=event, by=cabled_network.admin)
    assert list(map(str, get_failover(cabled_network.group).outside)) == OUTSIDE


def test_an_undo_does_not_replace_what_has_been_set_since(cabled_network: factories.Network) -> None:
    row = change(cabled_network)
    event = stop_managing_failover(group=cabled_network.group, version=row.version, by=cabled_network.admin) or 0
    change(cabled_network)
    with pytest.raises(Problem, match="has been set again since"):
        undo_event(model=Failover, event=event, by=cabled_network.admin)


def test_a_removed_group_returns_with_its_failover(network: factories.Network) -> None:
    group = GatewayGroup.objects.create(name="Elsewhere")
    change_failover(group=group, version=0, inside=parse("fe80::1/64"), by=None)
    pk = group.pk
    event = remove_group(group=group, by=network.admin) or 0
    assert not Failover.objects.exists()
    undo_event(model=GatewayGroup, event=event, by=network.admin)
    assert Failover.objects.get().group_id == pk


def test_whatever_is_stored_passes_the_check_of_the_programs(cabled_network: factories.Network) -> None:
    check_failover_row(change(cabled_network, virtual_router=255, interval=5, failback=5, cache="external"))
