"""Pages of ban lists: search, add, change and lift bans, many at once, import and export."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from ipaddress import ip_network
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import escape

from apps.bans import ban_list_page, hits, services
from apps.bans.models import Ban, BanList, Direction, Upload
from tests import factories
from tests.counter_factories import hit
from tests.db.page_client import get_form_input, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(network: factories.Network, client: Client) -> Client:
    client.force_login(network.admin)
    return client


@pytest.fixture
def own(network: factories.Network) -> BanList:
    return services.create_list(name="Own", description="Ours", by=network.admin)


def ban(banlist: BanList, prefix: str, **changes: Any) -> Ban:
    return services.ban_prefix(list=banlist, prefix=prefix, author=None, **changes)


def feed(content: str) -> dict[str, Any]:
    return {"file": SimpleUploadedFile("feed.txt", content.encode()), "term": "never"}


def test_only_staff_sees_bans(own: BanList, client: Client) -> None:
    there = ban(own, "203.0.113.66")
    reads = ("/bans/", f"/bans/{own.pk}/", f"/bans/ban/{there.pk}/", f"/bans/{own.pk}/bans.csv", f"/bans/{own.pk}/import/")
    assert [client.get(path).status_code for path in reads] == [302] * 5
    client.force_login(factories.user("guest", staff=False))
    writes = (f"/bans/{own.pk}/add/", f"/bans/{own.pk}/bulk/", f"/bans/ban/{there.pk}/lift/", f"/bans/{own.pk}/delete/")
    assert [client.get(path).status_code for path in reads] + [client.post(path).status_code for path in writes] == [403] * 9
    assert Ban.objects.count() == 1


def test_a_list_is_made_and_its_name_is_taken(staff: Client) -> None:
    assert "No ban list yet" in text(staff.get("/bans/"))
    assert staff.post("/bans/", {"name": "Own", "description": ""}).status_code == 302
    again = staff.post("/bans/", {"name": "Own"})
    assert again.status_code == 422 and "There is already a list called “Own”" in text(again)


def test_the_lists_say_how_much_they_keep_out(staff: Client, own: BanList, network: factories.Network) -> None:
    there = ban(own, "203.0.113.66")
    hits.record_hits(gateway=network.gateways[0], passed=hit({(there.prefix, Direction.BOTH): (12_418, 3_000_000)}), at=timezone.now())
    page = text(staff.get("/bans/?sort=-hits"))
    assert "12,418" in page and "3.00\u202fMB" in page


def test_a_ban_is_added_in_the_table(staff: Client, own: BanList) -> None:
    response = staff.post(f"/bans/{own.pk}/add/", {"address": " 203.0.113.66 ", "comment": "ssh", "term": "1d"}, follow=True)
    made = Ban.objects.get()
    assert made.prefix_text == "203.0.113.66" and made.expires and timedelta(hours=23) < made.expires - timezone.now() <= timedelta(days=1)
    assert "<b>Saved.</b> 203.0.113.66 is on its way to nat-1, nat-2" in text(response)
    assert f"/bans/ban/{made.pk}/lift/" in text(response)


def test_htmx_gets_the_form_and_what_changed(staff: Client, own: BanList) -> None:
    sent = {"address": "203.0.113.66", "term": "never"}
    added = text(staff.post(f"/bans/{own.pk}/add/", sent, headers={"HX-Request": "true"}))
    assert "<html" not in added and added.count("hx-swap-oob") == 4 and 'value="203.0.113.66"' not in added
    refused = staff.post(f"/bans/{own.pk}/add/", sent, headers={"HX-Request": "true"})
    assert refused.status_code == 422 and "is already on “Own” as ban" in text(refused) and "<table" not in text(refused)


def test_adding_a_ban_leaves_the_table_as_it_was_searched(staff: Client, own: BanList) -> None:
    ban(own, "203.0.113.70", comment="mail")
    assert f'hx-post="/bans/{own.pk}/add/?q=test&amp;sort=-created"' in text(staff.get(f"/bans/{own.pk}/?q=test&sort=-created&saved=1"))
    path = f"/bans/{own.pk}/add/?q=test"
    added = text(staff.post(path, {"address": "203.0.113.67", "comment": "test", "term": "never"}, headers={"HX-Request": "true"}))
    assert 'name="q" value="test"' in added and 'href="?q=test&amp;sort=comment"' in added
    assert "203.0.113.67</code>" in added and "203.0.113.70" not in added
    plain = staff.post(path, {"address": "203.0.113.68", "term": "never"})
    assert plain["Location"] == f"/bans/{own.pk}/?q=test&saved={Ban.objects.latest('pk').pk}&version=1#bans"


def test_every_action_leads_back_to_the_list_as_it_was(staff: Client, own: BanList) -> None:
    there = ban(own, "203.0.113.66", comment="test")
    back, kept = f"/bans/{own.pk}/?q=test&sort=-created", "?q=test&sort=-created&saved=1&version=2&evil=%0d"
    page = text(staff.get(back))
    for path in (f"/bans/ban/{there.pk}/", f"/bans/ban/{there.pk}/lift/", f"/bans/{own.pk}/bulk/"):
        assert f'"{path}?q=test&amp;sort=-created"' in page, path
    single, many, bulk = f"/bans/ban/{there.pk}/lift/", f"/bans/{own.pk}/bulk/", {"pick": there.pk, "confirmed": "1"}
    for path, answer in ((single, staff.get(single + kept)), (many, staff.post(many + kept, {"do": "lift", "pick": there.pk}))):
        assert f'action="{path}?q=test&amp;sort=-created"' in text(answer) and f'href="{escape(back)}"' in text(answer), path
    for path, sent in (
        (f"ban/{there.pk}/", {"comment": "tests", "term": "never", "version": 1}),
        (f"ban/{there.pk}/revert/", {}),
        (f"{own.pk}/bulk/", bulk | {"do": "end", "term": "7d"}),
        (f"{own.pk}/bulk/", bulk | {"do": "way", "direction": "in"}),
        (f"{own.pk}/bulk/", bulk | {"do": "lift"}),
    ):
        answer = staff.post(f"/bans/{path}{kept}", sent)
        assert answer["Location"].startswith(f"{back}&") and "evil" not in answer["Location"], path
    lifted = text(staff.get(answer["Location"]))
    [undo] = re.findall(r'action="(/bans/[0-9]+/restore/[^"]*)"', lifted)
    assert staff.post(unescape(undo))["Location"] == f"{back}&restored=1#bans"
    assert staff.post(f"/bans/ban/{Ban.objects.get().pk}/lift/{kept}")["Location"].startswith(f"{back}&lifted=")


def test_the_strip_that_asks_again_still_leads_back_to_the_list_as_it_was(staff: Client, own: BanList) -> None:
    there = ban(own, "203.0.113.66")
    again = f"/bans/ban/{there.pk}/saved/?q=test&waits=nat-1%2Cnat-2&version=1"
    assert f'hx-get="{escape(again)}"' in text(staff.get(f"/bans/{own.pk}/?q=test&saved={there.pk}&version=1"))
    assert staff.get(again).status_code == 204
    assert f'action="/bans/ban/{there.pk}/lift/?q=test"' in text(staff.get(f"/bans/ban/{there.pk}/saved/?q=test&waits=nat-1&version=1"))


def test_links_of_the_list_do_not_keep_the_result_that_was_shown(staff: Client, own: BanList, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ban_list_page, "PER_PAGE", 1)
    first, _second = ban(own, "203.0.113.66", comment="test"), ban(own, "203.0.113.67", comment="test")
    shown = f"saved={first.pk}&version=1&lifted=x&restored=2&ends=3&ways=4&prefix=203.0.113.9"
    links = set(re.findall(r'href="(\?[^"]*)"', text(staff.get(f"/bans/{own.pk}/?q=test&{shown}"))))
    assert {"?q=test&amp;sort=comment", "?q=test&amp;page=2"} <= links
    assert not [link for link in links if re.search("saved|version|lifted|restored|ends|ways|prefix=", link)]


def test_a_refused_ban_without_javascript_shows_the_whole_list_and_links_to_it(staff: Client, own: BanList) -> None:
    ban(own, "203.0.113.66")
    page = text(staff.post(f"/bans/{own.pk}/add/", {"address": "x", "term": "never"}))
    assert "Nothing has changed yet." not in page and f'href="/bans/{own.pk}/?sort=comment"' in page
    assert f'action="/bans/{own.pk}/"' in page


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"address": "203.0.113.9/24"}, 'name="address" value="203.0.113.0/24"'),
        ({"address": "10.16.0.10"}, "would ban ourselves"),
        ({"address": "<b>"}, "“&lt;b&gt;” is not an address or prefix"),
        ({"address": ""}, "This field is required"),
        ({"address": "x" * 500}, "at most 80 characters"),
        ({"address": "203.0.113.9", "term": "at"}, "Enter a time"),
        ({"address": "203.0.113.9", "until": "2001-01-01T00:00"}, "has passed"),
        ({"address": "203.0.113.9", "until": "soon"}, "Enter a valid date/time"),
        ({"address": "203.0.113.9", "comment": "x" * 201}, "at most 200 characters"),
        ({"address": "203.0.113.9", "term": "forever"}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_banned_is_said_under_its_field(staff: Client, own: BanList, sent: dict[str, str], says: str) -> None:
    response = staff.post(f"/bans/{own.pk}/add/", {"term": "never"} | sent)
    assert response.status_code == 422 and says in text(response) and not Ban.objects.exists()


def test_the_strip_says_what_another_list_does_too(staff: Client, own: BanList, network: factories.Network) -> None:
    ban(services.create_list(name="Feed", by=network.admin), "203.0.113.0/24")
    page = text(staff.post(f"/bans/{own.pk}/add/", {"address": "203.0.113.66", "term": "never"}, follow=True))
    assert "Feed</a> keeps it out too, with 203.0.113.0/24" in page


def test_the_strip_asks_again_only_while_something_is_missing(staff: Client, own: BanList) -> None:
    there = ban(own, "203.0.113.66")
    assert staff.get(f"/bans/ban/{there.pk}/saved/?waits=nat-1,nat-2").status_code == 204
    assert f'id="posts-{there.pk}" hx-swap-oob' in text(staff.get(f"/bans/ban/{there.pk}/saved/?waits=nat-1"))


def test_a_search_finds_what_covers_an_address(staff: Client, own: BanList) -> None:
    ban(own, "203.0.113.0/24", comment="scanners")
    ban(own, "198.51.99.0/24", comment="spam")
    page = text(staff.get(f"/bans/{own.pk}/?q=203.0.113.9"))
    assert "203.0.113.0/24</code>" in page and "198.51.99.0/24</code>" not in page
    assert "198.51.99.0/24</code>" in text(staff.get(f"/bans/{own.pk}/?q=spam"))


def test_no_match_says_who_else_bans_it_or_offers_to(staff: Client, own: BanList, network: factories.Network) -> None:
    page = text(staff.get(f"/bans/{own.pk}/?q=203.0.113.9"))
    assert "No ban on this list covers 203.0.113.9" in page and "?prefix=203.0.113.9#add" in page
    ban(services.create_list(name="Feed", by=network.admin), "203.0.113.0/24")
    assert "Feed</a> keeps it out with 203.0.113.0/24" in text(staff.get(f"/bans/{own.pk}/?q=203.0.113.9"))


def test_a_ban_in_another_direction_is_not_said_to_be_missing(staff: Client, own: BanList) -> None:
    ban(own, "203.0.113.0/24", direction=Direction.IN)
    for asked in ("way=out&q=203.0.113.9", "way=out"):
        page = text(staff.get(f"/bans/{own.pk}/?{asked}"))
        assert "No match in this direction" in page and "Show any direction</a>" in page
        assert "No ban on this list" not in page and "No other list does" not in page
    assert "No ban on this list covers 198.51.99.9" in text(staff.get(f"/bans/{own.pk}/?way=out&q=198.51.99.9"))


@pytest.mark.parametrize(
    "asked", ["q=%00&sort=%27", "page=-1&sort=-hits", "saved=x&lifted=y&restored=z", "saved=99999999999999999999", "q=1.2.3.4%2F99"]
)
def test_hostile_addresses_are_just_pages(staff: Client, own: BanList, asked: str) -> None:
    ban(own, "203.0.113.66", comment="<script>alert(1)</script>")
    response = staff.get(f"/bans/{own.pk}/?{asked}")
    assert response.status_code == 200 and "<script>alert" not in text(response)


@pytest.mark.parametrize("sort", ["prefix", "-created", "expires", "comment", "-hits", "last"])
def test_the_table_sorts(staff: Client, own: BanList, network: factories.Network, sort: str) -> None:
    first, second = ban(own, "203.0.113.66", comment="a"), ban(own, "203.0.113.67", comment="b", expires=timezone.now() + timedelta(days=1))
    hits.record_hits(gateway=network.gateways[0], passed=hit({(second.prefix, Direction.BOTH): (7, 420)}), at=timezone.now())
    page = text(staff.get(f"/bans/{own.pk}/?sort={sort}"))
    order = page.index(f"posts-{first.pk}") < page.index(f"posts-{second.pk}")
    assert order is (sort in ("prefix", "comment"))


def test_a_ban_is_changed_and_the_change_taken_back(staff: Client, own: BanList) -> None:
    there = ban(own, "203.0.113.66", comment="before")
    staff.post(f"/bans/ban/{there.pk}/", {"comment": "after", "term": "7d", "version": 1})
    there.refresh_from_db()
    assert (there.comment, there.version) == ("after", 2) and there.expires
    assert "<ins>after</ins>" in text(staff.get(f"/bans/ban/{there.pk}/"))
    staff.post(f"/bans/ban/{there.pk}/revert/?version=2")
    there.refresh_from_db()
    assert [there.comment, str(there.expires)] == ["before", "None"]


def test_undo_takes_back_what_was_saved_and_nothing_that_was_saved_later(staff: Client, own: BanList) -> None:
    there = ban(own, "203.0.113.66", comment="before")
    saved = staff.post(f"/bans/ban/{there.pk}/", {"comment": "mine", "term": "never", "version": 1})
    [undo] = re.findall(r'action="([^"]*/revert/[^"]*)"', text(staff.get(saved["Location"])))
    staff.post(f"/bans/ban/{there.pk}/", {"comment": "theirs", "term": "never", "version": 2})
    assert "/revert/" not in text(staff.get(saved["Location"]))
    page = text(staff.post(undo, follow=True))
    assert "This ban was changed again since, so nothing was undone." in page and "<b>Saved.</b>" not in page
    assert Ban.objects.get().comment == "theirs"


@pytest.mark.parametrize(
    ("theirs", "says"),
    [
        ({"direction": "in"}, ["Direction: Saved meanwhile: <code>connections from there</code>"]),
        ({"term": "at", "until": "2099-01-01T12:00"}, ["Saved meanwhile: ends"]),
        ({"comment": "other"}, ["Saved meanwhile: other"]),
    ],
)
def test_a_stale_change_shows_what_differs_and_nothing_else(theirs: dict[str, str], says: list[str], staff: Client, own: BanList) -> None:
    there = ban(own, "203.0.113.66", comment="ssh")
    sent = {"comment": "ssh", "term": "never", "direction": "both", "version": "1"}
    staff.post(f"/bans/ban/{there.pk}/", sent | theirs)
    page = text(staff.post(f"/bans/ban/{there.pk}/", sent))
    assert page.count("Saved meanwhile") == len(says) and all(each in page for each in says)


def test_a_new_comment_alone_leaves_the_end_of_a_ban_as_it_is(staff: Client, own: BanList) -> None:
    end = datetime(2099, 10, 25, 1, 30, 42, tzinfo=UTC)  # 02:30 in Berlin, for the second time in that night
    there = ban(own, "203.0.113.66", expires=end)
    path = f"/bans/ban/{there.pk}/"
    assert staff.post(path, get_form_input(staff.get(path)) | {"comment": "ssh"}).status_code == 302
    there.refresh_from_db()
    assert (there.comment, there.expires) == ("ssh", end)


def test_a_ban_ends_when_was_chosen_though_the_page_sends_its_present_end_too(staff: Client, own: BanList) -> None:
    there = ban(own, "203.0.113.66", expires=timezone.now() + timedelta(days=1))
    path = f"/bans/ban/{there.pk}/"
    staff.post(path, get_form_input(staff.get(path)) | {"term": "30d"})
    there.refresh_from_db()
    assert there.expires and timedelta(days=29) < there.expires - timezone.now() <= timedelta(days=30)
    staff.post(path, get_form_input(staff.get(path)) | {"until": "2099-12-01T12:00"})
    there.refresh_from_db()
    assert there.expires == datetime(2099, 12, 1, 11, tzinfo=UTC)
    staff.post(path, get_form_input(staff.get(path)) | {"term": "never"})
    there.refresh_from_db()
    assert there.expires is None


def test_after_a_conflict_the_page_keeps_the_end_that_was_chosen_and_no_other(staff: Client, own: BanList) -> None:
    there = ban(own, "203.0.113.66", expires=timezone.now() + timedelta(days=1))
    path = f"/bans/ban/{there.pk}/"
    sent = get_form_input(staff.get(path))
    staff.post(path, sent | {"term": "7d"})
    again = get_form_input(staff.post(path, sent | {"term": "never"}))
    assert (again["term"], again["until"], again["version"]) == (["never"], "", "2")
    staff.post(path, again)
    there.refresh_from_db()
    assert (there.expires, there.version) == (None, 3)


def test_a_stale_change_shows_both_comments(staff: Client, own: BanList) -> None:
    there = ban(own, "203.0.113.66")
    staff.post(f"/bans/ban/{there.pk}/", {"comment": "theirs", "term": "never", "version": 1})
    response = staff.post(f"/bans/ban/{there.pk}/", {"comment": "mine", "term": "never", "version": 1})
    assert response.status_code == 422 and 'value="mine"' in text(response) and "Saved meanwhile: theirs" in text(response)
    assert Ban.objects.get().comment == "theirs" and 'name="version" value="2"' in text(response)


def test_a_ban_is_lifted_and_brought_back(staff: Client, own: BanList) -> None:
    there = ban(own, "203.0.113.66", comment="ssh")
    asks = text(staff.get(f"/bans/ban/{there.pk}/lift/"))
    assert "The ban is removed from nat-1, nat-2 within a second" in asks and Ban.objects.exists()
    response = staff.post(f"/bans/ban/{there.pk}/lift/", follow=True)
    assert "<b>Lifted.</b> 1 ban is removed" in text(response) and not Ban.objects.exists()
    undo = text(response).partition(f'action="/bans/{own.pk}/restore/')[2].partition('"')[0]
    assert "1 ban is back" in text(staff.post(f"/bans/{own.pk}/restore/{undo}", follow=True))
    assert (Ban.objects.get().prefix_text, Ban.objects.get().comment) == ("203.0.113.66", "ssh")


def test_lifting_says_when_another_list_keeps_it_out(staff: Client, own: BanList, network: factories.Network) -> None:
    there = ban(own, "203.0.113.66")
    ban(services.create_list(name="Feed", by=network.admin), "203.0.113.0/24")
    assert "Nothing changes on the gateways" in text(staff.get(f"/bans/ban/{there.pk}/lift/"))


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "The ban is removed from all gateways within a second"),
        ("de", "Die Sperre verschwindet binnen einer Sekunde von allen Gateways"),
    ],
)
def test_without_gateways_a_sentence_about_them_still_reads_well(client: Client, language: str, sentence: str) -> None:
    admin = factories.user("mara", language=language)
    client.force_login(admin)
    there = ban(services.create_list(name="Own", by=admin), "203.0.113.66")
    assert sentence in text(client.get(f"/bans/ban/{there.pk}/lift/"))


def test_some_bans_are_lifted_after_a_confirmation(staff: Client, own: BanList) -> None:
    some = [ban(own, f"203.0.113.{number}") for number in range(1, 5)]
    picked = {"do": "lift", "pick": [some[0].pk, some[1].pk, "x", "99999999999999999999"]}
    assert "Lift 2 bans?" in text(staff.post(f"/bans/{own.pk}/bulk/", picked)) and Ban.objects.count() == 4
    assert "2 bans are removed" in text(staff.post(f"/bans/{own.pk}/bulk/", picked | {"confirmed": "1"}, follow=True))
    assert Ban.objects.count() == 2


def test_bans_of_other_lists_cannot_be_picked(staff: Client, own: BanList, network: factories.Network) -> None:
    other = ban(services.create_list(name="Feed", by=network.admin), "203.0.113.0/24")
    assert "No ban is selected" in text(staff.post(f"/bans/{own.pk}/bulk/", {"do": "lift", "pick": other.pk, "confirmed": "1"}))
    assert Ban.objects.count() == 1


def test_many_at_once_want_their_number_typed(staff: Client, own: BanList) -> None:
    Ban.objects.bulk_create([Ban(list=own, prefix=ip_network(f"203.0.113.{number}/32")) for number in range(120)])
    every = {"do": "lift", "all": "1", "q": "", "confirmed": "1"}
    assert "Type 120 to go on" in text(staff.post(f"/bans/{own.pk}/bulk/", every)) and Ban.objects.count() == 120
    staff.post(f"/bans/{own.pk}/bulk/", every | {"typed": "120"})
    assert not Ban.objects.exists()


def test_ends_are_set_for_all_that_were_found(staff: Client, own: BanList) -> None:
    ban(own, "203.0.113.66", comment="ssh")
    kept = ban(own, "203.0.113.67", comment="mail")
    asked = {"do": "end", "all": "1", "q": "ssh"}
    assert "When should 1 ban end?" in text(staff.post(f"/bans/{own.pk}/bulk/", asked))
    past = staff.post(f"/bans/{own.pk}/bulk/", asked | {"confirmed": "1", "term": "at", "until": "2001-01-01T00:00"})
    assert past.status_code == 422 and "has passed" in text(past)
    assert "1 ban has a new end" in text(staff.post(f"/bans/{own.pk}/bulk/", asked | {"confirmed": "1", "term": "7d"}, follow=True))
    assert [each.expires is None for each in Ban.objects.order_by("prefix")] == [False, True] and kept.expires is None


def test_a_list_is_switched_off_and_on(staff: Client, own: BanList) -> None:
    ban(own, "203.0.113.66")
    assert "1 ban is removed from nat-1, nat-2" in text(staff.get(f"/bans/{own.pk}/switch/"))
    assert "This list is off" in text(staff.post(f"/bans/{own.pk}/switch/", follow=True))
    assert "Switch on 1 ban" in text(staff.get(f"/bans/{own.pk}/switch/"))
    staff.post(f"/bans/{own.pk}/switch/", {"on": "1"})
    assert BanList.objects.get().enabled


def test_a_stale_list_form_keeps_its_input(staff: Client, own: BanList) -> None:
    staff.post(f"/bans/{own.pk}/edit/", {"name": "Theirs", "description": "", "version": 1})
    response = staff.post(f"/bans/{own.pk}/edit/", {"name": "Mine", "description": "", "version": 1})
    assert response.status_code == 422 and 'value="Mine"' in text(response) and "Saved meanwhile: Theirs" in text(response)


def test_deleting_a_list_says_how_many_bans_go(staff: Client, own: BanList) -> None:
    ban(own, "203.0.113.66")
    assert "Delete the list and 1 ban" in text(staff.get(f"/bans/{own.pk}/delete/"))
    staff.post(f"/bans/{own.pk}/delete/")
    assert not BanList.objects.exists()


def test_a_file_is_looked_at_before_it_is_imported(staff: Client, own: BanList) -> None:
    ban(own, "198.51.99.0/24")
    sent = staff.post(f"/bans/{own.pk}/import/", feed("203.0.113.0/24\n203.0.113.0/24\nno <b>address\n10.16.0.0/16\n"))
    page = text(staff.get(sent["Location"]))
    assert "2 lines are not valid bans" in page and "Add 1, lift 1, leave out 2 lines" in page and "no &lt;b&gt;address" in page
    assert [each.prefix_text for each in Ban.objects.all()] == ["198.51.99.0/24"]
    assert "Imported: 1 added, 1 lifted" in text(staff.post(sent["Location"], follow=True))
    assert [each.prefix_text for each in Ban.objects.all()] == ["203.0.113.0/24"] and not Upload.objects.exists()


def test_an_import_whose_end_has_passed_is_refused_at_its_field(staff: Client, own: BanList) -> None:
    past = feed("203.0.113.0/24\n") | {"term": "at", "until": "2001-01-01T00:00"}
    refused = staff.post(f"/bans/{own.pk}/import/", past)
    assert refused.status_code == 422 and "has passed" in text(refused) and not Upload.objects.exists()


def test_a_preview_says_when_the_bans_end_and_what_has_ended_meanwhile_is_not_imported(staff: Client, own: BanList) -> None:
    there = ban(own, "198.51.99.0/24")
    sent = staff.post(f"/bans/{own.pk}/import/", feed("203.0.113.0/24\n") | {"term": "at", "until": "2099-12-01T12:00"})
    assert re.search(r"New and renewed bans end <time [^>]*>Tue 1 Dec 2099, 12:00 CET</time>", text(staff.get(sent["Location"])))
    Upload.objects.update(expires=timezone.now() - timedelta(minutes=5))
    page = text(staff.post(sent["Location"]))
    assert "This file cannot be imported" in page and "has passed" in page
    assert list(Ban.objects.all()) == [there]


def test_a_file_without_bans_cannot_be_imported(staff: Client, own: BanList) -> None:
    sent = staff.post(f"/bans/{own.pk}/import/", feed("nonsense\n"))
    page = text(staff.get(sent["Location"]))
    assert "This file cannot be imported" in page and "Line 1:" in page and '<button class="btn btn-primary">' not in page
    assert staff.post(sent["Location"]).status_code == 200 and not Ban.objects.exists()


def test_somebody_elses_upload_is_not_shown(staff: Client, own: BanList, client: Client) -> None:
    sent = staff.post(f"/bans/{own.pk}/import/", feed("203.0.113.0/24\n"))
    client.force_login(factories.user("jakob"))
    assert client.get(sent["Location"]).status_code == 404


def test_a_list_is_exported(staff: Client, own: BanList, network: factories.Network) -> None:
    there = ban(own, "203.0.113.66", comment="=cmd()")
    ban(own, "198.51.99.0/24", comment="ended", expires=timezone.now() + timedelta(days=1))
    Ban.objects.filter(comment="ended").update(expires=timezone.now())
    hits.record_hits(gateway=network.gateways[0], passed=hit({(there.prefix, Direction.BOTH): (7, 420)}), at=timezone.now())
    as_text, as_csv = (staff.get(f"/bans/{own.pk}/bans.{form}").getvalue().decode() for form in ("txt", "csv"))
    assert as_text == "203.0.113.66 # =cmd()\n"
    assert "203.0.113.66,'=cmd()," in as_csv and ",7,420," in as_csv and as_csv.count("\n") == 3


def test_queries_do_not_grow_with_rows(staff: Client, own: BanList) -> None:
    def asked(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert staff.get(path).status_code == 200
        return len(queries)

    def fill(start: int, end: int) -> None:
        Ban.objects.bulk_create([Ban(list=own, prefix=ip_network(f"203.0.113.{number}/32"), comment="x") for number in range(start, end)])

    paths = (f"/bans/{own.pk}/", f"/bans/{own.pk}/?sort=-hits", "/bans/")
    fill(0, 10)
    staff.get("/")  # the first page of a session writes to the database
    few = [asked(path) for path in paths]
    fill(10, 200)
    assert [asked(path) for path in paths] == few
