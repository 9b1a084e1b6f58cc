"""Pagination of long lists: pages are complete and in order, and join other tables only for their own rows."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.bans.models import BanList
from apps.deployments.services import reconcile
from apps.lib.web.paginators import DeferredJoinPaginator
from apps.nat.list_search import find_forwards
from apps.nat.models import PortForward
from apps.nat.services import add_forward
from tests import factories
from tests.db.example_objects import one_of_each
from tests.db.page_client import queries, signed_in


def ports(network: factories.Network, *wanted: int) -> None:
    for number in wanted:
        resident = network.residents["m1"]
        add_forward(
            holding=resident.holding, protocol="tcp", public=resident.mapping.public, public_port=number, private_port=80, purpose="",
            by=network.admin,
        )  # fmt: skip


def test_pages_have_all_rows_in_order_and_join_those_of_the_page_alone(network: factories.Network) -> None:
    ports(network, 5003, 5001, 5005, 5002, 5004)
    pages = DeferredJoinPaginator(find_forwards(""), 2)
    assert [[each.public_port for each in page] for page in pages] == [[5001, 5002], [5003, 5004], [5005]]
    with CaptureQueriesContext(connection) as found:
        forward, _ = pages.get_page(2)
        assert str(forward.holding.member) and pages.get_page(99).number == 3
    [skipping, reading] = [each["sql"] for each in found.captured_queries[:2]]
    assert "JOIN" not in skipping and "OFFSET 2" in skipping and "JOIN" in reading and "OFFSET" not in reading
    assert DeferredJoinPaginator(find_forwards(""), 2, count=3).num_pages == 2


@pytest.mark.parametrize("number", range(1, 12))
def test_pages_behind_the_middle_are_counted_from_the_end_and_have_what_they_had(network: factories.Network, number: int) -> None:
    ports(network, *range(5001, 5001 + number))
    rows_ = find_forwards("")
    assert [row.pk for page in DeferredJoinPaginator(rows_, 3) for row in page] == [row.pk for row in rows_]
    with CaptureQueriesContext(connection) as found:
        DeferredJoinPaginator(rows_, 3, count=number).get_page(99)
    assert "OFFSET" not in found.captured_queries[0]["sql"]


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/", 23),
        ("/members/", 10),
        ("/members/?q=resident", 13),
        ("/forwards/", 10),
        ("/pinholes/", 9),
        ("/bans/", 6),
        ("/bans/1/", 18),
        ("/gateways/", 10),
    ],
)
def test_pages_of_staff_stay_within_their_queries(served_network: factories.Network, path: str, most: int) -> None:
    one_of_each(served_network)
    assert reconcile(served_network.group)
    assert queries(signed_in(served_network.admin), path.replace("/1/", f"/{BanList.objects.get().pk}/")) <= most


def test_a_claim_is_written_anew_only_when_it_says_something_else(network: factories.Network) -> None:
    ports(network, 5001)
    forward = PortForward.objects.get()

    def claim() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT id FROM nat_portclaim WHERE forward_id = %s", [forward.pk])
            [(pk,)] = cursor.fetchall()
        return int(pk)

    before = claim()
    PortForward.objects.update(purpose="web", enabled=False, private_port=8080)
    assert claim() == before
    PortForward.objects.update(public_port=5009)
    assert claim() != before
