"""The policy snapshot: what it takes from the database into each gateway's policy."""

from datetime import timedelta
from ipaddress import IPv4Address, IPv4Network, IPv6Network

import pytest
from django.db import connection
from django.utils import timezone

from apps.bans.models import AllowEntry, Ban, BanList
from apps.deployments.desired_state import policy_snapshot
from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.members.models import Member
from apps.nat.services import add_forward, remove_forward
from apps.network.models import GatewayGroup
from firewall.policy import AllowEntrySpec, ForwardSpec, Policy, PolicyError, TransportProtocol
from firewall.policy import BanSpec as PolicyBan
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(transactional_db: None) -> factories.Network:
    return factories.network()


def policy(network: factories.Network) -> Policy:
    return policy_snapshot.take_snapshot(network.group).policies[network.gateways[0].pk]


def test_a_member_is_address_prefix_and_mapping(network: factories.Network) -> None:
    taken = policy(network)
    assert IPv4Address("10.16.0.10") in taken.addresses
    assert IPv6Network("2001:db8:a0:10::/64") in taken.prefixes
    assert {str(each.private): str(each.public) for each in taken.mappings}["10.16.0.10"] == "198.51.100.7"


def test_each_gateway_has_its_own_interfaces(network: factories.Network) -> None:
    taken = policy_snapshot.take_snapshot(network.group)
    assert {each.gateway.name for each in taken.policies.values()} == {"nat-1", "nat-2"}


@pytest.mark.parametrize("state", ["pending", "left"])
def test_who_is_not_active_is_not_on_the_gateways(network: factories.Network, state: str) -> None:
    resident = network.residents["m1"]
    add_forward(holding=resident.holding, public=factories.PUBLIC, protocol="tcp", public_port=80, private_port=80, by=network.admin)
    Member.objects.filter(pk=resident.member.pk).update(state=state)
    taken = policy(network)
    assert IPv4Address("10.16.0.10") not in taken.addresses
    assert IPv4Address("10.16.0.10") not in {each.private for each in taken.mappings}
    assert taken.forwards == ()


def test_a_forward_that_is_off_or_removed_is_left_out(network: factories.Network) -> None:
    holding = network.residents["m1"].holding
    kept, off, removed = (
        add_forward(holding=holding, public=factories.PUBLIC, protocol="udp", public_port=port, private_port=53, by=network.admin)
        for port in (1, 2, 3)
    )
    type(off).objects.filter(pk=off.pk).update(enabled=False)
    remove_forward(forward=removed, by=network.admin)
    assert policy(network).forwards == (ForwardSpec(kept.pk, TransportProtocol.UDP, factories.PUBLIC, 1, IPv4Address("10.16.0.10"), 53),)


def test_a_prefix_on_two_lists_is_one_ban_that_ends_last(network: factories.Network) -> None:
    first, second, off = (BanList.objects.create(name=name, enabled=name != "off") for name in ("a", "b", "off"))
    now = timezone.now()
    one = Ban.objects.create(list=first, prefix="192.0.2.0/24", comment="one", expires=now + timedelta(hours=1))
    Ban.objects.create(list=second, prefix="192.0.2.0/24", comment="two", expires=now + timedelta(hours=2))
    Ban.objects.create(list=second, prefix="203.0.113.9", comment="over", expires=now - timedelta(hours=2))
    Ban.objects.create(list=off, prefix="203.0.113.10")
    [ban] = policy(network).bans
    assert ban == PolicyBan(one.pk, IPv4Network("192.0.2.0/24"), "one", ban.expires)
    assert 7195 <= ban.expires - now.timestamp() <= 7202


def test_a_prefix_that_is_banned_for_ever_somewhere_never_ends(network: factories.Network) -> None:
    for name, expires in (("a", timezone.now() + timedelta(hours=1)), ("b", None)):
        Ban.objects.create(list=BanList.objects.create(name=name), prefix="192.0.2.0/24", expires=expires)
    assert [ban.expires for ban in policy(network).bans] == [0]


def test_lists_that_ban_a_prefix_in_different_directions_unite(network: factories.Network) -> None:
    coming, going = (BanList.objects.create(name=name) for name in ("a", "b"))
    Ban.objects.create(list=coming, prefix="192.0.2.0/24", direction="in")
    Ban.objects.create(list=going, prefix="192.0.2.0/24", direction="out")
    assert [(ban.direction, ban.expires) for ban in policy(network).bans] == [("both", 0)]


def test_two_directions_with_ends_of_their_own_are_two_bans(network: factories.Network) -> None:
    now = timezone.now()
    for name, direction, expires in (("a", "in", now + timedelta(hours=1)), ("b", "out", None), ("c", "in", now + timedelta(hours=2))):
        Ban.objects.create(list=BanList.objects.create(name=name), prefix="192.0.2.0/24", direction=direction, expires=expires)
    coming, going = policy(network).bans
    assert (coming.direction, going.direction, going.expires) == ("in", "out", 0)
    assert 7195 <= coming.expires - now.timestamp() <= 7202


def test_the_allow_list_reaches_every_group_until_its_entries_end(network: factories.Network) -> None:
    now = timezone.now()
    stays = AllowEntry.objects.create(prefix="192.0.2.7", comment="mirror")
    AllowEntry.objects.create(prefix="2001:db8:66::/48", expires=now - timedelta(hours=1))
    assert policy(network).allowed == (AllowEntrySpec(stays.pk, IPv4Network("192.0.2.7"), "mirror"),)


def test_the_snapshot_knows_which_changes_it_saw(network: factories.Network) -> None:
    holding = network.residents["m1"].holding
    before = policy_snapshot.take_snapshot(network.group)
    forward = add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=80, private_port=80, by=network.admin)
    after = policy_snapshot.take_snapshot(network.group)
    with connection.cursor() as cursor:
        for taken, seen in ((before, False), (after, True)):
            cursor.execute("SELECT pg_visible_in_snapshot(%s::xid8, %s::pg_snapshot)", [str(forward.changed_in), taken.moment.seen])
            assert cursor.fetchone() == (seen,)


def test_another_groups_members_are_not_its_business(network: factories.Network) -> None:
    other = GatewayGroup.objects.create(name="Other")
    factories.gateway(other, "nat-9")
    [taken] = policy_snapshot.take_snapshot(other).policies.values()
    assert taken.addresses == ()


def test_a_group_without_gateways_wants_nothing(network: factories.Network) -> None:
    assert compute_desired_state(GatewayGroup.objects.create(name="Empty")).rulesets == {}


def test_what_must_not_be_deployed_names_its_culprit(network: factories.Network) -> None:
    network.gateways[0].lan = 'lan"'
    network.gateways[0].save()
    with pytest.raises(PolicyError, match="interface 'lan\"'"):
        compute_desired_state(network.group)
