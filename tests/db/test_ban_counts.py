"""The number of bans on each list, which triggers keep: true whatever is written and however, and summed up by retention."""

from collections.abc import Callable
from ipaddress import ip_network
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Count
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.bans import services
from apps.bans.feed_import import import_feed
from apps.bans.feed_parser import parse_feed
from apps.bans.models import Ban, BanCount, BanList
from apps.bans.retention import sum_up_counts
from apps.bans.selectors import count_bans, list_ban_lists, summarize_list
from tests import factories
from tests.db.page_client import signed_in, text

LISTS = (1, 2)


def write_some(list_id: int, numbers: list[int]) -> None:
    Ban.objects.bulk_create([Ban(list_id=list_id, prefix=ip_network(f"192.0.2.{number}")) for number in numbers], ignore_conflicts=True)


def remove_some(list_id: int, numbers: list[int]) -> None:
    Ban.objects.filter(list=list_id, prefix__in=[ip_network(f"192.0.2.{number}") for number in numbers]).delete()


def write_and_take_back(list_id: int, numbers: list[int]) -> None:
    with transaction.atomic():
        write_some(list_id, numbers)
        transaction.set_rollback(True)


def move_all(list_id: int, _numbers: list[int]) -> None:
    other = 3 - list_id
    Ban.objects.filter(list=list_id).exclude(prefix__in=Ban.objects.filter(list=other).values("prefix")).update(list=other)


def save_all(list_id: int, _numbers: list[int]) -> None:
    for ban in Ban.objects.filter(list=list_id):
        ban.save()


def sum_up(_list_id: int, _numbers: list[int]) -> None:
    sum_up_counts(timezone.now(), 1)


WAYS: list[Callable[[int, list[int]], None]] = [write_some, remove_some, write_and_take_back, move_all, save_all, sum_up]


class TestCounts(TestCase):
    @settings(deadline=None)
    @given(steps=st.lists(st.tuples(st.sampled_from(WAYS), st.sampled_from(LISTS), st.lists(st.integers(0, 9), max_size=9)), max_size=8))
    def test_the_number_is_that_of_the_rows_whatever_was_written(self, steps: list[tuple[Any, int, list[int]]]) -> None:
        for pk in LISTS:
            BanList.objects.create(pk=pk, name=f"List {pk}")
        for write, list_id, numbers in steps:
            write(list_id, numbers)
        rows = {each.pk: each.rows for each in BanList.objects.annotate(rows=Count("bans"))}
        assert {each.pk: count_bans(each) for each in BanList.objects.all()} == rows
        assert {each.list.pk: each.bans for each in list_ban_lists()} == rows


@pytest.fixture
def banlist(db: None) -> BanList:
    return services.create_list(name="Own", by=factories.user())


def test_a_feed_is_counted_and_so_are_bans_that_have_ended(banlist: BanList) -> None:
    import_feed(list=banlist, feed=parse_feed("192.0.2.1\n192.0.2.2\n192.0.2.3\n"), by=None)
    import_feed(list=banlist, feed=parse_feed("192.0.2.3\n192.0.2.4\n"), by=None)
    assert count_bans(banlist) == 2
    Ban.objects.filter(prefix=ip_network("192.0.2.4")).update(expires=timezone.now())
    assert (count_bans(banlist), summarize_list(banlist).bans, list_ban_lists()[0].bans) == (2, 1, 1)


def test_a_deleted_list_leaves_no_number_once_they_are_summed_up(banlist: BanList) -> None:
    write_some(banlist.pk, [1, 2])
    services.delete_list(list=banlist, by=None)
    sum_up_counts(timezone.now(), 1)
    assert not BanCount.objects.exists()


def test_a_wrong_number_is_right_after_the_next_sum(banlist: BanList) -> None:
    write_some(banlist.pk, [1, 2])
    BanCount.objects.create(list=banlist, number=70)
    sum_up_counts(timezone.now(), 1)
    assert list(BanCount.objects.values_list("list", "number")) == [(banlist.pk, 2)]


def test_a_page_of_a_list_counts_no_rows_and_says_the_right_number(banlist: BanList) -> None:
    write_some(banlist.pk, list(range(120)))
    staff = signed_in(factories.user("other"))
    with CaptureQueriesContext(connection) as captured:
        page = text(staff.get(f"/bans/{banlist.pk}/?page=3"))
    assert "Rows 101–120 of 120" in page and "120 bans are in force" in page and "192.0.2.119" in page
    counting = [each["sql"] for each in captured if each["sql"].startswith("SELECT COUNT(") and 'FROM "bans_ban"' in each["sql"]]
    assert all('"expires" <=' in each for each in counting), counting


@pytest.mark.parametrize("sort", ["prefix", "-prefix", "created", "-created", "hits", "-last", "comment", "way", "-expires"])
def test_each_order_shows_each_ban_once(banlist: BanList, sort: str) -> None:
    write_some(banlist.pk, list(range(120)))
    staff = signed_in(factories.user("other"))
    pages = [text(staff.get(f"/bans/{banlist.pk}/?sort={sort}&page={page}")) for page in (1, 2, 3)]
    assert all(sum(f">192.0.2.{number}<" in page for page in pages) == 1 for number in range(120))
