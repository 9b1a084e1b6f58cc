"""Pages and API of member blocks and listeners."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from apps.bans.blocks.selectors import find_current_block
from apps.bans.blocks.services import block_member, lift_block
from apps.bans.models import Block, Listener, Notice, Reachable, ServerInterface
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import get_form_input, queries, text

pytestmark = pytest.mark.django_db
JSON = "application/json"


@pytest.fixture
def staff(network: factories.Network, client: Client) -> Client:
    client.force_login(network.admin)
    return client


def block_resident(network: factories.Network, host: str = "m1", **given: Any) -> Block:
    values: Any = {"member": network.residents[host].member, "reason": "abuse", "message": "Spam", "by": network.admin}
    return block_member(**(values | given))


def test_only_staff_sees_blocks_and_listeners(network: factories.Network, client: Client) -> None:
    made = block_resident(network)
    reads = ("/bans/blocks/", f"/bans/blocks/{made.pk}/", "/bans/listeners/", f"/bans/notice/{network.group.pk}/", "/api/bans/blocks/")
    assert [client.get(path).status_code for path in reads] == [302, 302, 302, 302, 401]
    client.force_login(factories.user("guest", staff=False))
    assert [client.get(path).status_code for path in reads] == [403] * 5
    assert client.post(f"/bans/blocks/{made.pk}/lift/").status_code == 403


def test_blocking_says_first_what_it_does_and_then_the_members_page_says_so(network: factories.Network, staff: Client) -> None:
    member = network.residents["m1"].member
    assert f"/bans/blocks/member/{member.pk}/" in text(staff.get(f"/members/{member.pk}/"))
    asked = text(staff.get(f"/bans/blocks/member/{member.pk}/"))
    assert "10.16.0.10" in asked and "1 NAT mapping" in asked
    given = {"reason": "infected", "message": "Mail to thousands", "note": "ticket 7", "term": "7d"}
    answer = staff.post(f"/bans/blocks/member/{member.pk}/", given)
    made = find_current_block(member)
    assert made is not None and answer.headers["Location"] == f"/bans/blocks/{made.pk}/"
    page = text(staff.get(f"/members/{member.pk}/"))
    assert "<b>Blocked.</b>" in page and "infected device" in page
    assert staff.get(f"/bans/blocks/member/{member.pk}/").headers["Location"] == f"/bans/blocks/{made.pk}/"


def test_a_block_without_a_time_where_one_is_asked_for_is_not_made(network: factories.Network, staff: Client) -> None:
    member = network.residents["m1"].member
    answer = staff.post(f"/bans/blocks/member/{member.pk}/", {"reason": "rules", "term": "at"})
    assert answer.status_code == 422 and "Enter a time" in text(answer)
    assert find_current_block(member) is None


def test_a_block_is_changed_and_a_change_by_two_is_a_conflict(network: factories.Network, staff: Client) -> None:
    made = block_resident(network)
    given = {"reason": "rules", "message": "Other", "note": "", "term": "1d", "version": "1"}
    assert staff.post(f"/bans/blocks/{made.pk}/", given).status_code == 302
    again = staff.post(f"/bans/blocks/{made.pk}/", given)
    assert again.status_code == 422 and "while you were editing" in text(again)
    made.refresh_from_db()
    assert (made.reason, made.version, made.valid.upper is not None) == ("rules", 2, True)


def test_the_end_of_a_block_stays_unless_another_one_is_chosen(network: factories.Network, staff: Client) -> None:
    end = datetime(2099, 10, 25, 1, 30, 42, tzinfo=UTC)  # 02:30 in Berlin, for the second time in that night
    made = block_resident(network, until=end)
    path = f"/bans/blocks/{made.pk}/"
    assert staff.post(path, get_form_input(staff.get(path)) | {"note": "ticket 7"}).status_code == 302
    made.refresh_from_db()
    assert (made.note, made.valid.upper) == ("ticket 7", end)
    staff.post(path, get_form_input(staff.get(path)) | {"term": "never"})
    made.refresh_from_db()
    assert made.valid.upper is None


def test_after_a_conflict_a_block_gets_the_end_that_its_page_still_shows(network: factories.Network, staff: Client) -> None:
    made = block_resident(network, until=datetime(2099, 1, 1, 12, tzinfo=UTC))
    path = f"/bans/blocks/{made.pk}/"
    sent = get_form_input(staff.get(path))
    staff.post(path, sent | {"term": "7d"})
    again = get_form_input(staff.post(path, sent | {"until": "2099-12-01T12:00"}))
    assert (again["term"], again["until"]) == (["at"], "2099-12-01T12:00")
    staff.post(path, again)
    made.refresh_from_db()
    assert (made.valid.upper, made.version) == (datetime(2099, 12, 1, 11, tzinfo=UTC), 3)


def test_lifting_asks_can_be_undone_and_is_seen_in_the_list(network: factories.Network, staff: Client) -> None:
    made = block_resident(network)
    assert "Lift the block of Resident of m1?" in text(staff.get(f"/bans/blocks/{made.pk}/lift/"))
    after = text(staff.post(f"/bans/blocks/{made.pk}/lift/", follow=True))
    assert "<b>Lifted.</b> Resident of m1" in after and "No member is blocked" in after
    assert "Resident of m1" in text(staff.get("/bans/blocks/?state=over"))
    assert staff.post(f"/bans/blocks/{made.pk}/restore/").status_code == 302
    again = find_current_block(made.member)
    assert again is not None and again.pk != made.pk and again.message == "Spam"
    assert "is blocked already" in text(staff.post(f"/bans/blocks/{made.pk}/restore/", follow=True))


def test_many_are_lifted_and_given_ends_at_once(network: factories.Network, staff: Client) -> None:
    made = [block_resident(network, host) for host in ("m1", "m2")]
    picked: dict[str, Any] = {"pick": [each.pk for each in made]}
    assert "When should 2 blocks end?" in text(staff.post("/bans/blocks/bulk/", picked | {"do": "end"}))
    staff.post("/bans/blocks/bulk/", picked | {"do": "end", "confirmed": "1", "term": "1d"})
    assert all(each.valid.upper for each in Block.objects.all())
    staff.post("/bans/blocks/bulk/", picked | {"do": "lift", "confirmed": "1"})
    assert not Block.objects.filter(lifted_by=None).exists()


def test_all_that_the_filter_finds_are_lifted_not_only_those_of_the_page(
    network: factories.Network, staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.bans.views.blocks.PER_PAGE", 1)
    found, other = [block_resident(network, host) for host in ("m1", "m2")], block_resident(network, "m3", reason="unpaid")
    path = "/bans/blocks/bulk/?reason=abuse&page=1"
    assert f'action="{escape(path)}"' in text(staff.get("/bans/blocks/?reason=abuse"))
    asked = text(staff.post(path, {"do": "lift", "all": "1", "pick": [found[0].pk]}))
    assert "Lift 2 blocks?" in asked and "Lift 2 blocks</button>" in asked and 'href="/bans/blocks/?reason=abuse&amp;page=1"' in asked
    [picked] = re.findall(r'name="pick" value="([^"]*)"', asked)
    assert staff.post(path, {"do": "lift", "confirmed": "1", "pick": picked})["Location"] == "/bans/blocks/?reason=abuse&page=1"
    assert list(Block.objects.filter(lifted_by=None)) == [other]


def test_blocks_that_are_over_are_not_selected_with_all(network: factories.Network, staff: Client) -> None:
    lift_block(block=block_resident(network), by=network.admin)
    assert "No block is selected" in text(staff.post("/bans/blocks/bulk/?state=over", {"do": "lift", "all": "1"}))


@pytest.mark.parametrize(("query", "found"), [("q=m2", 1), ("q=spam", 2), ("reason=unpaid", 0), ("state=over", 0), ("state=all", 2)])
def test_blocks_are_filtered(network: factories.Network, staff: Client, query: str, found: int) -> None:
    block_resident(network, "m1")
    block_resident(network, "m2")
    assert text(staff.get(f"/bans/blocks/?{query}")).count('name="pick"') == found


def test_a_page_of_blocks_takes_the_same_queries_however_many_there_are(network: factories.Network, staff: Client) -> None:
    block_resident(network, "m1")
    one = queries(staff, "/bans/blocks/")
    block_resident(network, "m2")
    block_resident(network, "m3")
    assert queries(staff, "/bans/blocks/") == one


def test_what_stays_reachable_is_set_on_a_page(network: factories.Network, staff: Client) -> None:
    page = f"/bans/notice/{network.group.pk}/"
    assert "nat-1, nat-2 have no interface for servers" in text(staff.get(page))
    version = Notice.objects.get().version
    staff.post(page, {"ipv4": "192.0.2.50", "ipv6": "", "port": "80", "contact": "mara", "version": version})
    assert str(Notice.objects.get().ipv4) == "192.0.2.50"
    assert "while you were editing" in text(staff.post(page, {"port": "80", "version": version}))
    wrong = staff.post(page, {"ipv4": "2001:db8::1", "ipv6": "", "port": "80", "contact": "", "version": version + 1})
    assert wrong.status_code == 422
    staff.post(f"{page}add/", {"name": "DNS", "address": "192.0.2.40", "protocol": "udp", "port": "53"})
    assert "UDP 53" in text(staff.get(page))
    remove = f"/bans/notice/reachable/{Reachable.objects.get().pk}/remove/"
    assert "Blocked members no longer reach UDP 53 on 192.0.2.40." in text(staff.get(remove))
    assert Reachable.objects.exists()
    said = text(staff.post(remove, follow=True))
    assert "“DNS” is being closed to blocked members." in said and "Nothing stays reachable" in said


def test_an_interface_that_is_refused_stands_in_its_field_with_the_reason(network: factories.Network, staff: Client) -> None:
    first, second = network.gateways
    assert staff.post("/bans/listeners/interface/", {"gateway": second.pk, "name": "srv0"}).status_code == 302
    refused = staff.post("/bans/listeners/interface/", {"gateway": first.pk, "name": "dmz 0"})
    assert refused.status_code == 422
    page = refused.content.decode()
    assert 'value="dmz 0"' in page and 'value="srv0"' in page
    assert page.count('aria-invalid="true"') == 1
    assert "“dmz 0” is not an interface name." in text(refused)
    assert staff.post("/bans/listeners/interface/", {"gateway": 0, "name": "srv0"}).status_code == 404
    assert not ServerInterface.objects.filter(gateway=first).exists()


def test_a_listener_is_added_changed_and_removed(network: factories.Network, staff: Client) -> None:
    assert "No listener yet" in text(staff.get("/bans/listeners/"))
    given = {"group": network.group.pk, "name": "Web", "address": "192.0.2.40", "protocol": "tcp", "port": "443", "note": ""}
    assert staff.post("/bans/listeners/", given).status_code == 302
    again = staff.post("/bans/listeners/", given)
    assert again.status_code == 422 and "“Web” already listens on TCP 443" in text(again)
    made = Listener.objects.get()
    page = f"/bans/listeners/{made.pk}/"
    changed = {"name": "Web", "address": "192.0.2.40", "protocol": "tcp", "port": "80", "note": "old", "version": "1"}
    assert staff.post(page, changed).status_code == 302
    made.refresh_from_db()
    assert (made.port, made.enabled) == (80, False)
    assert "while you were editing" in text(staff.post(page, changed)) or "changed or removed" in text(staff.post(page, changed))
    assert "no longer reaches TCP 80 on 192.0.2.40" in text(staff.get(f"{page}remove/"))
    staff.post(f"{page}remove/")
    assert not Listener.objects.exists()


def test_a_listener_on_a_members_address_is_refused_at_its_field(network: factories.Network, staff: Client) -> None:
    given = {"group": network.group.pk, "name": "Web", "address": "10.16.0.10", "protocol": "tcp", "port": "443"}
    answer = staff.post("/bans/listeners/", given)
    assert answer.status_code == 422 and "A server needs an address outside of it" in text(answer)


def test_servers_interfaces_are_named_on_the_page(network: factories.Network, staff: Client) -> None:
    gateway = network.gateways[0]
    staff.post("/bans/listeners/interface/", {"gateway": gateway.pk, "name": "srv0"})
    assert 'value="srv0"' in text(staff.get("/bans/listeners/"))
    assert "nat-1 already uses wan0 as another interface" in text(
        staff.post("/bans/listeners/interface/", {"gateway": gateway.pk, "name": "wan0"}, follow=True)
    )


def test_listeners_are_in_the_navigation_and_found_by_the_search(network: factories.Network, staff: Client) -> None:
    staff.post(
        "/api/bans/listeners/",
        {"group": network.group.pk, "name": "Zentrale", "address": "192.0.2.40", "protocol": "tcp", "port": 25},
        JSON,
    )
    page = text(staff.get("/bans/listeners/"))
    assert 'href="/bans/listeners/"' in page
    assert staff.get("/search?q=Zentrale").headers.get("Location") == f"/bans/listeners/{Listener.objects.get().pk}/"


def test_the_dashboard_counts_who_is_blocked(network: factories.Network, staff: Client) -> None:
    block_resident(network)
    assert "1 member is blocked" in text(staff.get("/"))


def test_scripts_block_change_and_lift(network: factories.Network, staff: Client) -> None:
    member = network.residents["m1"].member
    made = staff.post("/api/bans/blocks/", {"member": member.pk, "reason": "unpaid", "until": "2099-01-01T00:00:00Z"}, JSON).json()
    assert (made["until"], [each["gateway"] for each in made["active"]]) == ("2099-01-01T01:00:00+01:00", ["nat-1", "nat-2"])
    assert staff.post("/api/bans/blocks/", {"member": member.pk, "reason": "unpaid"}, JSON).status_code == 400
    path = f"/api/bans/blocks/{made['id']}/"
    changed = staff.put(path, {"member": member.pk, "reason": "rules", "until": None, "version": 1}, JSON)
    assert (changed.json()["reason"], changed.json()["until"]) == ("rules", None)
    assert staff.put(path, {"member": member.pk, "reason": "other", "version": 1}, JSON).status_code == 409
    assert staff.delete(path).status_code == 204
    assert (staff.get(path).status_code, staff.get(f"{path}?all=1").json()["lifted_by"]) == (404, network.admin.pk)


def test_scripts_add_change_and_remove_listeners(network: factories.Network, staff: Client) -> None:
    given = {"group": network.group.pk, "name": "DNS", "address": "2001:db8:5e::53", "protocol": "udp", "port": 53}
    made = staff.post("/api/bans/listeners/", given, JSON).json()
    path = f"/api/bans/listeners/{made['id']}/"
    assert staff.patch(path, {"enabled": False, "version": 1}, JSON).json()["enabled"] is False
    assert staff.patch(path, {"port": 54, "version": 1}, JSON).status_code == 409
    assert "address" in wrong(staff.post("/api/bans/listeners/", given | {"address": "10.16.0.10"}, JSON))
    assert staff.delete(path).status_code == 204
