"""Retention of the history of bans: what a feed brought and dropped is forgotten after a while, what people did is not."""

from datetime import timedelta
from typing import Any

import pghistory
import pytest
from django.apps import apps
from django.utils import timezone

from apps.accounts.models import User
from apps.bans import services
from apps.bans.feed_import import import_feed
from apps.bans.feed_parser import parse_feed
from apps.bans.models import Ban, BanList
from apps.bans.retention import prune_feed_history
from apps.preferences.declarations import KEEP_BAN_HISTORY_DAYS

pytestmark = pytest.mark.django_db

KEPT = timedelta(days=KEEP_BAN_HISTORY_DAYS.default)


@pytest.fixture
def feed() -> BanList:
    return services.create_list(name="Feed", by=None)


@pytest.fixture
def mara() -> User:
    return User.objects.create_user("mara")


def bring(feed: BanList, text: str) -> None:
    import_feed(list=feed, feed=parse_feed(text), by=None)


def list_events() -> list[tuple[str, str]]:
    """Return prefix and kind of each event, in their order."""
    events: Any = apps.get_model("bans", "BanEvent")._default_manager
    return [(str(prefix), label) for prefix, label in events.order_by("pgh_id").values_list("prefix", "pgh_label")]


def prune_in(age: timedelta, at_most: int = 100) -> int:
    return prune_feed_history(timezone.now() + age, at_most)


def test_a_ban_that_a_feed_dropped_is_forgotten_whole_when_the_time_has_passed(feed: BanList) -> None:
    bring(feed, "203.0.113.1\n203.0.113.2")
    bring(feed, "203.0.113.2")
    assert prune_in(KEPT - timedelta(minutes=1)) == 0
    assert prune_in(KEPT + timedelta(minutes=1)) == 2
    assert list_events() == [("203.0.113.2/32", "insert")]


def test_a_ban_that_is_still_there_keeps_the_event_that_says_since_when(feed: BanList) -> None:
    bring(feed, "203.0.113.1")
    Ban.objects.update(expires=timezone.now() + timedelta(days=1), version=2)
    assert prune_in(10 * KEPT) == 1
    assert list_events() == [("203.0.113.1/32", "insert")]


def test_bans_of_people_keep_their_history_whoever_lifts_them(feed: BanList, mara: User) -> None:
    services.ban_prefix(list=feed, prefix="203.0.113.9", comment="scans", author=mara)
    bring(feed, "203.0.113.1")
    before = list_events()
    assert before == [("203.0.113.9/32", "insert"), ("203.0.113.9/32", "delete"), ("203.0.113.1/32", "insert")]
    assert prune_in(10 * KEPT) == 0
    assert list_events() == before


def test_a_feeds_ban_that_a_person_lifted_stays_in_the_history(feed: BanList, mara: User) -> None:
    bring(feed, "203.0.113.1")
    with pghistory.context(user=mara.pk):
        services.lift_bans(bans=[Ban.objects.get().pk], by=mara)
    assert prune_in(10 * KEPT) == 0
    assert list_events() == [("203.0.113.1/32", "insert"), ("203.0.113.1/32", "delete")]


def test_steps_are_bounded_and_the_last_one_says_that_nothing_is_left(feed: BanList) -> None:
    bring(feed, "\n".join(f"203.0.113.{number}" for number in range(1, 8)))
    bring(feed, "203.0.113.1")
    assert [prune_in(2 * KEPT, at_most=4) for _ in range(4)] == [4, 4, 4, 0]
    assert list_events() == [("203.0.113.1/32", "insert")]
