"""Rows that a request reads once, and ahead of the parts that need them."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.http import HttpResponse
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext

from apps.desk.selectors.member_reads import ROWS_OF_MEMBER
from apps.lib.web.cached_rows import cache_rows, read_ahead
from apps.lib.web.request_cache import RequestCacheMiddleware
from apps.members.models import Device, Member
from apps.members.selectors import list_cached_devices
from apps.network.selectors import list_cached_holdings
from tests import factories
from tests.db.example_objects import one_of_each


def count_queries_of_request(work: Callable[[], object], method: str = "GET") -> int:
    """Return how many queries the work makes in a request of this method."""

    def respond(_request: object) -> HttpResponse:
        work()
        return HttpResponse()

    with CaptureQueriesContext(connection) as made:
        RequestCacheMiddleware(respond)(RequestFactory().generic(method, "/"))
    return len(made)


def test_everything_read_ahead_of_a_member_is_what_each_reads_alone(network: factories.Network) -> None:
    one_of_each(network)
    members = [each.member for each in network.residents.values()]
    alone = {member.pk: [reader(member) for reader in ROWS_OF_MEMBER] for member in members}
    assert sum(bool(rows) for found in alone.values() for rows in found) > 2 * len(members)

    def read_each() -> None:
        for member in members:
            read_ahead(member, *ROWS_OF_MEMBER)
            assert [reader(member) for reader in ROWS_OF_MEMBER] == alone[member.pk]

    assert count_queries_of_request(read_each) == len(members)


def test_what_is_known_is_not_read_ahead_again(network: factories.Network) -> None:
    member = network.residents["m1"].member

    def read_twice() -> None:
        read_ahead(member, list_cached_devices)
        read_ahead(member, list_cached_devices, list_cached_holdings)
        read_ahead(member, list_cached_devices, list_cached_holdings)

    assert count_queries_of_request(read_twice) == 2


def test_a_request_that_writes_sees_its_own_changes(network: factories.Network) -> None:
    member = network.residents["m1"].member

    def write() -> None:
        read_ahead(member, list_cached_devices)
        before = len(list_cached_devices(member))
        Device.objects.create(member=member, name="New", mac="02:00:5e:00:53:99")
        assert len(list_cached_devices(member)) == before + 1

    assert count_queries_of_request(write, "POST") == 3


def test_a_selector_that_needs_more_than_the_id_cannot_be_read_ahead(network: factories.Network) -> None:
    @cache_rows
    def list_namesakes(member: Member) -> QuerySet[Member]:
        return Member.objects.filter(name=member.name)

    with pytest.raises(Member.DoesNotExist):
        count_queries_of_request(lambda: read_ahead(network.residents["m1"].member, list_namesakes))
