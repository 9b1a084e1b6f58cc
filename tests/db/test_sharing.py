"""Sharing of a public pool: which address and ports members get, what excludes others, and the change of a pool's sharing."""

from datetime import timedelta
from ipaddress import IPv4Address, ip_network

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from psycopg.types.range import Int4Range

from apps.lib.database.validity import is_valid_now
from apps.lib.errors import Problem
from apps.nat import services
from apps.nat.models import NatMapping, PortClaim
from apps.nat.pool_sharing import change_sharing, plan_sharing
from apps.nat.selectors import list_mappings_at
from apps.network import services as network_services
from apps.network.models import BLOCK_SIZES, Holding, Pool, find_block_size
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def network() -> factories.Network:
    return factories.network()


def use(network: factories.Network, sharing: str, block_size: int | None = None) -> int:
    moved = change_sharing(pool=network.public, sharing=sharing, block_size=block_size, by=network.admin)
    network.public.refresh_from_db()
    return moved


def read_places(network: factories.Network) -> dict[str, tuple[str, str]]:
    """Return the public address and ports of each resident now."""
    found = {}
    for name, resident in network.residents.items():
        mapping = NatMapping.objects.get(is_valid_now(), holding=resident.holding)
        found[name] = (str(mapping.public), mapping.ports)
    return found


def newcomer(network: factories.Network, number: int, name: str = "New") -> Holding:
    return factories.make_holding(factories.member(name), network.private, f"10.16.1.{number}/32")


def map_refused(network: factories.Network, holding: Holding, **where: object) -> Problem:
    with pytest.raises(Problem) as caught:
        services.map_address(holding=holding, by=network.admin, **where)  # type: ignore[arg-type]  # mixed types
    return caught.value


def test_who_changes_to_own_addresses_keeps_his_where_nobody_else_has_it(network: factories.Network) -> None:
    assert read_places(network) == {name: (f"198.51.100.{7 + n // 2}", "") for n, name in enumerate(network.residents)}
    assert use(network, "own") == 4
    assert read_places(network) == {
        "m1": ("198.51.100.7", ""),
        "m2": ("198.51.100.1", ""),
        "m3": ("198.51.100.8", ""),
        "m4": ("198.51.100.2", ""),
    }


def test_who_changes_to_blocks_keeps_his_address_and_has_ports_of_his_own(network: factories.Network) -> None:
    use(network, "blocks", 4096)
    assert read_places(network) == {
        "m1": ("198.51.100.7", "4096–8191"),
        "m2": ("198.51.100.7", "8192–12287"),
        "m3": ("198.51.100.8", "4096–8191"),
        "m4": ("198.51.100.8", "8192–12287"),
    }
    assert use(network, "shared") == 4
    assert {ports for _public, ports in read_places(network).values()} == {""}
    assert not PortClaim.objects.filter(is_valid_now(), mapping_id__isnull=False).exists()


def test_nothing_changes_for_a_pool_that_is_used_so_already(network: factories.Network) -> None:
    before = set(NatMapping.objects.values_list("pk", flat=True))
    assert use(network, "shared") == 0
    assert set(NatMapping.objects.values_list("pk", flat=True)) == before


def test_whose_forwards_lie_in_a_block_is_given_that_block(network: factories.Network) -> None:
    mine = network.residents["m2"]
    services.add_forward(
        holding=mine.holding, public=mine.mapping.public, protocol="tcp", public_port=33000, private_port=80, by=network.admin
    )
    use(network, "blocks", 1024)
    assert read_places(network)["m2"] == ("198.51.100.7", "32768–33791")
    assert read_places(network)["m1"] == ("198.51.100.7", "1024–2047")


def test_an_address_with_a_forward_of_another_is_nobodys_own(network: factories.Network) -> None:
    other = newcomer(network, 1, "Other")
    services.add_forward(
        holding=other, public=IPv4Address("198.51.100.7"), protocol="udp", public_port=53, private_port=53, by=network.admin
    )
    use(network, "own")
    assert "198.51.100.7" not in {public for public, _ports in read_places(network).values()}
    problem = map_refused(network, network.residents["m1"].holding, public=IPv4Address("198.51.100.7"))
    assert "198.51.100.7 cannot be the address of one member alone: Other has it" in str(problem)


def test_too_few_addresses_for_all_leave_everything_as_it_was(network: factories.Network) -> None:
    small = factories.pool(network.group, "public4", "192.0.2.64/31")
    for number in range(3):
        services.map_address(holding=newcomer(network, number + 1), pool=small, by=network.admin)
    with pytest.raises(Problem, match="3 members use this pool, but it has addresses for only 2 of them") as caught, transaction.atomic():
        change_sharing(pool=small, sharing="own", block_size=None, by=network.admin)
    assert caught.value.fieldname == "sharing"
    assert NatMapping.objects.filter(is_valid_now(), pool=small, sharing="shared").count() == 3
    small.refresh_from_db()
    assert small.sharing == "shared"
    change_sharing(pool=small, sharing="blocks", block_size=16384, by=network.admin)
    with pytest.raises(Problem, match="The block size can change only while no member has a block") as caught:
        change_sharing(pool=small, sharing="blocks", block_size=64, by=network.admin)
    assert caught.value.fieldname == "block_size"


