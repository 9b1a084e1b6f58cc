"""Pages of the members list, of members, and of their devices and addresses."""

import csv
import io
from datetime import UTC, date, datetime, timedelta
from ipaddress import ip_network

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone

from apps.audit.models import Enquiry
from apps.audit.selectors import list_row_history
from apps.bans.blocks.selectors import list_blocked_member_ids
from apps.bans.blocks.services import block_member, unblock_members
from apps.bans.models import Block
from apps.members import services
from apps.members.models import Device, Member, Room, Site, Tariff
from apps.nat.models import NatMapping
from apps.network.models import Holding
from apps.network.services import assign_address
from tests import factories
from tests.db.page_client import HTMX, confirm_preview, queries, read_preview_mark, signed_in, text

PAGES = [
    "/members/",
    "/members.csv",
    "/members/add/",
    "/search?q=x",
    "/addresses/",
    "/addresses/held/",
    "/addresses/add/",
    "/history/",
    "/",
]
HOSTILE = [
    "\0",
    "%00",
    "'; DROP TABLE members_member; --",
    "9" * 400,
    "١٢٣",
    "‮gnp.exe",
    "<script>alert(1)</script>",
    "%",
    "_",
    "\\",
    "💥" * 300,
]


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


def house(code: str = "B", *names: str) -> list[Room]:
    site = Site.objects.create(name=f"House {code}", code=code)
    return [Room.objects.create(site=site, floor=1, name=name) for name in names]


# --- Rights


