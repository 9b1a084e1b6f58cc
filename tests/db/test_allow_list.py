"""The allow list on pages and in the API, the search for the ban that covers an address, and directions of bans."""

import json
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from apps.bans import feed_import, feed_parser, services
from apps.bans.allow_list import allow_prefix
from apps.bans.coverage import get_coverage, map_overruling_entries
from apps.bans.models import AllowEntry, Ban, BanList, Upload
from apps.lib.errors import Problem
from apps.network.models import GatewayGroup
from tests import factories
from tests.db.page_client import get_form_input, queries, signed_in, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def own(network: factories.Network) -> BanList:
    return services.create_list(name="Own", by=network.admin)


def ban(own: BanList, prefix: str, **given: Any) -> Ban:
    return services.ban_prefix(list=own, prefix=prefix, author=None, **given)


def test_an_entry_is_added_changed_and_removed(staff: Client, own: BanList) -> None:
    ban(own, "203.0.113.0/24", comment="scans")
    assert "No allow entry yet" in text(staff.get("/bans/allowed/"))
    page = text(staff.post("/bans/allowed/", {"address": "203.0.113.9", "comment": "mirror", "term": "never"}, follow=True))
    assert "no ban affects 203.0.113.9 any more" in page and "nat-1: under way" in page
    entry = AllowEntry.objects.get()
    page = text(staff.get(f"/bans/allowed/{entry.pk}/"))
    assert "1 ban has no effect, wholly or in part." in page and "203.0.113.0/24" in page
    given = {"comment": "our mirror", "term": "1d", "version": 1}
    staff.post(f"/bans/allowed/{entry.pk}/", given)
    conflict = staff.post(f"/bans/allowed/{entry.pk}/", given)
    assert conflict.status_code == 422 and "This entry was changed or removed by someone else" in text(conflict)
    assert "1 ban works on nat-1, nat-2 again" in text(staff.get(f"/bans/allowed/{entry.pk}/remove/"))
    staff.post(f"/bans/allowed/{entry.pk}/remove/")
    assert not AllowEntry.objects.exists()


def test_the_end_of_an_entry_stays_unless_another_one_is_chosen(staff: Client) -> None:
    end = datetime(2099, 10, 25, 1, 30, 42, tzinfo=UTC)  # 02:30 in Berlin, for the second time in that night
    entry = allow_prefix(prefix="203.0.113.9", expires=end, author=None)
    path = f"/bans/allowed/{entry.pk}/"
    assert staff.post(path, get_form_input(staff.get(path)) | {"comment": "mirror"}).status_code == 302
    entry.refresh_from_db()
    assert (entry.comment, entry.expires) == ("mirror", end)
    staff.post(path, get_form_input(staff.get(path)) | {"term": "never"})
    entry.refresh_from_db()
    assert entry.expires is None


@pytest.mark.parametrize(
    ("address", "says"),
    [("nonsense", "is not an address or prefix"), ("203.0.113.9", "is already on the allow list (mirror)")],
)
def test_what_cannot_be_allowed_is_said_under_its_field(staff: Client, own: BanList, address: str, says: str) -> None:
    allow_prefix(prefix="203.0.113.9", comment="mirror", author=None)
    refused = staff.post("/bans/allowed/", {"address": address, "term": "never"})
    assert refused.status_code == 422 and says in text(refused)


def test_only_staff_sees_the_allow_list(own: BanList, client: Client) -> None:
    entry = allow_prefix(prefix="203.0.113.9", author=None)
    client.force_login(factories.user("guest", staff=False))
    paths = ("/bans/allowed/", f"/bans/allowed/{entry.pk}/", f"/bans/allowed/{entry.pk}/remove/", "/bans/covering/")
    assert [client.get(path).status_code for path in paths] == [403] * 4
    assert [client.post(path).status_code for path in paths] == [403, 403, 403, 405]
    assert AllowEntry.objects.exists()