def test_the_next_member_is_given_the_next_free_block_and_then_the_next_address(network: factories.Network) -> None:
    narrow = factories.pool(network.group, "public4", "192.0.2.64/31", sharing="blocks", block_size=16384)
    given = [services.map_address(holding=newcomer(network, n), pool=narrow, by=network.admin) for n in range(1, 7)]
    assert [(str(each.public), each.ports) for each in given] == [
        (f"192.0.2.{64 + n // 3}", f"{16384 * (n % 3 + 1)}–{16384 * (n % 3 + 2) - 1}") for n in range(6)
    ]
    problem = map_refused(network, newcomer(network, 7), pool=narrow)
    assert "Nothing is free in public4 192.0.2.64/31" in str(problem)
    services.unmap_address(mapping=given[1], by=network.admin)
    again = services.map_address(holding=newcomer(network, 8), pool=narrow, by=network.admin)
    assert (str(again.public), again.ports) == ("192.0.2.64", "32768–49151")


def test_devices_of_one_member_leave_from_one_place(network: factories.Network) -> None:
    use(network, "own")
    member = factories.member("Two devices")
    one, other = (factories.make_holding(member, network.private, f"10.16.1.{n}/32") for n in (1, 2))
    first, second = (services.map_address(holding=each, by=network.admin) for each in (one, other))
    assert first.public == second.public
    use(network, "blocks", 256)
    assert len({(each.public, each.ports) for each in NatMapping.objects.filter(is_valid_now(), holding__member=member)}) == 1


def test_a_forward_in_the_block_of_another_is_refused_with_his_name_and_a_free_port(network: factories.Network) -> None:
    use(network, "blocks", 4096)
    mine = network.residents["m1"]
    wanted = {"holding": mine.holding, "public": IPv4Address("198.51.100.7"), "protocol": "tcp", "private_port": 80, "by": network.admin}
    with pytest.raises(Problem) as caught:
        services.add_forward(**wanted, public_port=9000)  # type: ignore[arg-type]  # mixed types
    said = "Port 9000 of 198.51.100.7 belongs to Resident of m2, who has 8192 to 12287. 12288 is free."
    assert (str(caught.value), caught.value.fieldname, caught.value.offer) == (said, "public_port", "12288")
    assert services.add_forward(**wanted, public_port=5000).pk  # type: ignore[arg-type]  # in their own block
    assert services.add_forward(**wanted, public_port=443).pk  # type: ignore[arg-type]  # below all blocks


def test_a_forward_on_the_own_address_of_another_is_refused(network: factories.Network) -> None:
    use(network, "own")
    mine = network.residents["m1"].holding
    with pytest.raises(Problem, match=r"198\.51\.100\.8 is the address of Resident of m3 alone"):
        services.add_forward(
            holding=mine, public=IPv4Address("198.51.100.8"), protocol="tcp", public_port=80, private_port=80, by=network.admin
        )


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE nat_natmapping SET block = int4range(4096, 8192) WHERE id = %(m2)s",
        "UPDATE nat_natmapping SET block = int4range(8191, 8193) WHERE id = %(m2)s",
        "UPDATE nat_natmapping SET sharing = 'own', block = NULL WHERE id = %(m2)s",
        "UPDATE nat_natmapping SET public = '198.51.100.8', block = int4range(4096, 4160) WHERE id = %(m1)s",
        "UPDATE network_holding SET member_id = %(other)s WHERE id = (SELECT holding_id FROM nat_portforward)",
        "UPDATE nat_portforward SET public_port = 8192",
    ],
)
def test_the_database_itself_lets_no_two_members_have_the_same_ports(network: factories.Network, statement: str) -> None:
    use(network, "blocks", 4096)
    mine = network.residents["m1"].holding
    services.add_forward(
        holding=mine, public=IPv4Address("198.51.100.7"), protocol="tcp", public_port=5000, private_port=80, by=network.admin
    )
    second = factories.make_holding(network.residents["m1"].member, network.private, "10.16.1.9/32")
    two = services.map_address(holding=second, by=network.admin)
    ids = {name: NatMapping.objects.get(is_valid_now(), holding=each.holding).pk for name, each in network.residents.items()}
    with pytest.raises(IntegrityError, match="portclaim_of_one_member"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, {**ids, "other": network.residents["m2"].member.pk})
    assert two.ports == "4096–8191"


