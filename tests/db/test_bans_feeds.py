"""Ban lists that follow a feed on a real server: refreshed when due, never emptied by accident, unchanged when anything fails."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection
from django.db.models import F
from django.test import Client
from django.utils import timezone

from apps.bans import feed_refresh, feed_services, services
from apps.bans.allow_list import allow_prefix
from apps.bans.models import Ban, BanFeed, BanList
from apps.lib.database import row_lease
from apps.lib.errors import Conflict, Problem
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.statements import call_before
from tests.fake_http import FakeAnswer, Server, serving, serving_octets

pytestmark = pytest.mark.django_db

EXCERPT = Path(__file__).parent.parent / "data" / "ipsum-excerpt.txt"
REFUSED = "This feed is being refreshed, or was refreshed since you looked at it."
LIST_READ = 'FROM "bans_banlist"'  # in the first statement of an import


@pytest.fixture
def server(settings: LazySettings) -> Iterator[Server]:
    settings.FEED_PRIVATE = True
    with serving(FakeAnswer(body=lines(100))) as running:
        yield running


@pytest.fixture
def feed(server: Server, network: factories.Network) -> BanFeed:
    banlist = services.create_list(name="Feed", by=None)
    return feed_services.add_feed(list=banlist, source=server.url(), by=network.admin)


@pytest.fixture
def staff(network: factories.Network) -> Client:
    return signed_in(network.admin)


def lines(number: int) -> bytes:
    return "".join(f"198.18.0.{at}\n" for at in range(number)).encode()


def set_server_answer(server: Server, answer: FakeAnswer) -> None:
    server.answer = lambda _path, _headers: answer


def refresh_again(feed: BanFeed) -> BanFeed:
    assert feed_refresh.refresh_feed(feed.pk)
    feed.refresh_from_db()
    return feed


@pytest.fixture
def held_feed(feed: BanFeed, server: Server) -> BanFeed:
    """A feed with 100 bans that would lift 40 of them."""
    refresh_again(feed)
    set_server_answer(server, FakeAnswer(body=lines(60)))
    return refresh_again(feed)


def get_held_since(page: str) -> str:
    """Return what the page sends to say on what a person decides."""
    return page.partition('name="held_since" value="')[2].partition('"')[0]


def apply_what_is_held(feed: BanFeed, network: factories.Network) -> None:
    assert feed.held_since
    feed_refresh.apply_pending_import(feed=feed, held_since=feed.held_since, by=network.admin)


def test_a_list_becomes_what_its_feed_says(feed: BanFeed, server: Server) -> None:
    refresh_again(feed)
    assert (Ban.objects.count(), feed.error, feed.outcome["added"]) == (100, None, 100)
    set_server_answer(server, FakeAnswer(body=lines(90) + b"203.0.113.9 # scans\n"))
    refresh_again(feed)
    assert (feed.outcome["added"], feed.outcome["removed"], feed.outcome["unchanged"]) == (1, 10, 90)
    assert Ban.objects.get(comment="scans").prefix_text == "203.0.113.9"


def test_a_feed_is_asked_only_when_it_is_due(feed: BanFeed) -> None:
    assert feed_refresh.list_due_feeds() == [feed.pk]
    refresh_again(feed)
    assert feed_refresh.list_due_feeds() == []
    assert timedelta(hours=23) < feed.due - timezone.now() <= timedelta(hours=24)
    BanFeed.objects.update(due=timezone.now(), enabled=False)
    assert feed_refresh.list_due_feeds() == []


def test_a_feed_that_was_refreshed_while_the_clock_was_ahead_is_asked_again(feed: BanFeed) -> None:
    refresh_again(feed)
    BanFeed.objects.update(due=F("due") + timedelta(hours=2))
    assert feed_refresh.list_due_feeds() == [feed.pk]
    assert feed_refresh.refresh_feed(feed.pk, only_if_due=True) and feed_refresh.list_due_feeds() == []
    BanFeed.objects.update(due=F("due") + timedelta(hours=2), enabled=False)
    assert feed_refresh.list_due_feeds() == []


def test_what_somebody_asked_for_is_done_though_nobody_heard_it_and_it_is_off(feed: BanFeed, network: factories.Network) -> None:
    refresh_again(feed)
    BanFeed.objects.update(enabled=False)
    feed_services.request_refresh(feed=feed, by=network.admin)
    assert feed_refresh.list_due_feeds() == [feed.pk]
    BanFeed.objects.update(phase="fetching", claimed_until=timezone.now() - timedelta(seconds=1))
    assert feed_refresh.list_due_feeds() == [feed.pk]
    refresh_again(feed)
    assert feed_refresh.list_due_feeds() == []


def test_only_one_worker_refreshes_and_a_lost_one_is_replaced(feed: BanFeed) -> None:
    BanFeed.objects.update(claimed_until=timezone.now() + timedelta(minutes=1))
    assert not feed_refresh.refresh_feed(feed.pk)
    BanFeed.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert feed_refresh.refresh_feed(feed.pk)
    assert not feed_refresh.refresh_feed(feed.pk + 1)


def test_the_real_feed_comes_with_its_counts(feed: BanFeed, server: Server) -> None:
    set_server_answer(server, FakeAnswer(body=EXCERPT.read_bytes()))
    BanFeed.objects.update(minimum_count=2, direction="in", comment="IPsum")
    refresh_again(feed)
    assert Ban.objects.count() == feed.outcome["added"] > 20
    assert feed.outcome["below"] > 20
    assert set(Ban.objects.values_list("direction", "comment")) == {("in", "IPsum")}


def test_another_direction_of_the_feed_reaches_all_its_bans(feed: BanFeed, network: factories.Network) -> None:
    refresh_again(feed)
    given: Any = {"source": feed.source, "direction": "out", "interval": 60}
    feed_services.change_feed(feed=feed, version=feed.version, by=network.admin, **given)
    refresh_again(feed)
    assert feed.outcome["redirected"] == 100
    assert set(Ban.objects.values_list("direction", flat=True)) == {"out"}
    with pytest.raises(Conflict):
        feed_services.change_feed(feed=feed, version=1, by=network.admin, **given)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (FakeAnswer(503), "status"),
        (FakeAnswer(body=b"<html>", headers={"Content-Type": "text/html"}), "web page"),
        (FakeAnswer(body=b"hello\nworld\n"), "bad"),
        (FakeAnswer(body=b"203.0.113.9\nbe\nquiet\nnow\n"), "bad"),
        (FakeAnswer(body=b'prefix,comment\n203.0.113.9,"be\n203.0.113.10,quiet\n'), "broken table"),
        (FakeAnswer(body=b'["203.0.113.9", '), "broken table"),
        (FakeAnswer(body=b"10.16.0.1\n"), "problem"),
    ],
)
def test_what_fails_leaves_the_list_and_says_why_and_since_when(feed: BanFeed, server: Server, answer: FakeAnswer, fault: str) -> None:
    refresh_again(feed)
    set_server_answer(server, answer)
    since = refresh_again(feed).error_since
    assert (Ban.objects.count(), (feed.error or {})["fault"], feed.outcome["added"]) == (100, fault, 100)
    assert feed.error_text and since and feed.due - timezone.now() <= feed_refresh.RETRY
    assert refresh_again(feed).error_since == since
    set_server_answer(server, FakeAnswer(body=lines(100)))
    assert (refresh_again(feed).error, feed.error_since) == (None, None)


def test_a_feed_that_answers_what_the_database_cannot_hold_fails_like_any_other(network: factories.Network, settings: LazySettings) -> None:
    settings.FEED_PRIVATE = True
    with serving_octets(b"HTTP/1.1 503 a\0b\r\nContent-Length: 0\r\n\r\n") as port:
        feed = feed_services.add_feed(list=services.create_list(name="Odd", by=None), source=f"http://127.0.0.1:{port}/", by=network.admin)
        refresh_again(feed)
    assert feed.error == {"fault": "status", "what": "503 a\N{REPLACEMENT CHARACTER}b"}
    assert (feed.phase, feed.claim) == (BanFeed.Phase.IDLE, None) and feed.error_since and feed.checked
    assert timedelta(minutes=14) < feed.due - timezone.now() <= feed_refresh.RETRY


def test_a_feed_whose_validators_cannot_be_stored_is_imported_and_fetched_anew(feed: BanFeed, server: Server) -> None:
    set_server_answer(server, FakeAnswer(body=lines(10), headers={"ETag": '"a\0b"', "Last-Modified": "Sat\0"}))
    refresh_again(feed)
    assert (Ban.objects.count(), feed.error, feed.phase, feed.etag, feed.last_modified) == (10, None, BanFeed.Phase.IDLE, "", "")
    assert refresh_again(feed).outcome["unchanged"] == 10


def test_a_refresh_whose_result_cannot_be_written_says_so_and_is_not_tried_at_once(feed: BanFeed) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE bans_banfeed ADD CONSTRAINT few CHECK (outcome->>'added' <> '100') NOT VALID")
    with pytest.raises(IntegrityError, match="few"):
        feed_refresh.refresh_feed(feed.pk)
    feed.refresh_from_db()
    assert feed.error == {"fault": "broken", "what": "IntegrityError"} and feed.error_since and "failed" in feed.error_text
    assert (feed.phase, feed.claim, feed_refresh.list_due_feeds()) == (BanFeed.Phase.IDLE, None, [])


@pytest.mark.parametrize(("left", "removed"), [(b"", 100), (b"# nothing today\n", 100), (lines(60), 40)])
def test_a_feed_that_suddenly_shrinks_waits_for_a_person(feed: BanFeed, server: Server, staff: Client, left: bytes, removed: int) -> None:
    refresh_again(feed)
    set_server_answer(server, FakeAnswer(body=left))
    refresh_again(feed)
    assert (Ban.objects.count(), feed.held_removed, feed.held_of, feed.error) == (100, removed, 100, None)
    page = text(staff.get(f"/bans/{feed.list_id}/"))
    assert f"Held back: the feed would lift {removed} of 100 bans." in page
    path = f"/bans/{feed.list_id}/feed/held/"
    dialog = text(staff.get(path))
    assert f"Lift {removed} bans, as the feed says?" in dialog
    staff.post(path, {"typed": str(removed), "held_since": get_held_since(dialog)})
    feed.refresh_from_db()
    assert (Ban.objects.count(), feed.held_since, feed.outcome["removed"], feed.claim) == (100 - removed, None, removed, None)


def test_what_was_held_back_can_be_forgotten(held_feed: BanFeed, staff: Client) -> None:
    seen = get_held_since(text(staff.get(f"/bans/{held_feed.list_id}/")))
    staff.post(f"/bans/{held_feed.list_id}/feed/held/", {"drop": "1", "held_since": seen})
    held_feed.refresh_from_db()
    assert (Ban.objects.count(), held_feed.held, held_feed.held_since) == (100, None, None)
    assert "Nothing is held back any more" in text(staff.get(f"/bans/{held_feed.list_id}/feed/held/", follow=True))


@pytest.mark.parametrize("decision", [{"typed": "40"}, {"drop": "1"}])
def test_a_decision_concerns_only_what_the_page_showed(held_feed: BanFeed, server: Server, staff: Client, decision: Any) -> None:
    path = f"/bans/{held_feed.list_id}/feed/held/"
    seen = get_held_since(text(staff.get(path)))
    set_server_answer(server, FakeAnswer(body=lines(50)))
    refresh_again(held_feed)
    assert REFUSED in text(staff.post(path, decision | {"held_since": seen}, follow=True))
    held_feed.refresh_from_db()
    assert (Ban.objects.count(), held_feed.held_removed, held_feed.held) == (100, 50, lines(50))


@pytest.mark.parametrize("decision", [{"typed": "40"}, {"drop": "1"}])
def test_nothing_is_decided_while_a_worker_refreshes_the_feed(held_feed: BanFeed, staff: Client, decision: Any) -> None:
    path, claim = f"/bans/{held_feed.list_id}/feed/held/", uuid4()
    BanFeed.objects.update(claim=claim, claimed_until=timezone.now() + timedelta(minutes=1))
    seen = get_held_since(text(staff.get(path)))
    assert REFUSED in text(staff.post(path, decision | {"held_since": seen}, follow=True))
    held_feed.refresh_from_db()
    assert (Ban.objects.count(), held_feed.held, held_feed.claim) == (100, lines(60), claim)


@pytest.mark.parametrize("seen", ["", "yesterday", "2026-11-30T06:00:00", "9999-12-31T23:59:59+00:00"])
@pytest.mark.parametrize("decision", [{"typed": "40"}, {"drop": "1"}])
def test_a_decision_that_does_not_say_on_what_is_asked_again(held_feed: BanFeed, staff: Client, decision: Any, seen: str) -> None:
    answer = staff.post(f"/bans/{held_feed.list_id}/feed/held/", decision | {"held_since": seen})
    assert "Lift 40 bans, as the feed says?" in text(answer)
    held_feed.refresh_from_db()
    assert (Ban.objects.count(), held_feed.held) == (100, lines(60))


def test_a_repaired_feed_that_was_just_imported_is_not_undone_by_a_confirmation(
    held_feed: BanFeed, server: Server, network: factories.Network
) -> None:
    refused: list[object] = []

    def confirm() -> None:
        with pytest.raises(Conflict) as caught:
            apply_what_is_held(held_feed, network)
        refused.append(caught)

    set_server_answer(server, FakeAnswer(body=lines(100)))
    with call_before('"etag" = ', confirm):
        refresh_again(held_feed)
    assert (len(refused), Ban.objects.count(), held_feed.held_since, held_feed.claim) == (1, 100, None, None)


def test_a_feed_is_not_refreshed_while_what_was_held_back_is_imported(
    held_feed: BanFeed, server: Server, network: factories.Network
) -> None:
    refreshed: list[bool] = []
    set_server_answer(server, FakeAnswer(body=lines(50)))
    with call_before(LIST_READ, lambda: refreshed.append(feed_refresh.refresh_feed(held_feed.pk))):
        apply_what_is_held(held_feed, network)
    held_feed.refresh_from_db()
    assert (refreshed, Ban.objects.count(), held_feed.held_since, held_feed.claim) == ([False], 60, None, None)


def test_a_refresh_that_is_requested_while_what_was_held_back_is_imported_comes_afterwards(
    held_feed: BanFeed, network: factories.Network
) -> None:
    BanFeed.objects.update(enabled=False)
    with call_before(LIST_READ, lambda: feed_services.request_refresh(feed=held_feed, by=network.admin)):
        apply_what_is_held(held_feed, network)
    assert feed_refresh.list_due_feeds() == [held_feed.pk]


@pytest.mark.parametrize("enabled", [True, False])
def test_a_feed_that_is_changed_while_it_is_refreshed_is_fetched_from_its_new_source(
    feed: BanFeed, server: Server, network: factories.Network, enabled: bool
) -> None:
    set_server_answer(server, FakeAnswer(body=lines(60), headers={"ETag": '"of the former source"'}))

    def change() -> None:
        given: Any = {"source": f"{feed.source}?v=2", "direction": "out", "enabled": enabled}
        feed_services.change_feed(feed=BanFeed.objects.get(), version=feed.version, by=network.admin, **given)

    with call_before('SET "phase" = ', change):  # it has been fetched
        assert not feed_refresh.refresh_feed(feed.pk)
    feed.refresh_from_db()
    assert (Ban.objects.count(), feed.etag, feed.claim, feed.error) == (0, "", None, None)
    assert feed_refresh.list_due_feeds() == ([feed.pk] if enabled else [])


@pytest.mark.parametrize("content", [lines(60), b""])
def test_a_confirmed_import_that_lost_the_lease_changes_nothing(held_feed: BanFeed, network: factories.Network, content: bytes) -> None:
    BanFeed.objects.update(held=content)
    with call_before(LIST_READ, lambda: BanFeed.objects.update(claim=uuid4())), pytest.raises(Conflict):
        apply_what_is_held(held_feed, network)
    held_feed.refresh_from_db()
    assert (Ban.objects.count(), held_feed.held) == (100, content)


def test_a_confirmed_import_that_is_refused_stays_held_back_and_the_feed_can_be_refreshed(
    held_feed: BanFeed, network: factories.Network
) -> None:
    BanFeed.objects.update(held=b"10.16.0.1\n")
    with pytest.raises(Problem):
        apply_what_is_held(held_feed, network)
    held_feed.refresh_from_db()
    assert (Ban.objects.count(), held_feed.held, held_feed.claim) == (100, b"10.16.0.1\n", None)
    refresh_again(held_feed)


def test_a_feed_that_shrinks_a_little_is_believed(feed: BanFeed, server: Server) -> None:
    refresh_again(feed)
    set_server_answer(server, FakeAnswer(body=lines(70)))
    refresh_again(feed)
    assert (Ban.objects.count(), feed.held_since) == (70, None)


def test_what_the_allow_list_overrules_is_counted(feed: BanFeed) -> None:
    allow_prefix(prefix="198.18.0.0/28", author=None)
    assert refresh_again(feed).outcome["allowed"] == 16


def test_a_file_of_the_directory_is_a_feed_too(network: factories.Network, settings: LazySettings, tmp_path: Path) -> None:
    settings.FEED_DIRECTORY = str(tmp_path)
    (tmp_path / "list.txt").write_bytes(lines(3))
    feed = feed_services.add_feed(list=services.create_list(name="File", by=None), source="list.txt", by=network.admin)
    refresh_again(feed)
    refreshed = feed.refreshed
    assert (Ban.objects.count(), refresh_again(feed).refreshed) == (3, refreshed)
    BanFeed.objects.update(source="../list.txt")
    assert refresh_again(feed).error == {"fault": "outside", "what": "../list.txt"}


def test_private_addresses_are_not_asked(feed: BanFeed, server: Server, settings: LazySettings) -> None:
    settings.FEED_PRIVATE = False
    assert (refresh_again(feed).error or {})["fault"] == "private"
    assert server.asked == []


@pytest.mark.parametrize("source", ["", "ftp://example.org/x", "https://me:pw@example.org/x"])
def test_a_source_that_can_be_none_is_refused(network: factories.Network, source: str) -> None:
    with pytest.raises(Problem):
        feed_services.add_feed(list=services.create_list(name="Feed", by=None), source=source, by=network.admin)


def test_a_list_has_one_feed(feed: BanFeed, network: factories.Network) -> None:
    with pytest.raises(Problem, match="has a feed already"):
        feed_services.add_feed(list=feed.list, source="list.txt", by=network.admin)


def test_a_feed_is_set_up_refreshed_and_taken_away_on_pages(staff: Client, server: Server) -> None:
    banlist = BanList.objects.create(name="Feed")
    path = f"/bans/{banlist.pk}/feed/"
    given = {"version": 0, "source": server.url(), "interval": 60, "minimum_count": 0, "shrink_limit": 30, "enabled": "on"}
    assert staff.get(path).status_code == 200
    assert "is neither http nor https" in text(staff.post(path, given | {"source": "ftp://x/"}))
    assert "waiting for a worker" in text(staff.post(path, given, follow=True))
    feed = refresh_again(BanFeed.objects.get())
    page = text(staff.get(f"/bans/{banlist.pk}/"))
    assert "100 added, 0 lifted, 0 unchanged" in page and "every 1s" not in page
    assert "every 1s" in text(staff.post(f"{path}now/", follow=True))
    assert staff.get(f"{path}state/").headers.get("HX-Refresh") is None
    refresh_again(feed)
    assert staff.get(f"{path}state/").headers["HX-Refresh"] == "true"
    assert "Mara Lindqvist" in text(staff.get(path))
    assert staff.post(path, given | {"version": 7, "interval": 360}).status_code == 422
    staff.post(f"{path}remove/")
    assert (BanFeed.objects.count(), Ban.objects.count()) == (0, 100)
    assert staff.get(f"{path}state/").status_code == 404


def test_a_page_that_is_built_while_a_refresh_ends_does_not_tell_of_bans_that_it_does_not_show(feed: BanFeed, staff: Client) -> None:
    running = [feed.pk]

    def end_the_refresh_after_the_bans_are_read(execute: Any, sql: str, *given: Any) -> Any:
        result = execute(sql, *given)
        if sql.startswith("SELECT COUNT(*)") and '"bans_ban"' in sql and running:
            assert feed_refresh.refresh_feed(running.pop())
        return result

    with connection.execute_wrapper(end_the_refresh_after_the_bans_are_read):
        shown = text(staff.get(f"/bans/{feed.list_id}/"))
    assert Ban.objects.count() == 100
    assert "0 bans are in force" in shown and "100 added" not in shown
    assert 'hx-trigger="every 1s"' in shown


def test_the_command_refreshes_what_is_due_or_named(feed: BanFeed, server: Server, capsys: Any) -> None:
    call_command("refresh_bans")
    assert "Feed: 100 added, 0 lifted, 0 unchanged" in capsys.readouterr().out
    call_command("refresh_bans")
    assert "No feed is due." in capsys.readouterr().out
    set_server_answer(server, FakeAnswer(503))
    with pytest.raises(SystemExit):
        call_command("refresh_bans", list="Feed")
    assert "not refreshed. The server answered 503" in capsys.readouterr().out
    set_server_answer(server, FakeAnswer(body=b""))
    with pytest.raises(SystemExit):
        call_command("refresh_bans", all=True)
    assert "the feed would lift 100 of 100 bans" in capsys.readouterr().out
    with pytest.raises(CommandError, match="No ban list “No” with a feed"):
        call_command("refresh_bans", list="No")


def test_a_feed_that_fails_is_not_refreshed_again_before_its_time_however_often_it_was_asked_for(feed: BanFeed, server: Server) -> None:
    refresh_again(feed)
    set_server_answer(server, FakeAnswer(503))
    BanFeed.objects.update(due=timezone.now())
    assert [feed_refresh.refresh_feed(feed.pk, only_if_due=True) for _message in range(5)] == [True, False, False, False, False]
    feed.refresh_from_db()
    assert timedelta(minutes=14) < feed.due - timezone.now() <= feed_refresh.RETRY


def test_whoever_lost_the_lease_changes_nothing(feed: BanFeed, server: Server) -> None:
    refresh_again(feed)
    BanFeed.objects.update(etag="", last_modified="", claim=uuid4(), claimed_until=timezone.now() + timedelta(minutes=1))
    with pytest.raises(feed_refresh.FeedLeaseLost):
        feed_refresh._import_content(feed, lines(90), None, guarded=True, now=timezone.now(), claim=uuid4())
    assert Ban.objects.count() == 100


def test_the_lease_is_renewed_while_the_work_takes(feed: BanFeed) -> None:
    claim, soon = uuid4(), timezone.now() + timedelta(seconds=1)
    BanFeed.objects.update(claim=claim, claimed_until=soon)
    assert row_lease.renew_lease(BanFeed, feed.pk, claim) and not row_lease.renew_lease(BanFeed, feed.pk, uuid4())
    feed.refresh_from_db()
    assert feed.claimed_until and feed.claimed_until > soon
    assert timedelta(seconds=row_lease.RENEWED_EVERY) * 3 < row_lease.LEASE


def test_a_file_that_is_one_line_too_long_is_refused_with_the_sentence(
    network: factories.Network, settings: LazySettings, tmp_path: Path
) -> None:
    settings.FEED_DIRECTORY = str(tmp_path)
    (tmp_path / "list.txt").write_bytes(b"198.18.0.1\n" * 1_000_000 + b"198.18.0.2")
    feed = feed_services.add_feed(list=services.create_list(name="File", by=None), source="list.txt", by=network.admin)
    assert refresh_again(feed).error_text == "The feed is too long: more than 1,000,000 lines."


def test_feeds_are_not_fetched_from_our_own_public_addresses(feed: BanFeed, network: factories.Network, settings: LazySettings) -> None:
    public, managed = network.public.prefix[5], network.gateways[0].management_networks[0][1]
    settings.FEED_PRIVATE = True
    assert feed_refresh.build_allowed_targets().can_ask(managed), "who says so has every address asked"
    settings.FEED_PRIVATE = False
    assert any(public in each for each in feed_refresh.build_allowed_targets().never)
    assert not feed_refresh.build_allowed_targets().can_ask(managed)
    BanFeed.objects.update(source=f"http://{public}/list.txt", etag="")
    assert (refresh_again(feed).error or {})["fault"] == "private"