def test_a_ban_that_is_allowed_says_so_when_it_is_made_on_its_page_and_in_the_list(staff: Client, own: BanList) -> None:
    entry = allow_prefix(prefix="203.0.113.0/24", author=None)
    page = text(staff.post(f"/bans/{own.pk}/add/", {"address": "203.0.113.9", "direction": "in", "term": "never"}, follow=True))
    assert "It has no effect:" in page and f"/bans/allowed/{entry.pk}/" in page and "no effect: allowed" in page
    made = Ban.objects.get()
    assert made.direction == "in"
    assert "It has no effect: allowed by" in text(staff.get(f"/bans/ban/{made.pk}/"))
    AllowEntry.objects.update(prefix=ip_network("203.0.113.9"))
    wide = ban(own, "203.0.113.0/24")
    assert "a part of it, is on the allow list" in text(staff.get(f"/bans/ban/{wide.pk}/"))
    assert "a part of it, is on the allow list" in text(staff.get(f"/bans/{own.pk}/?saved={wide.pk}"))


def test_the_number_of_queries_does_not_grow_with_bans(staff: Client, own: BanList) -> None:
    allow_prefix(prefix="203.0.113.0/24", author=None)
    ban(own, "203.0.113.1")
    few = queries(staff, f"/bans/{own.pk}/")
    for number in range(2, 30):
        ban(own, f"203.0.113.{number}")
    assert queries(staff, f"/bans/{own.pk}/") == few


def test_which_ban_covers_an_address_and_which_entry_decides(staff: Client, own: BanList) -> None:
    ban(own, "203.0.113.0/24", direction="in", comment="scans")
    ban(own, "203.0.113.9", direction="out")
    page = text(staff.get("/bans/covering/?address=203.0.113.9"))
    assert page.count("banned by") == 2 and "scans" in page and "No allow entry covers all of it" in page
    allow_prefix(prefix="203.0.112.0/23", author=None)
    assert text(staff.get("/bans/covering/?address=203.0.113.9")).count("on the allow list, despite any ban") == 2
    assert text(staff.get("/bans/covering/?address=198.18.0.1")).count("no ban covers it.") == 2
    refused = staff.get("/bans/covering/?address=203.0.113.9/24")
    assert refused.status_code == 422 and "?address=203.0.113.0/24" in text(refused)
    assert "on the allow list" in text(staff.get("/search?q=203.0.113.9"))


def test_a_prefix_is_decided_by_what_covers_all_of_it(own: BanList) -> None:
    wide = ban(own, "203.0.113.0/24", direction="in")
    narrow = ban(own, "203.0.113.9")
    ban(own, "203.0.113.8/29", expires=timezone.now() + timedelta(hours=1))
    Ban.objects.filter(prefix=ip_network("203.0.113.8/29")).update(expires=timezone.now() - timedelta(hours=1))
    entry = allow_prefix(prefix="203.0.113.10", author=None)
    found = get_coverage(ip_network("203.0.113.0/28"))
    assert (found.incoming_deciding_entry, found.outgoing_deciding_entry, found.bans_within, found.allowed_within) == (wide, None, 1, 1)
    assert map_overruling_entries(Ban.objects.all()) == {}
    AllowEntry.objects.update(prefix=ip_network("203.0.113.8/30"))
    entry.refresh_from_db()
    assert map_overruling_entries(Ban.objects.all()) == {ip_network("203.0.113.9"): entry}
    AllowEntry.objects.update(expires=timezone.now() - timedelta(hours=1))
    assert map_overruling_entries(Ban.objects.all()) == {}
    assert get_coverage(ip_network("203.0.113.9")).outgoing_deciding_entry == narrow


def test_a_direction_that_is_none_is_refused(own: BanList) -> None:
    with pytest.raises(Problem, match="is not a direction"):
        ban(own, "203.0.113.9", direction="sideways")