@pytest.mark.parametrize("block", [Int4Range(0, 64), Int4Range(65000, 65537), Int4Range(empty=True), None])
def test_the_database_refuses_what_is_no_block(network: factories.Network, block: Int4Range | None) -> None:
    mapping = network.residents["m1"].mapping
    with pytest.raises(IntegrityError, match="natmapping_block"), transaction.atomic():
        NatMapping.objects.filter(pk=mapping.pk).update(sharing="blocks", block=block)
    with pytest.raises(IntegrityError, match="natmapping_block"), transaction.atomic():
        NatMapping.objects.filter(pk=mapping.pk).update(sharing="own", block=Int4Range(1024, 2048))


def test_claims_go_with_what_they_are_of(network: factories.Network) -> None:
    use(network, "own")
    mine = network.residents["m1"].holding
    services.add_forward(
        holding=mine, public=IPv4Address("198.51.100.7"), protocol="tcp", public_port=5000, private_port=80, by=network.admin
    )
    assert PortClaim.objects.filter(is_valid_now()).count() == 5
    NatMapping.objects.filter(is_valid_now(), holding=mine).delete()
    assert PortClaim.objects.filter(is_valid_now()).count() == 4
    mine.portforwards.all().delete()
    assert PortClaim.objects.filter(is_valid_now(), member_id=mine.member_id).count() == 0


def test_a_public_address_and_a_port_have_one_answer_at_each_time(network: factories.Network) -> None:
    use(network, "blocks", 4096)
    at, public = timezone.now() + timedelta(seconds=1), IPv4Address("198.51.100.7")
    assert [each.holding.member.name for each in list_mappings_at(public, at, 8192)] == ["Resident of m2"]
    assert [each.holding.member.name for each in list_mappings_at(public, at, 8191)] == ["Resident of m1"]
    assert not list_mappings_at(public, at, 60000)
    assert len(list_mappings_at(public, at)) == 2
    use(network, "own")
    later = timezone.now() + timedelta(seconds=1)
    assert [each.holding.member.name for each in list_mappings_at(public, later, 8192)] == ["Resident of m1"]


@pytest.mark.parametrize(("prefix", "sharing", "size"), [("192.0.2.0/28", "own", None), ("192.0.2.64/31", "blocks", 1024)])
def test_a_new_pool_gives_each_an_address_if_it_has_enough_else_a_block(
    network: factories.Network, prefix: str, sharing: str, size: int | None
) -> None:
    made = network_services.add_pool(name="New", kind="public4", prefix=ip_network(prefix), group=network.group, by=network.admin)
    assert (made.sharing, made.block_size) == (sharing, size)


@pytest.mark.parametrize(
    ("addresses", "members", "size"),
    [(1, 50, 1024), (1, 51, 512), (1, 100, 512), (1, 101, 256), (1, 201, 256), (1, 202, None), (14, 705, 1024), (14, 706, 512)],
)
def test_blocks_are_as_large_as_leaves_room_for_a_quarter_more_members(addresses: int, members: int, size: int | None) -> None:
    assert find_block_size(addresses, members) == size


@pytest.mark.parametrize(
    ("before_it", "sharing", "size"),
    [("shared", "blocks", 4096), ("shared", "own", None), ("blocks", "own", None), ("own", "blocks", 4096)],
)
def test_what_a_plan_shows_is_what_the_change_does(network: factories.Network, before_it: str, sharing: str, size: int | None) -> None:
    use(network, "blocks", 1024)
    use(network, "shared")
    use(network, before_it, 2048 if before_it == "blocks" else None)
    planned = plan_sharing(pool=network.public, sharing=sharing, block_size=size)
    promised = {each.current.holding_id: (str(each.place.public), each.place.ports) for each in planned}
    before = read_places(network)
    assert network.public.sharing == before_it and read_places(network) == before  # a plan changes nothing
    use(network, sharing, size)
    assert promised == {network.residents[name].holding.pk: leaves for name, leaves in read_places(network).items()}


@pytest.mark.parametrize(
    ("kind", "sharing", "size", "fieldname"),
    [
        ("private4", "own", None, "sharing"),
        ("public4", "own", 1024, "block_size"),
        ("public4", "blocks", None, "block_size"),
        ("public4", "blocks", 1000, "block_size"),
    ],
)
def test_a_pool_that_nobody_can_use_so_is_refused_at_its_field(kind: str, sharing: str, size: int | None, fieldname: str) -> None:
    with pytest.raises(Problem) as caught:
        network_services.check_sharing(kind, sharing, size)
    assert caught.value.fieldname == fieldname


def test_blocks_of_every_size_fit_between_the_first_port_and_the_last(network: factories.Network) -> None:
    for size in BLOCK_SIZES:
        pool = factories.pool(network.group, "public4", f"192.0.{2 + BLOCK_SIZES.index(size)}.64/32", sharing="blocks", block_size=size)
        mapping = services.map_address(holding=newcomer(network, BLOCK_SIZES.index(size) + 1), pool=pool, by=network.admin)
        first, last = map(int, mapping.ports.split("–"))
        assert (first, last) == (max(1024, size), max(1024, size) + size - 1)
    assert Pool.objects.filter(sharing="blocks").count() == len(BLOCK_SIZES)
