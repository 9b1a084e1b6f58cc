"""A compiled query has the same rows as its queryset, however often it is read, and with other values."""

from typing import Any

from django.db.models import Q, QuerySet
from django.test import Client
from django.utils import timezone

from apps.accounts.tokens import create_token, find_token
from apps.deployments import services
from apps.deployments.approvals import approval_gate
from apps.deployments.approvals.kinds import MANAGEMENT
from apps.deployments.desired_state import gateway_reader
from apps.deployments.models import HeldBack, Hold
from apps.deployments.rollouts import gateway_cache, rollout_due
from apps.deployments.services import reconcile
from apps.gateways.roles import observation
from apps.gateways.roles.models import FailoverStatus, GatewayRole
from apps.lib.api.object_lookup import compile_lookup, find_object
from apps.lib.database.compiled_query import STAND_IN, CompiledQuery
from apps.lib.web.frame_reads import FRAME
from apps.members.models import Member
from apps.nat.api import ForwardViewSet
from apps.nat.models import PortForward
from apps.nat.services import remove_forward
from apps.network.models import GatewayGroup
from portal.api import router
from tests import factories
from tests.db.example_objects import one_of_each
from tests.db.row_descriptions import describe_row


def test_rows_are_those_of_the_queryset_each_time(served_network: factories.Network) -> None:
    one_of_each(served_network)
    assert reconcile(served_network.group)
    for build in (reader.build for reader in FRAME):
        compiled, alone = CompiledQuery(build()), [describe_row(row) for row in build()]
        assert [describe_row(row) for row in compiled.read()] == [describe_row(row) for row in compiled.read()] == alone


def test_a_later_read_sees_later_rows(network: factories.Network) -> None:
    compiled = CompiledQuery(Member.objects.order_by("number"))
    before = compiled.read()
    Member.objects.filter(pk=before[0].pk).update(name="Somebody else")
    assert [row.name for row in compiled.read()] == ["Somebody else", *(row.name for row in before[1:])]


def test_values_take_the_place_of_those_it_was_compiled_for(network: factories.Network) -> None:
    def build(name: str) -> QuerySet[Member]:
        return Member.objects.filter(Q(name=name) | Q(email=name), state="active").order_by("number")

    compiled = CompiledQuery(build("any text"))
    first, second = Member.objects.order_by("number")[:2]
    for member in (first, second):
        assert compiled.read({"any text": member.name}) == list(build(member.name)) == [member]
    assert compiled.read({"any text": "nobody"}) == compiled.read() == []


def test_a_token_is_read_with_its_owner_in_one_query(network: factories.Network, django_assert_num_queries: Any) -> None:
    made, key = create_token(user=network.admin, name="s")
    with django_assert_num_queries(1):
        token = find_token(key)
        assert token == made and token.user == network.admin
    assert find_token("nw_wrong") is None


def test_an_object_of_the_api_is_looked_up_by_a_compiled_query(network: factories.Network) -> None:
    one_of_each(network)
    assert compile_lookup(ForwardViewSet)
    forward = PortForward.objects.get()
    client = Client(headers={"authorization": f"Bearer {create_token(user=network.admin, name='s')[1]}"})
    assert client.get(f"/api/nat/forwards/{forward.pk}/").json()["id"] == forward.pk
    for wrong in (forward.pk + 1, 0, -1, "x", "9" * 30, STAND_IN):
        assert client.get(f"/api/nat/forwards/{wrong}/").status_code == 404
    remove_forward(forward=forward, by=network.admin)
    assert client.get(f"/api/nat/forwards/{forward.pk}/").status_code == 404


def test_objects_looked_up_are_those_of_the_collection(served_network: factories.Network) -> None:
    one_of_each(served_network)
    assert reconcile(served_network.group)
    views: list[tuple[str, Any]] = [(prefix, view) for prefix, view, _name in router.registry]
    found = 0
    for prefix, view in views:
        if query := compile_lookup(view):
            for row in view.queryset.all():
                assert describe_row(find_object(query, str(row.pk))) == describe_row(row), prefix
                found += 1
    assert found > 20


OF_A_GROUP: list[Any] = [
    gateway_reader.read_gateways,
    gateway_reader._read_tables,
    gateway_reader._read_public_prefixes,
    services._read_open_holds,
    rollout_due._read_states,
    rollout_due._read_last_finished,
    gateway_cache._read_confirmed_states,
    approval_gate._read_alive,
    approval_gate._read_management_alive,
    observation._read_carried_families,
]


def test_what_a_look_at_a_group_reads_is_what_its_querysets_find_for_each_group(served_network: factories.Network) -> None:
    one_of_each(served_network)
    rollout = reconcile(served_network.group)
    assert rollout
    Hold.objects.create(group=served_network.group, revision=rollout.revision, why="wait for Monday")
    for digest, kind in enumerate(("forwards", MANAGEMENT)):
        HeldBack.objects.create(group=served_network.group, kind=kind, digest=f"{digest:064d}", packed=b"part")
    status = FailoverStatus.objects.create(gateway=served_network.gateways[0], asked=timezone.now())
    GatewayRole.objects.create(status=status, family=4, role="primary", carries=True, is_drained=False)
    other = GatewayGroup.objects.create(name="Other")
    found: set[int] = set()
    for group in (served_network.group.pk, other.pk, served_network.group.pk):
        for number, read in enumerate(OF_A_GROUP):
            alone = [describe_row(row) for row in read.__wrapped__(group)]  # what functools.wraps adds
            assert [describe_row(row) for row in read(group)] == alone, (read, group)
            found |= {number} if alone else set()
    assert found == set(range(len(OF_A_GROUP)))


def test_a_reader_is_compiled_once_and_sees_later_rows(network: factories.Network, django_assert_num_queries: Any) -> None:
    (before,) = gateway_reader._read_tables(network.group.pk)
    GatewayGroup.objects.filter(pk=network.group.pk).update(flood_mode=not before.flood_mode)
    with django_assert_num_queries(1):
        (after,) = gateway_reader._read_tables(network.group.pk)
    assert after.flood_mode is not before.flood_mode and gateway_reader._read_tables(0) == []