def test_directions_are_shown_filtered_and_set_for_many(staff: Client, own: BanList) -> None:
    ban(own, "203.0.113.1", direction="in")
    other = ban(own, "203.0.113.2", direction="out")
    page = text(staff.get(f"/bans/{own.pk}/?way=in"))
    assert "203.0.113.1</code>" in page and "203.0.113.2</code>" not in page
    assert "Which connections should 1 ban keep out?" in text(staff.post(f"/bans/{own.pk}/bulk/", {"do": "way", "pick": other.pk}))
    given = {"do": "way", "all": "1", "way": "out", "q": "", "confirmed": "1", "direction": "both"}
    assert "1 ban has a new direction." in text(staff.post(f"/bans/{own.pk}/bulk/", given, follow=True))
    assert list(Ban.objects.order_by("prefix").values_list("direction", flat=True)) == ["in", "both"]
    staff.post(f"/bans/ban/{other.pk}/", {"comment": "", "direction": "in", "term": "never", "version": 2})
    other.refresh_from_db()
    assert other.direction == "in"
    staff.post(f"/bans/ban/{other.pk}/revert/?version=3")
    other.refresh_from_db()
    assert other.direction == "both"


@pytest.mark.parametrize("form", ["csv", "json"])
def test_what_is_exported_is_imported_with_its_directions(staff: Client, own: BanList, form: str) -> None:
    for prefix, direction in (("203.0.113.1", "in"), ("203.0.113.0/24", "out"), ("2001:db8:66::/48", "both")):
        ban(own, prefix, direction=direction, comment='=says, "hello"')
    content = b"".join(staff.get(f"/bans/{own.pk}/bans.{form}").streaming_content)  # type: ignore[attr-defined]  # a stream
    before = list(Ban.objects.order_by("prefix").values_list("prefix", "direction", "comment"))
    other = services.create_list(name="Other", by=None)
    staff.post(f"/bans/{other.pk}/import/", {"file": SimpleUploadedFile(f"x.{form}", content), "term": "never"})
    staff.post(f"/bans/import/{Upload.objects.get().pk}/")
    assert list(Ban.objects.filter(list=other).order_by("prefix").values_list("prefix", "direction", "comment")) == before


@pytest.mark.parametrize(
    ("content", "entries", "bad"),
    [
        ('["203.0.113.9", {"prefix": "203.0.113.0/24", "direction": "IN"}]', [("203.0.113.9/32", ""), ("203.0.113.0/24", "in")], 0),
        ('{"prefix": "203.0.113.9", "comment": 7, "direction": "sideways"}', [], 1),
        ('[{"prefix": ["203.0.113.9"]}, 7, null, "x"]', [], 4),
        ("[1,", [], 1),
        ("[" * 100_000, [], 1),
        ("direction,prefix\nout,203.0.113.9\nup,203.0.113.8\n,\n", [("203.0.113.9/32", "out")], 2),
        ('\ufeff"Prefix","Comment"\r\n"203.0.113.1 - 203.0.113.2","two"\r\n', [("203.0.113.1/32", ""), ("203.0.113.2/32", "")], 0),
        ("[]", [], 0),
    ],
)
def test_tables_are_read_row_by_row(content: str, entries: list[tuple[str, str]], bad: int) -> None:
    found = feed_parser.parse_feed(content)
    assert ([(str(each.prefix), each.direction) for each in found.entries], len(found.bad)) == (entries, bad)


def test_a_table_has_no_more_rows_than_a_text_has_lines() -> None:
    with pytest.raises(feed_parser.FeedTooBig, match="more than 2 entries"):
        feed_parser.parse_feed('["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"]', limits=feed_parser.FeedLimits(lines=2))


def test_an_import_counts_what_the_allow_list_overrules(staff: Client, own: BanList) -> None:
    allow_prefix(prefix="203.0.113.0/24", author=None)
    outcome = feed_import.import_feed(
        list=own, feed=feed_parser.parse_feed("203.0.113.9\n203.0.112.0/23\n203.0.113.0/25"), by=None, direction="in"
    )
    assert (outcome.added, outcome.allowed, set(Ban.objects.values_list("direction", flat=True))) == (3, 2, {"in"})
    again = feed_import.import_feed(
        list=own, feed=feed_parser.parse_feed('["203.0.113.9", {"prefix": "203.0.112.0/23", "direction": "both"}]'), by=None
    )
    assert (again.redirected, again.removed, again.unchanged) == (1, 1, 2)
    file = {"file": SimpleUploadedFile("x.txt", b"203.0.113.9"), "term": "never"}
    assert "1 entry has no effect" in text(staff.post(f"/bans/{own.pk}/import/", file, follow=True))


