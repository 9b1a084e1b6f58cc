"""Several querysets read in one query have the same rows as read one by one."""

from typing import Any

import pytest
from django.contrib.postgres.fields import DateTimeRangeField
from django.db import connection
from django.db.models import Count, Func, QuerySet, Value
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from apps.bans.models import Block, Upload
from apps.deployments.models import GatewayState, RolloutStep
from apps.deployments.services import reconcile
from apps.lib.database.joint_reads import read_together
from apps.lib.web.frame_reads import FRAME, compile_frame
from apps.members.models import Member
from apps.nat.models import PortForward
from apps.network.models import Gateway, Holding, Pool
from tests import factories
from tests.db.example_objects import one_of_each
from tests.db.page_client import queries, signed_in
from tests.db.row_descriptions import describe_row


def read_jointly(queryset: QuerySet[Any, Any]) -> list[Any]:
    [rows] = read_together(queryset)
    return rows


def test_rows_have_the_same_values_and_relations_as_alone(served_network: factories.Network) -> None:
    one_of_each(served_network)
    assert reconcile(served_network.group)
    for queryset in (
        Holding.objects.select_related("device", "pool", "member__tariff"),
        Block.objects.select_related("author"),
        PortForward.objects.defer("purpose"),
        Gateway.objects.select_related("group__profile", "status__revision"),
        GatewayState.objects.all(),
        RolloutStep.objects.select_related("gateway"),
        Pool.objects.all(),
        Member.objects.order_by("-number").annotate(number_held=Count("holdings"), same=Value(1.0))[:2],
        Member.objects.values_list("name", "since"),
    ):
        alone = [describe_row(row) for row in queryset.all()]
        assert alone and [describe_row(row) for row in read_jointly(queryset)] == alone


def test_flat_and_named_values_stay_what_they_are(network: factories.Network) -> None:
    members = Member.objects.order_by("number")
    assert read_jointly(members.values_list("since", flat=True)) == list(members.values_list("since", flat=True))
    assert read_jointly(members.values("name", "since")) == list(members.values("name", "since"))


def test_all_of_them_cost_one_query(network: factories.Network) -> None:
    with CaptureQueriesContext(connection) as made:
        members, none, pools = read_together(Member.objects.order_by("pk"), Member.objects.none(), Pool.objects.order_by("pk"))
    assert len(made) == 1
    assert (members, none, pools) == (list(Member.objects.order_by("pk")), [], list(Pool.objects.order_by("pk")))


def test_an_empty_range_and_an_open_one_are_told_apart(network: factories.Network) -> None:
    empty = Func(Now(), Now(), function="tstzrange", output_field=DateTimeRangeField())
    [held, *_] = read_jointly(Holding.objects.annotate(empty=empty))
    assert held.empty.isempty
    assert not held.valid.isempty and held.valid.upper is None


def test_a_column_that_json_cannot_hold_is_refused(network: factories.Network) -> None:
    with pytest.raises(TypeError, match="content cannot be read jointly"):
        read_together(Upload.objects.all())


def test_everything_that_the_frame_reads_is_what_each_reads_alone(served_network: factories.Network) -> None:
    one_of_each(served_network)
    factories.alive()
    assert reconcile(served_network.group)
    together = compile_frame(len(FRAME)).read()
    for reader, rows in zip(FRAME, together, strict=True):
        assert [describe_row(row) for row in rows] == [describe_row(row) for row in reader.build()], reader


def test_the_frame_of_a_page_costs_four_queries(network: factories.Network) -> None:
    """Session, account, all that the frame shows, and the sums of the network; and one for the list of tariffs."""
    assert queries(signed_in(network.admin), "/tariffs/") <= 5