@pytest.mark.parametrize("path", PAGES)
def test_whoever_has_not_signed_in_is_asked_to(client: Client, network: factories.Network, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 302
    assert response["Location"].startswith("/account/login/")


@pytest.mark.parametrize("path", PAGES)
def test_members_themselves_do_not_see_the_pages_of_the_staff(network: factories.Network, path: str) -> None:
    response = signed_in(factories.user("selin", staff=False)).get(path)
    assert response.status_code == 403 or (path, response["Location"]) == ("/", "/me/")


def test_nobody_else_writes(network: factories.Network) -> None:
    selin, who = signed_in(factories.user("selin", staff=False)), network.residents["m1"]
    for path in (
        "/members/bulk/",
        "/members/add/",
        f"/members/{who.member.pk}/edit/",
        f"/members/{who.member.pk}/leave/",
        f"/members/{who.member.pk}/activate/",
        f"/members/{who.member.pk}/addresses/add/",
        f"/members/{who.member.pk}/devices/add/",
        f"/holdings/{who.holding.pk}/release/",
        "/addresses/add/",
    ):
        assert selin.post(path).status_code == 403, path


# --- The list


def test_a_row_shows_what_a_member_has(mara: Client, network: factories.Network) -> None:
    page = text(mara.get("/members/?q=Resident+of+m1"))
    for shown in ("Resident of m1", "Active", "10.16.0.10", "198.51.100.7", "2001:db8:a0:10::/64"):
        assert shown in page


def test_tabs_count_by_state_and_trial(mara: Client, network: factories.Network) -> None:
    factories.member("Gone", state="left")
    factories.member("New", state="pending", tariff=Tariff.objects.create(name="Trial", trial=True))
    views = {name: number for name, _words, number in mara.get("/members/").context["views"]}
    assert views == {"all": 6, "active": 4, "pending": 1, "left": 1, "trial": 1, "blocked": 0}
    for view, number in views.items():
        assert mara.get(f"/members/?view={view}").context["page"].paginator.count == number


def test_filters_narrow_and_stand_as_chips(mara: Client, network: factories.Network) -> None:
    (room,) = house("B", "214")
    factories.member("Selin Kaya", room=room, paid_until=date(2026, 9, 30))
    factories.member("Nils Petersen", room=room, paid_until=date(2027, 9, 30))
    factories.member("Never Paid", room=room)
    response = mara.get("/members/?house=B&paid_before=2026-12-01")
    assert [row.member.name for row in response.context["page"]] == ["Never Paid", "Selin Kaya"]
    assert "House <b>B</b>" in text(response)
    assert "<b>1 Dec 2026</b>" in text(response)


@pytest.mark.parametrize(("sort", "first", "last"), [
    ("name", "Aaron", "Zoë"), ("-name", "Zoë", "Aaron"),
    ("private", "Resident of m1", "Zoë"), ("-private", "Resident of m4", "Zoë"),
    ("prefix", "Resident of m1", "Zoë"), ("public", "Resident of m1", "Zoë"), ("-public", "Resident of m4", "Zoë"),
    ("room", "Zoë", "Resident of m4"), ("-room", "Aaron", "Resident of m4"),
    ("paid", "Zoë", "Resident of m4"), ("-paid", "Aaron", "Resident of m4"),
    ("forwards", "Aaron", "Zoë"), ("-forwards", "Aaron", "Zoë"), ("state", "Aaron", "Zoë"),
])  # fmt: skip
def test_the_list_sorts_by_every_column_and_puts_what_is_missing_last(
    mara: Client, network: factories.Network, sort: str, first: str, last: str
) -> None:
    rooms = house("A", "101", "102")
    factories.member("Zoë", room=rooms[0], paid_until=date(2026, 1, 1))
    factories.member("Aaron", room=rooms[1], paid_until=date(2026, 2, 1))
    names = [row.member.name for row in mara.get(f"/members/?sort={sort}").context["page"]]
    assert (names[0], names[-1], len(names), len(set(names))) == (first, last, 6, 6)


def test_a_member_with_several_addresses_stands_in_the_list_once(mara: Client, network: factories.Network) -> None:
    assign_address(member=network.residents["m1"].member, pool=network.private, by=network.admin)
    for sort in ("private", "public", "prefix", "forwards"):
        names = [row.member.name for row in mara.get(f"/members/?sort={sort}").context["page"]]
        assert len(names) == len(set(names)) == 4


def test_pages_follow_each_other_without_gap_whatever_the_order(mara: Client, network: factories.Network) -> None:
    rooms = house("A", *(str(number) for number in range(40)))
    for number in range(60):
        factories.member(f"Number {number:02}", room=rooms[number] if number < 40 else None)
    for sort in ("name", "room", "-room", "private", "-forwards", "paid"):
        seen = [row.member.pk for page in (1, 2, 3) for row in mara.get(f"/members/?sort={sort}&page={page}").context["page"]]
        assert len(seen) == len(set(seen)) == 64, sort


def test_the_list_takes_as_many_queries_for_many_as_for_few(mara: Client, network: factories.Network) -> None:
    few = queries(mara, "/members/")
    for number in range(25):
        assign_address(member=factories.member(f"Aaron {number}"), pool=network.private, by=network.admin)
    assert queries(mara, "/members/") == few


@pytest.mark.parametrize("value", HOSTILE)
def test_the_member_list_accepts_any_query_parameters(mara: Client, network: factories.Network, value: str) -> None:
    for name in ("q", "view", "house", "tariff", "paid_before", "sort", "page"):
        response = mara.get("/members/", {name: value})
        assert response.status_code == 200, name
        assert "<script>alert" not in text(response)


def test_htmx_gets_the_list_alone(mara: Client, network: factories.Network) -> None:
    part = text(mara.get("/members/", headers={"HX-Request": "true", "HX-Target": "list"}))
    assert part.strip().startswith('<div id="list"')
    assert "<html" not in part


def test_without_members_the_first_step_is_offered(network: factories.Network) -> None:
    for holding in Holding.objects.all():
        NatMapping.objects.filter(holding=holding).delete()
        holding.delete()
    Member.objects.all().delete()
    assert "Add the first member" in text(signed_in(network.admin).get("/members/"))


def test_no_match_offers_to_show_all(mara: Client, network: factories.Network) -> None:
    assert "Show all members" in text(mara.get("/members/?q=nobody+of+this+name"))


# --- CSV


def test_csv_holds_the_filtered_rows_and_no_formulas(mara: Client, network: factories.Network) -> None:
    factories.member('=HYPERLINK("http://x")')
    response = mara.get("/members.csv?view=active")
    lines = list(csv.reader(io.StringIO(b"".join(response.streaming_content).decode().removeprefix("\ufeff"))))  # type: ignore[attr-defined]
    assert lines[0][:3] == ["Number", "Name", "E-mail"]
    assert lines[1][1] == '\'=HYPERLINK("http://x")'
    assert [line[6] for line in lines[2:]] == ["10.16.0.10", "10.16.0.11", "10.16.0.12", "10.16.0.13"]


# --- Many at once


def pick(network: factories.Network, *hosts: str) -> list[int]:
    return [network.residents[host].member.pk for host in hosts]


def test_a_bulk_action_is_a_preview_first(mara: Client, network: factories.Network) -> None:
    Member.objects.filter(pk=network.residents["m1"].member.pk).update(paid_until=date(2030, 1, 1))
    response = mara.post("/members/bulk/", {"do": "extend", "pick": pick(network, "m1", "m2"), "until": "2027-03-31"})
    page = text(response)
    assert "1 member is paid until 31 Mar 2027 from now on." in page
    assert "1 has it already and stays as it is." in page
    assert not Member.objects.filter(paid_until=date(2027, 3, 31)).exists()


def test_confirmed_it_extends_and_never_shortens(mara: Client, network: factories.Network) -> None:
    Member.objects.filter(pk=network.residents["m1"].member.pk).update(paid_until=date(2030, 1, 1))
    data = {"do": "extend", "pick": pick(network, "m1", "m2"), "until": "2027-03-31"}
    response = confirm_preview(mara, "/members/bulk/?view=active", data)
    assert response.redirect_chain == [("/members/?view=active", 302)]
    assert "1 member is paid until 31 Mar 2027" in text(response)
    assert sorted(str(paid) for paid in Member.objects.values_list("paid_until", flat=True)) == ["2027-03-31", "2030-01-01", "None", "None"]


def test_all_of_the_filter_may_be_chosen(mara: Client, network: factories.Network) -> None:
    trial = Tariff.objects.create(name="Trial", trial=True)
    confirm_preview(mara, "/members/bulk/?q=Resident", {"do": "tariff", "all": "1", "tariff": trial.pk})
    assert Member.objects.filter(tariff=trial).count() == 4


def test_members_whom_the_filter_finds_only_after_the_preview_are_not_blocked(mara: Client, network: factories.Network) -> None:
    path, data = "/members/bulk/?view=active", {"do": "block", "all": "1", "reason": "rules", "term": "never"}
    shown = read_preview_mark(mara, path, data)
    late = factories.member("Imported meanwhile")
    answer = mara.post(path, data | shown | {"confirmed": "1"})
    assert answer.status_code == 422 and not Block.objects.exists()
    assert "It would be 5 members now, not 4. Nothing was changed." in text(answer) and "Block 5 members" in text(answer)
    assert "5 members are blocked." in text(confirm_preview(mara, path, data)) and late.pk in list_blocked_member_ids()


def test_other_members_than_in_the_preview_are_not_changed_although_they_are_as_many(mara: Client, network: factories.Network) -> None:
    first, second = (network.residents[host].member for host in ("m1", "m2"))
    path = "/members/bulk/?view=blocked"
    block_member(member=first, reason="abuse", by=network.admin)
    data = {"do": "unblock", "all": "1"}
    shown = read_preview_mark(mara, path, data)
    unblock_members(members=Member.objects.filter(pk=first.pk), by=network.admin)
    block_member(member=second, reason="abuse", by=network.admin)
    answer = mara.post(path, data | shown | {"confirmed": "1"})
    assert answer.status_code == 422 and "It would be other members now than in the preview." in text(answer)
    assert list(list_blocked_member_ids()) == [second.pk]


def test_a_day_that_is_entered_after_the_preview_is_previewed_first(mara: Client, network: factories.Network) -> None:
    data = {"do": "extend", "pick": pick(network, "m1", "m2"), "until": "2027-03-31"}
    answer = confirm_preview(mara, "/members/bulk/", data, until="2029-03-31")
    assert answer.status_code == 422 and "The preview was made with other entries. Nothing was changed." in text(answer)
    assert "2 members are paid until 31 Mar 2029 from now on." in text(answer) and not Member.objects.exclude(paid_until=None).exists()


def test_a_message_that_is_entered_after_the_preview_is_kept(mara: Client, network: factories.Network) -> None:
    data = {"do": "block", "pick": pick(network, "m1"), "reason": "rules", "term": "never"}
    assert "1 member is blocked." in text(confirm_preview(mara, "/members/bulk/", data, message="Write to us", term="7d"))
    assert Block.objects.get().message == "Write to us"


@pytest.mark.parametrize("mark", [{}, {"previewed": "2"}, {"previewed": "9" * 40, "previewed_effects": "\0", "previewed_values": "💥"}])
def test_a_confirmation_without_a_preview_gets_one(mara: Client, network: factories.Network, mark: dict[str, str]) -> None:
    answer = mara.post("/members/bulk/", {"do": "block", "pick": pick(network, "m1", "m2"), "confirmed": "1"} | mark)
    assert answer.status_code == 422 and "Block 2 members" in text(answer) and not Block.objects.exists()


@pytest.mark.parametrize("data", [
    {}, {"do": "extend"}, {"do": "erase", "pick": "1"}, {"do": "extend", "pick": ["x", "-1", "9" * 40]},
])  # fmt: skip
def test_a_bulk_action_that_means_nothing_goes_back(mara: Client, network: factories.Network, data: dict[str, object]) -> None:
    response = mara.post("/members/bulk/", data)
    assert (response.status_code, response["Location"]) == (302, "/members/?")


def test_a_bulk_action_without_a_date_is_asked_again(mara: Client, network: factories.Network) -> None:
    response = mara.post("/members/bulk/", {"do": "extend", "pick": pick(network, "m1"), "until": "soon", "confirmed": "1"})
    assert response.status_code == 422
    assert "Enter a valid date" in text(response)
    assert not Member.objects.exclude(paid_until=None).exists()


def test_many_are_blocked_after_a_preview_and_the_list_shows_who(mara: Client, network: factories.Network) -> None:
    block_member(member=network.residents["m1"].member, reason="abuse", by=network.admin)
    services.end_membership(member=network.residents["m2"].member, by=network.admin)
    data = {"do": "block", "pick": pick(network, "m1", "m2", "m3", "m4")}
    page = text(mara.post("/members/bulk/", data))
    assert "2 members are cut off" in page and "2 are already blocked or have left" in page and "Block 2 members" in page
    assert Block.objects.count() == 1

    given = {"reason": "unpaid", "message": "Fees of winter", "note": "list of 20 Nov", "term": "7d"}
    assert "2 members are blocked." in text(confirm_preview(mara, "/members/bulk/?view=all", data | given))
    made = Block.objects.filter(reason="unpaid", message="Fees of winter", author=network.admin, valid__endswith__isnull=False)
    assert sorted(made.values_list("member", flat=True)) == sorted(pick(network, "m3", "m4"))
    assert [len(list_row_history(each, 9)) for each in made] == [1, 1]

    response = mara.get("/members/?view=blocked")
    assert [row.state.word for row in response.context["page"]] == ["Blocked"] * 3
    assert {name: number for name, _words, number in response.context["views"]}["blocked"] == 3
    lines = mara.get("/members.csv?view=blocked")
    assert b"".join(lines.streaming_content).decode().count(",yes\r\n") == 3  # type: ignore[attr-defined]


def test_blocks_of_many_are_lifted_together(mara: Client, network: factories.Network) -> None:
    for host in ("m1", "m2"):
        block_member(member=network.residents[host].member, reason="abuse", by=network.admin)
    data = {"do": "unblock", "pick": pick(network, "m1", "m2", "m3")}
    page = text(mara.post("/members/bulk/", data))
    assert "2 members reach the internet again" in page and "1 is not blocked." in page
    assert "2 blocks are lifted." in text(confirm_preview(mara, "/members/bulk/", data))
    assert not list_blocked_member_ids().exists()
    assert set(Block.objects.values_list("lifted_by", flat=True)) == {network.admin.pk}


def test_of_many_blocks_all_are_made_or_none(mara: Client, network: factories.Network) -> None:
    data = {"do": "block", "pick": pick(network, "m1", "m2"), "reason": "rules", "term": "never"}
    begins = timezone.now() + timedelta(days=1)
    Block.objects.create(member=network.residents["m2"].member, reason="rules", valid=(begins, None))  # overlaps the requested block
    answer = confirm_preview(mara, "/members/bulk/", data)
    assert answer.status_code == 422 and "Nothing was changed" in text(answer)
    assert not list_blocked_member_ids().exists()
    late = confirm_preview(mara, "/members/bulk/", data | {"term": "at", "until": "2020-01-01T00:00"})
    assert late.status_code == 422 and "is in the past" in text(late)


# --- One member


def build_form(**changes: object) -> dict[str, object]:
    tariff = Tariff.objects.get(name="Standard").pk
    return {
        "name": "Selin Kaya",
        "email": "",
        "language": "de",
        "room": "",
        "tariff": tariff,
        "since": "2025-10-01",
        "paid_until": "",
        "note": "",
    } | changes


def test_a_member_is_added_with_the_next_number(mara: Client, network: factories.Network) -> None:
    house("B", "214")
    last = max(Member.objects.values_list("number", flat=True))
    response = mara.post("/members/add/", build_form(room="b-214", active="on"))
    added = Member.objects.get(name="Selin Kaya")
    assert response["Location"] == f"/members/{added.pk}/"
    assert (added.number, added.state, str(added.room)) == (last + 1, "active", "B-214")


def test_the_form_of_a_new_member_begins_with_the_tariff_of_most_and_active_and_offers_the_rooms(
    mara: Client, network: factories.Network
) -> None:
    house("B", "214")
    Tariff.objects.create(name="A rare one")
    most = Tariff.objects.get(name="Standard")
    page = text(mara.get("/members/add/"))
    assert f'<option value="{most.pk}" selected>Standard' in page
    assert "checked" in page.split('name="active"')[1].split(">")[0]
    assert '<option value="B-214"></option>' in page.split('<datalist id="rooms">')[1].split("</datalist>")[0]
    assert 'list="rooms"' in page


@pytest.mark.parametrize("written", ["B214", "b 214", "b-214"])
def test_the_room_of_a_new_member_is_taken_as_people_write_it(mara: Client, network: factories.Network, written: str) -> None:
    house("B", "214")
    assert mara.post("/members/add/", build_form(room=written, active="on")).status_code == 302
    assert str(Member.objects.get(name="Selin Kaya").room) == "B-214"


def test_whoever_has_the_last_number_there_is_keeps_nobody_out(mara: Client, network: factories.Network) -> None:
    assert mara.post("/members/add/", build_form(number=2**31 - 1, name="Xaver")).status_code == 302
    assert mara.post("/members/add/", build_form()).status_code == 302
    free = Member.objects.get(name="Selin Kaya").number + 1
    assert not Member.objects.filter(number=free).exists()
    assert f"M-2147483647 belongs to Xaver. M-{free} is free." in text(mara.post("/members/add/", build_form(number=2**31 - 1)))


def test_a_taken_number_names_its_holder(mara: Client, network: factories.Network) -> None:
    holder = network.residents["m1"].member
    response = mara.post("/members/add/", build_form(number=holder.number))
    assert response.status_code == 422
    assert f"M-{holder.number} belongs to Resident of m1." in text(response)


def test_an_unknown_room_is_explained(mara: Client, network: factories.Network) -> None:
    house("B", "214", "215")
    page = text(mara.post("/members/add/", build_form(room="B-999")))
    assert "There is no room “B-999”. House B has B-214, B-215 and others." in page
    assert "Write the house and the door" in text(mara.post("/members/add/", build_form(room="cellar")))


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_input_is_refused_or_kept_as_text(mara: Client, network: factories.Network, value: str) -> None:
    for field in ("name", "email", "language", "room", "tariff", "since", "paid_until", "note", "number"):
        assert mara.post("/members/add/", build_form(**{field: value})).status_code in (302, 422), field
    for member in Member.objects.filter(language="de"):
        assert "<script>alert" not in text(mara.get(f"/members/{member.pk}/"))


def test_a_change_is_saved_and_counted(mara: Client, network: factories.Network) -> None:
    who = network.residents["m1"].member
    response = mara.post(f"/members/{who.pk}/edit/", build_form(version=who.version, note="moved"))
    who.refresh_from_db()
    assert (response.status_code, who.name, who.note, who.version) == (302, "Selin Kaya", "moved", 2)


def test_a_conflicting_edit_shows_both_values_and_loses_neither(mara: Client, network: factories.Network) -> None:
    who = network.residents["m1"].member
    jakob = signed_in(factories.user("jakob"))
    jakob.post(f"/members/{who.pk}/edit/", build_form(name="Selin Kaya", email="selin@lindenhof.example", version=1))
    response = mara.post(f"/members/{who.pk}/edit/", build_form(name="Selin Demir", note="married", version=1))
    page = text(response)
    assert response.status_code == 409
    assert "Jakob Lindqvist changed this member at" in page
    clashes = {clash.label: (clash.theirs, clash.yours) for clash in response.context["merged"].clashes}
    assert clashes == {"Name": ("Selin Kaya", "Selin Demir"), "E-mail": ("selin@lindenhof.example", "")}
    form = response.context["form"]
    assert (form["name"].value(), form["email"].value(), form["note"].value()) == ("Selin Demir", "selin@lindenhof.example", "married")
    again = {name: form[name].value() for name in form.fields}
    assert mara.post(f"/members/{who.pk}/edit/", again).status_code == 302
    who.refresh_from_db()
    assert (who.name, who.email, who.note) == ("Selin Demir", "selin@lindenhof.example", "married")


def test_leaving_says_before_what_ends(mara: Client, network: factories.Network) -> None:
    who = network.residents["m1"].member
    page = text(mara.get(f"/members/{who.pk}/leave/"))
    assert "1 NAT mapping" in page
    assert "2 addresses and prefixes" in page
    assert Member.objects.get(pk=who.pk).state == "active"
    page = text(mara.post(f"/members/{who.pk}/leave/", follow=True))
    assert "has left." in page and "Free for others: 1 NAT mapping and 2 addresses and prefixes." in page
    assert "Has left." in page


def test_activating_is_one_press(mara: Client, network: factories.Network) -> None:
    who = factories.member("New", state="pending")
    assert "Activate" in text(mara.get(f"/members/{who.pk}/"))
    mara.post(f"/members/{who.pk}/activate/")
    assert Member.objects.get(pk=who.pk).state == "active"


@pytest.mark.parametrize("path", ["edit", "leave", "addresses"])
@pytest.mark.parametrize("pk", ["0", "999999", "9" * 30])
def test_a_member_who_is_not_there_is_not_found(mara: Client, network: factories.Network, path: str, pk: str) -> None:
    assert mara.get(f"/members/{pk}/{path}/").status_code == 404


# --- Addresses and devices of a member


def test_an_address_is_given_and_leaves_as_the_next_that_is_free(mara: Client, network: factories.Network) -> None:
    who = factories.member("New")
    data = {"hold-pool": network.private.pk, "hold-prefix": "", "hold-leaves": "next"}
    part = text(mara.post(f"/members/{who.pk}/addresses/add/", data, headers=HTMX))
    assert part.strip().startswith('<div id="addresses"')
    assert "10.16.0.14" in part
    assert "198.51.100.1" in part
    assert "<html" not in part


def test_without_htmx_giving_an_address_leads_back_to_the_member(mara: Client, network: factories.Network) -> None:
    who = factories.member("New")
    response = mara.post(f"/members/{who.pk}/addresses/add/", {"hold-pool": network.prefixes.pk})
    holding = Holding.objects.get(member=who)
    assert response["Location"] == f"/members/{who.pk}/?added={holding.pk}#addresses"


def test_a_taken_address_is_explained_at_its_field_with_a_free_one(mara: Client, network: factories.Network) -> None:
    who = factories.member("New")
    data = {"hold-pool": network.private.pk, "hold-prefix": "10.16.0.10", "hold-leaves": ""}
    for headers in ({}, HTMX):
        response = mara.post(f"/members/{who.pk}/addresses/add/", data, headers=headers)
        assert response.status_code == 422
        assert "is held by Resident of m1" in text(response)
        assert "Use 10.16.0.14" in text(response)


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_addresses_are_refused(mara: Client, network: factories.Network, value: str) -> None:
    who = network.residents["m1"].member
    for field in ("hold-pool", "hold-prefix", "hold-leaves", "hold-device"):
        data = {"hold-pool": network.private.pk, "hold-leaves": ""} | {field: value}
        assert mara.post(f"/members/{who.pk}/addresses/add/", data, headers=HTMX).status_code == 422, field


def test_releasing_says_before_what_ends_with_it(mara: Client, network: factories.Network) -> None:
    holding = network.residents["m1"].holding
    assert "This ends too: 1 NAT mapping." in text(mara.get(f"/holdings/{holding.pk}/release/"))
    page = text(mara.post(f"/holdings/{holding.pk}/release/", follow=True))
    assert "10.16.0.10 is free. Also ended: 1 NAT mapping." in page
    assert text(mara.post(f"/holdings/{holding.pk}/release/", headers=HTMX)).strip().startswith('<div id="addresses"')


def test_a_device_is_noted_changed_and_removed(mara: Client, network: factories.Network) -> None:
    who = factories.member("New")
    part = text(mara.post(f"/members/{who.pk}/devices/add/", {"name": "Laptop", "mac": "00-00-5E-00-53-FF"}, headers=HTMX))
    assert "00:00:5e:00:53:ff" in part
    device = Device.objects.get(member=who)
    mara.post(f"/devices/{device.pk}/edit/", {"name": "Framework 13", "mac": device.mac})
    assert Device.objects.get(pk=device.pk).name == "Framework 13"
    assert "Framework 13 has been removed." in text(mara.post(f"/devices/{device.pk}/remove/", follow=True))
    assert not Device.objects.filter(pk=device.pk).exists()


def test_a_known_mac_names_whose_it_is(mara: Client, network: factories.Network) -> None:
    known = Device.objects.get(member=network.residents["m1"].member)
    response = mara.post(f"/members/{factories.member().pk}/devices/add/", {"name": "Mine", "mac": known.mac}, headers=HTMX)
    assert response.status_code == 422
    assert "“Laptop of m1” of Resident of m1" in text(response)


def test_removing_a_device_keeps_its_address_with_the_member(mara: Client, network: factories.Network) -> None:
    who = factories.member("New")
    device = services.add_device(member=who, name="Laptop", mac="00:00:5e:00:53:fe", by=network.admin)
    holding = assign_address(member=who, pool=network.private, device=device, by=network.admin)
    assert f"keeps {holding.address}, for all devices" in text(mara.get(f"/devices/{device.pk}/remove/"))
    mara.post(f"/devices/{device.pk}/remove/")
    holding.refresh_from_db()
    assert (holding.device, holding.valid.upper) == (None, None)


# --- Search


@pytest.mark.parametrize("text_of", ["Resident of m1", "10.16.0.10:443", "M-{number}", "{mac}"])
def test_the_only_thing_found_is_gone_to(mara: Client, network: factories.Network, text_of: str) -> None:
    resident = network.residents["m1"]
    mac = Device.objects.get(member=resident.member).mac
    response = mara.get("/search", {"q": text_of.format(number=f"{resident.member.number}", mac=mac)})
    if "10.16" in text_of:
        assert response.status_code == 200  # two results: the member, and the address's earlier holders
    else:
        assert response["Location"] == f"/members/{resident.member.pk}/"


def test_an_address_finds_its_holder_who_leaves_as_it_its_pool_and_who_had_it(mara: Client, network: factories.Network) -> None:
    groups = {group.title: [hit.name for hit in group.hits] for group in mara.get("/search?q=198.51.100.7").context["groups"]}
    assert groups["Members with this public address"] == ["Resident of m1", "Resident of m2"]
    assert groups["Pools"] == ["public4 198.51.100.0/24 (198.51.100.0/24)"]
    groups = {group.title: [hit.name for hit in group.hits] for group in mara.get("/search?q=2001:db8:a0:10::5").context["groups"]}
    assert groups["Members"] == ["Resident of m1"]


def test_an_ipv6_address_of_twelve_digits_is_no_mac_address(mara: Client, network: factories.Network) -> None:
    assert [row.member.name for row in mara.get("/members/?q=2001:db8:a0:10::5").context["page"]] == ["Resident of m1"]


def test_nothing_found_says_what_could_be(mara: Client, network: factories.Network) -> None:
    assert "Nothing found" in text(mara.get("/search?q=xyzzy"))
    assert "What are you looking for?" in text(mara.get("/search"))


@pytest.mark.parametrize(
    "value", [*HOSTILE, "10.0.0.0/99", "::/0", "0.0.0.0/0", "[::1]:99999", "1.2.3.4:0", "M-999999999999", "-", "fe80::1%eth0", "/"]
)
def test_any_search_text_gets_a_page(mara: Client, network: factories.Network, value: str) -> None:
    assert mara.get("/search", {"q": value}).status_code in (200, 302)


# --- Pools, and earlier holders of an address


def test_pools_stand_with_how_full_they_are(mara: Client, network: factories.Network) -> None:
    page = text(mara.get("/addresses/"))
    assert "10.16.0.0/12" in page
    assert "1,048,570" in page


def test_a_pools_page_shows_its_holders(mara: Client, network: factories.Network) -> None:
    assert "Resident of m1" in text(mara.get(f"/addresses/{network.private.pk}/"))
    assert "198.51.100.7" in text(mara.get(f"/addresses/{network.public.pk}/"))


def test_an_overlap_is_a_sentence_under_the_prefix(mara: Client, network: factories.Network) -> None:
    data = {"name": "House B", "kind": "private4", "prefix": "10.20.0.0/16", "member_length": 64, "group": network.group.pk}
    response = mara.post("/addresses/add/", data)
    assert response.status_code == 422
    assert "10.20.0.0/16 overlaps the pool private4 10.16.0.0/12 (10.16.0.0/12)." in text(response)
    assert mara.post("/addresses/add/", data | {"prefix": "192.168.0.0/24"}).status_code == 302


def test_a_stale_change_of_a_pool_keeps_the_input(mara: Client, network: factories.Network) -> None:
    url = f"/addresses/{network.private.pk}/edit/"
    assert mara.post(url, {"name": "Private", "prefix": "10.16.0.0/12", "version": 1}).status_code == 302
    response = mara.post(url, {"name": "Houses", "prefix": "10.16.0.0/12", "version": 1})
    assert response.status_code == 422
    assert "This pool was changed by someone else while you were editing" in text(response)
    assert response.context["form"]["name"].value() == "Houses"
    assert (
        mara.post(url, {"name": "Houses", "prefix": "10.16.0.0/12", "version": response.context["form"]["version"].value()}).status_code
        == 302
    )


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_pools_are_refused(mara: Client, network: factories.Network, value: str) -> None:
    good = {"name": "House B", "kind": "private4", "prefix": "192.168.0.0/24", "member_length": 64, "group": network.group.pk}
    for field in ("prefix", "kind", "member_length", "group"):
        assert mara.post("/addresses/add/", good | {field: value}).status_code == 422, field
        asked = {"address": "10.16.0.10", field: value, "port": value, "at": value}
        assert mara.get("/addresses/held/", asked).status_code == 200
        assert mara.post("/addresses/held/", asked | {"reason": value}).status_code == 422


def test_who_had_an_address_when(mara: Client, network: factories.Network) -> None:
    now = timezone.now()
    before = factories.member("Tunde Okafor")
    factories.make_holding(before, network.private, "10.16.9.9", valid=(now - timedelta(days=9), now - timedelta(days=1)))
    factories.make_holding(factories.member("Selin Kaya"), network.private, "10.16.9.9", valid=(now - timedelta(days=1), None))
    answer = mara.post("/addresses/held/", {"address": "10.16.9.9", "at": (now - timedelta(days=2)).isoformat(), "reason": "abuse 4711"})
    assert answer.context["answer"].holding.member == before
    assert answer.context["answer"].holding.prefix == ip_network("10.16.9.9/32")
    asked = {"address": "10.16.9.9", "reason": "abuse 4711"}
    assert mara.post("/addresses/held/", asked).context["answer"].holding.member.name == "Selin Kaya"
    assert "Not found." in text(mara.post("/addresses/held/", asked | {"at": "2001-01-01T00:00"}))
    assert text(mara.get("/history/enquiries/")).count("abuse 4711") == 3


def test_who_had_an_address_at_either_of_the_times_that_the_clock_showed_twice(mara: Client, network: factories.Network) -> None:
    between = datetime(2024, 10, 27, 1, tzinfo=UTC)  # 03:00 in Berlin, when the clock went back to 02:00
    before, after = factories.member("Tunde Okafor"), factories.member("Selin Kaya")
    factories.make_holding(before, network.private, "10.16.9.9", valid=(between - timedelta(days=9), between))
    factories.make_holding(after, network.private, "10.16.9.9", valid=(between, None))
    asked = {"address": "10.16.9.9", "at": "2024-10-27T02:30:00", "reason": "abuse 4711"}
    answer = mara.post("/addresses/held/", asked)
    assert answer.context["answer"].holding.member == after and "02:30 CET" in text(answer)
    assert "look up the earlier one, Sun 27 Oct 2024, 02:30 CEST" in text(answer)
    assert mara.post("/addresses/held/", asked | {"is_earlier": "on"}).context["answer"].holding.member == before
    assert "look up the earlier one" not in text(mara.get("/addresses/held/"))


def test_nobody_learns_who_had_an_address_without_saying_why(mara: Client, network: factories.Network) -> None:
    linked = mara.get("/addresses/held/", {"address": "10.16.0.10"})
    assert linked.context["answer"] is None and 'value="10.16.0.10"' in text(linked)
    refused = mara.post("/addresses/held/", {"address": "10.16.0.10", "reason": " "})
    assert refused.status_code == 422 and refused.context["answer"] is None
    assert not Enquiry.objects.exists()
    assert mara.post("/addresses/held/", {"address": "10.16.0.10", "port": "80", "reason": "ticket 7"}).status_code == 200
    noted = Enquiry.objects.get()
    assert (noted.by, str(noted), noted.reason) == (network.admin, "10.16.0.10:80", "ticket 7")
    for change in (noted.delete, lambda: Enquiry.objects.update(reason="another")):
        with pytest.raises(DatabaseError, match="Cannot update or delete"), transaction.atomic():
            change()


def test_who_left_as_a_public_address_and_where_its_port_led(mara: Client, network: factories.Network) -> None:
    from apps.nat.services import add_forward

    holding = network.residents["m1"].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=8443, private_port=443, by=network.admin)
    answer = mara.post("/addresses/held/", {"address": "198.51.100.7", "port": "8443", "reason": "abuse"}).context["answer"]
    assert [mapping.holding.member.name for mapping in answer.leaving] == ["Resident of m1", "Resident of m2"]
    assert [forward.holding for forward in answer.forwards] == [holding]