def send_json(client: Client, method: str, path: str, body: Any = None, *, app: str = "bans") -> tuple[int, Any]:
    response = client.generic(method, f"/api/{app}/{path}", json.dumps(body) if body is not None else "", content_type="application/json")
    return response.status_code, json.loads(response.content) if response.content else None


def test_bans_and_allow_entries_are_made_changed_and_removed_by_scripts(staff: Client) -> None:
    code, made = send_json(staff, "POST", "lists/", {"name": "Own", "description": ""})
    assert (code, made["enabled"]) == (201, True)
    code, banned = send_json(staff, "POST", "bans/", {"list": made["id"], "prefix": "203.0.113.9", "direction": "out"})
    assert (code, banned["prefix"], banned["direction"], banned["hits"]["packets"]) == (201, "203.0.113.9", "out", 0)
    code, changed = send_json(staff, "PATCH", f"bans/{banned['id']}/", {"direction": "both", "version": 1})
    assert (code, changed["direction"], changed["version"]) == (200, "both", 2)
    assert send_json(staff, "PATCH", f"bans/{banned['id']}/", {"direction": "in", "version": 1})[0] == 409
    code, entry = send_json(staff, "POST", "allowed/", {"prefix": "203.0.113.0/24", "comment": "ours"})
    assert (code, [each["gateway"] for each in entry["active"]]) == (201, ["nat-1", "nat-2"])
    code, found = send_json(staff, "GET", "bans/covering/?address=203.0.113.9")
    assert (code, found["decides"]["in"], len(found["bans"])) == (200, {"allowed": entry["id"], "prefix": "203.0.113.0/24"}, 1)
    assert send_json(staff, "GET", "bans/covering/?address=x")[0] == 400
    assert send_json(staff, "PATCH", f"allowed/{entry['id']}/", {"comment": "theirs"})[1]["comment"] == "theirs"
    assert send_json(staff, "GET", "bans/?direction=both")[1]["count"] == 1
    assert send_json(staff, "DELETE", f"allowed/{entry['id']}/")[0] == send_json(staff, "DELETE", f"bans/{banned['id']}/")[0] == 204
    assert send_json(staff, "PATCH", f"lists/{made['id']}/", {"enabled": False})[1]["enabled"] is False
    assert send_json(staff, "DELETE", f"lists/{made['id']}/")[0] == 204


def test_feeds_are_set_up_and_refreshed_by_scripts(staff: Client, own: BanList) -> None:
    given = {"list": own.pk, "source": "list.txt", "interval": 60, "direction": "in"}
    code, made = send_json(staff, "POST", "feeds/", given)
    assert (code, made["phase"], made["error"], made["held"]) == (201, "waiting", "", None)
    assert send_json(staff, "POST", "feeds/", given)[0] == 400
    assert send_json(staff, "PATCH", f"feeds/{made['id']}/", {"interval": 360})[1]["interval"] == 360
    assert send_json(staff, "PATCH", f"feeds/{made['id']}/", {"source": "ftp://x/"})[0] == 400
    assert send_json(staff, "POST", f"feeds/{made['id']}/refresh/")[0] == 202
    assert send_json(staff, "DELETE", f"feeds/{made['id']}/")[0] == 204


def test_flood_mode_is_switched_said_and_kept_in_the_history(staff: Client, network: factories.Network) -> None:
    path = f"/gateways/groups/{network.group.pk}/"
    assert "up to a fifth more work" in text(staff.get(f"{path}flood/"))
    page = text(staff.post(f"{path}flood/", {"on": "1", "version": network.group.version}, follow=True))
    assert "Flood mode is on." in page and "Mara Lindqvist" in page
    assert "Flood mode is on." in text(staff.get("/gateways/")) and "Lindenhof is in flood mode" in text(staff.get("/"))
    assert "This group was changed by someone else meanwhile" in text(staff.post(f"{path}flood/", {"version": 1}, follow=True))
    code, group = send_json(staff, "PATCH", f"groups/{network.group.pk}/", {"flood_mode": False}, app="gateways")
    assert (code, group["flood_mode"], GatewayGroup.objects.get().flood_mode) == (200, False, False)
    assert "Flood mode is on." not in text(staff.get("/gateways/"))
