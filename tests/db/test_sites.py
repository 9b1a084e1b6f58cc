"""Houses, rooms and tariffs: added, changed, removed and undone, by services, pages, API and commands alike."""

import re
from datetime import date, timedelta
from io import StringIO
from typing import Any

import pghistory
import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from apps.audit.selectors import HistoryFilter, list_history
from apps.audit.undo import find_last_event, undo_event
from apps.lib.errors import Conflict, Problem
from apps.members import services, site_services, tariff_services
from apps.members.models import Member, Room, Site, Tariff
from apps.members.room_names import RoomName, build_room_names
from apps.members.services import MemberFacts
from apps.members.tariff_services import TariffTerms
from apps.nat.models import Move
from apps.nat.moving.services import plan_member_move
from tests import factories
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


def house(code: str = "H", doors: str = "01-03") -> Site:
    """Add a house with these rooms on the ground floor."""
    made = site_services.add_site(name=f"Haus {code}", code=code)
    site_services.add_rooms(site=made, rooms=build_room_names([0], doors, floor_first=True))
    return made


def resident(network: factories.Network, room: Room) -> Member:
    found = network.residents["m1"].member
    Member.objects.filter(pk=found.pk).update(room=room)
    return found


def words_of(response: Any) -> str:
    """Return the words of a page, without its tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", text(response)).split())


def last_event(row: Any) -> int:
    found = find_last_event(type(row), row.pk)
    assert found
    return found


# services


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"code": "h"}, "code"),
        ({"code": "A-1"}, "code"),
        ({"code": ""}, "code"),
        ({"name": "haus H".title()}, "name"),
        ({"name": " "}, "name"),
    ],
)
def test_a_house_that_is_not_possible_is_refused_at_its_field(network: factories.Network, given: dict[str, str], field: str) -> None:
    house()
    with pytest.raises(Problem) as refused:
        site_services.add_site(**({"name": "Another", "code": "N"} | given))
    assert refused.value.fieldname == field
    assert Site.objects.count() == 1


@pytest.mark.parametrize("values", [{"code": "A-1"}, {"code": "h"}, {"name": " x"}, {"name": ""}])
def test_the_database_refuses_such_a_house_too(network: factories.Network, values: dict[str, str]) -> None:
    house()
    with pytest.raises(IntegrityError), transaction.atomic():
        Site.objects.create(**({"name": "Another", "code": "N"} | values))


def test_rooms_that_exist_stay_as_they_are_whatever_their_case(network: factories.Network) -> None:
    made = house(doors="Kitchen")
    added = site_services.add_rooms(site=made, rooms=[RoomName(3, "0KITCHEN"), RoomName(0, "002")])
    assert [room.name for room in added.rooms] == ["002"]
    assert added.existing == 1
    assert Room.objects.get(name="0Kitchen").floor == 0


def test_a_room_is_renamed_and_a_taken_name_is_refused(network: factories.Network) -> None:
    made = house()
    room = Room.objects.get(site=made, name="001")
    site_services.change_room(room=room, version=room.version, floor=-1, name=" Boiler  room ")
    assert str(room) == "H-Boiler room"
    with pytest.raises(Problem, match="has a room 002 already"):
        site_services.change_room(room=room, version=room.version, floor=0, name="002")
    with pytest.raises(Conflict):
        site_services.change_room(room=room, version=1, floor=0, name="009")


def test_a_house_in_which_a_member_lives_is_not_removed_and_says_why(network: factories.Network) -> None:
    made = house()
    room = Room.objects.get(site=made, name="001")
    member = resident(network, room)
    for remove in (lambda: site_services.remove_site(made), lambda: site_services.remove_room(room)):
        with pytest.raises(Problem, match="is in use: 1 member") as refused:
            remove()
        assert refused.value.culprit == member
    assert Room.objects.filter(site=made).count() == 3


def test_a_room_that_a_member_plans_to_move_to_is_not_removed_until_the_move_is_done(network: factories.Network) -> None:
    room = Room.objects.get(site=house(), name="001")
    member = network.residents["m1"].member
    plan_member_move(member=member, on=timezone.localdate() + timedelta(days=3), room=room, pool=None, follow=True, by=network.admin)
    with pytest.raises(Problem, match="1 planned move"):
        site_services.remove_room(room)
    Move.objects.update(state=Move.State.DONE)
    site_services.remove_room(room)
    assert Move.objects.get().room is None


def test_a_tariff_that_a_member_has_or_had_is_not_removed_but_no_longer_offered(network: factories.Network) -> None:
    member = network.residents["m1"].member
    tariff = member.tariff
    with pytest.raises(Problem, match="switch off “Offered”"):
        tariff_services.remove_tariff(tariff)
    terms = TariffTerms(tariff.name, offered=False)
    tariff_services.change_tariff_terms(tariff=tariff, version=tariff.version, terms=terms, by=network.admin)
    facts = MemberFacts("Neu", "", "de", tariff, None, date(2026, 10, 1), None, "")
    with pytest.raises(Problem, match="not offered any more"):
        services.add_member(facts=facts, by=network.admin)
    member.refresh_from_db()
    same = MemberFacts("Anders", "", "de", tariff, None, date(2026, 10, 1), None, "")
    assert services.change_member(member=member, version=member.version, facts=same, by=network.admin).name == "Anders"
    other = tariff_services.add_tariff(terms=TariffTerms("Fast", up_kbit=1000), by=network.admin)
    tariff_services.remove_tariff(other)
    assert not Tariff.objects.filter(name="Fast").exists()


# undo


def test_a_removed_house_returns_with_its_rooms_under_their_old_ids(network: factories.Network) -> None:
    made = house()
    rooms = list(Room.objects.order_by("pk").values_list("pk", "name", "floor"))
    site_services.remove_site(made)
    done = undo_event(model=Site, event=last_event(made), by=network.admin)
    assert done.name == "Haus H"
    assert Site.objects.get(pk=made.pk).code == "H"
    assert list(Room.objects.order_by("pk").values_list("pk", "name", "floor")) == rooms


def test_the_undo_of_an_undo_does_the_change_again(network: factories.Network) -> None:
    made = house()
    site_services.change_site(site=made, version=made.version, name="Lindenhof", code="L")
    for name in ("Haus H", "Lindenhof", "Haus H"):
        undo_event(model=Site, event=last_event(made), by=network.admin)
        assert Site.objects.get().name == name


def test_an_added_room_is_removed_by_undo_unless_a_member_lives_there(network: factories.Network) -> None:
    made = house(doors="01-02")
    one, two = Room.objects.order_by("name")
    resident(network, one)
    with pytest.raises(Problem, match="is in use"):
        undo_event(model=Room, event=last_event(one), by=network.admin)
    undo_event(model=Room, event=last_event(two), by=network.admin)
    assert list(Room.objects.filter(site=made)) == [one]


def test_a_former_state_that_is_impossible_now_is_refused_in_words(network: factories.Network) -> None:
    made = house()
    room = Room.objects.get(name="001")
    site_services.remove_room(room)
    site_services.add_room(site=made, floor=0, name="001")
    with pytest.raises(Problem, match="Haus H has a room 001 already"):
        undo_event(model=Room, event=last_event(room), by=network.admin)
    site_services.remove_site(made)
    with pytest.raises(Problem, match="The house of this room was removed; undo that first"):
        undo_event(model=Room, event=last_event(room), by=network.admin)


def test_only_the_last_change_of_a_row_is_undone_and_only_for_a_week(network: factories.Network) -> None:
    made = house()
    event = last_event(made)
    site_services.change_site(site=made, version=made.version, name="Lindenhof", code="L")
    with pytest.raises(Conflict, match="changed again since"):
        undo_event(model=Site, event=event, by=network.admin)
    events: Any = made.events  # type: ignore[attr-defined]  # made by the tracker
    events.update(pgh_created_at=timezone.now() - timedelta(days=8))
    with pytest.raises(Problem, match="too old"):
        undo_event(model=Site, event=last_event(made), by=network.admin)
    assert Site.objects.get().name == "Lindenhof"


def test_a_tariff_gets_its_former_rates_back(network: factories.Network) -> None:
    tariff = tariff_services.add_tariff(terms=TariffTerms("Fast", up_kbit=1000), by=network.admin)
    tariff_services.change_tariff_terms(tariff=tariff, version=1, terms=TariffTerms("Fast", up_kbit=64), by=network.admin)
    undo_event(model=Tariff, event=last_event(tariff), by=network.admin)
    tariff.refresh_from_db()
    assert (tariff.up_kbit, tariff.version) == (1000, 3)


# pages


def test_pages_add_a_house_with_rooms_and_show_who_lives_on_which_floor(network: factories.Network, mara: Client) -> None:
    assert "No house yet" in text(mara.get("/sites/"))
    answer = mara.post("/sites/add/", {"name": "Haus H", "code": "H"})
    made = Site.objects.get()
    assert answer.headers["Location"] == f"/sites/{made.pk}/rooms/add/"
    form = {"first_floor": "0", "last_floor": "2", "doors": "01-16", "floor_first": "on"}
    preview = mara.post(f"/sites/{made.pk}/rooms/add/", form, HTTP_HX_REQUEST="true", HTTP_HX_TARGET="rooms-preview")
    assert "48 rooms, from H-001 to H-216" in text(preview)
    assert not Room.objects.exists()
    page = mara.post(f"/sites/{made.pk}/rooms/add/", form, follow=True)
    assert "48 rooms added to Haus H." in text(page)
    resident(network, Room.objects.get(name="214"))
    assert "H-214 Resident of m1" in words_of(mara.get(f"/sites/{made.pk}/?floor=2"))
    assert "Haus H H 48 47 1" in words_of(mara.get("/sites/"))


def test_a_refused_form_keeps_its_input_and_says_why(network: factories.Network, mara: Client) -> None:
    made = house()
    for path, form, words in (
        ("/sites/add/", {"name": "Neu", "code": "h"}, "The code h is taken by Haus H."),
        (f"/sites/{made.pk}/rooms/add/", {"first_floor": "2", "last_floor": "1", "doors": "01"}, "The last floor is below the first."),
        (f"/sites/{made.pk}/rooms/add/", {"first_floor": "0", "doors": "16-01"}, "“16-01” ends before it begins."),
        (
            f"/sites/rooms/{Room.objects.get(name='001').pk}/",
            {"floor": "0", "name": "002", "version": "1"},
            "Haus H has a room 002 already.",
        ),
        (f"/sites/{made.pk}/edit/", {"name": "Neu", "code": "N", "version": "7"}, "was changed or removed by someone else"),
    ):
        answer = mara.post(path, form)
        assert answer.status_code == 422
        assert words in text(answer)


def test_the_dialog_of_a_house_in_use_links_to_who_lives_there(network: factories.Network, mara: Client) -> None:
    made = house()
    member = resident(network, Room.objects.get(name="001"))
    answer = mara.get(f"/sites/{made.pk}/remove/")
    assert "Haus H is in use 1 member" in words_of(answer)
    assert f'href="/members/{member.pk}/"' in answer.content.decode()
    assert "is in use" in text(mara.post(f"/sites/{made.pk}/remove/", follow=True))
    assert Site.objects.exists()


@pytest.mark.parametrize("kind", ["members.site", "members.room", "members.tariff"])
def test_the_history_has_a_button_that_undoes(network: factories.Network, mara: Client, kind: str) -> None:
    made = house()
    row: Any = {"members.site": made, "members.room": Room.objects.get(name="001"), "members.tariff": Tariff.objects.create(name="Fast")}[
        kind
    ]
    path = {"members.site": "/sites", "members.room": "/sites/rooms", "members.tariff": "/tariffs"}[kind] + f"/{row.pk}/remove/"
    assert "The history can undo this" in text(mara.post(path, follow=True))
    entry = list_history(HistoryFilter(kind=kind))[0][0]
    answer = mara.post(entry.undo, follow=True)
    assert "Undone" in text(answer)
    assert type(row).objects.filter(pk=row.pk).exists()
    assert "changed again since" in text(mara.post(entry.undo, follow=True))


def test_the_help_desk_sees_and_changes_and_an_auditor_only_sees(network: factories.Network) -> None:
    made = house()
    auditor = signed_in(factories.user("audra", roles=["auditor"]))
    assert auditor.get(f"/sites/{made.pk}/").status_code == 200
    assert "Add rooms" not in text(auditor.get(f"/sites/{made.pk}/"))
    assert auditor.post("/sites/add/", {"name": "Neu", "code": "N"}).status_code == 403
    assert signed_in(factories.user("hedda", roles=["helpdesk"])).get(f"/sites/{made.pk}/rooms/add/").status_code == 200


# API


def test_the_api_adds_changes_and_removes_houses_and_rooms(network: factories.Network, mara: Client) -> None:
    site = mara.post("/api/members/sites/", {"code": "H", "name": "Haus H"}, content_type="application/json").json()
    rooms = [{"site": site["id"], "floor": 0, "name": f"00{number}"} for number in (1, 2)]
    made = mara.post("/api/members/rooms/", rooms, content_type="application/json")
    assert made.status_code == 201
    first, second = made.json()
    changed = mara.patch(f"/api/members/rooms/{first['id']}/", {"name": "Kitchen"}, content_type="application/json").json()
    assert (changed["name"], changed["version"]) == ("Kitchen", 2)
    again = mara.post("/api/members/rooms/", rooms[1], content_type="application/json")
    assert again.status_code in (400, 409)
    assert "has a room 002 already" in again.content.decode()
    resident(network, Room.objects.get(pk=second["id"]))
    refused = mara.delete(f"/api/members/sites/{site['id']}/")
    assert refused.status_code in (400, 409)
    assert "is in use: 1 member" in refused.content.decode()
    assert mara.delete(f"/api/members/rooms/{first['id']}/").status_code == 204
    Member.objects.update(room=None)
    assert mara.delete(f"/api/members/sites/{site['id']}/").status_code == 204
    assert not Room.objects.exists()


def test_the_api_stops_offering_a_tariff_and_removes_an_unused_one(network: factories.Network, mara: Client) -> None:
    made = mara.post("/api/members/tariffs/", {"name": "Fast"}, content_type="application/json").json()
    assert made["offered"] is True
    changed = mara.patch(f"/api/members/tariffs/{made['id']}/", {"offered": False}, content_type="application/json").json()
    assert (changed["offered"], changed["most_forwards"]) == (False, 8)
    assert mara.delete(f"/api/members/tariffs/{made['id']}/").status_code == 204
    used = network.residents["m1"].member.tariff_id
    assert mara.delete(f"/api/members/tariffs/{used}/").status_code in (400, 409)


# commands


def run(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def test_commands_do_the_same(network: factories.Network) -> None:
    assert "No house yet" in run("site", "list")
    run("site", "add", "H", "Haus H")
    assert "32 rooms added, 0 were there already" in run("site", "rooms", "h", "01-16", "--floors", "0-1")
    assert "1 rooms added" in run("site", "rooms", "H", "Cellar", "--floors=-1", "--whole-names")
    run("site", "change", "H", "--name", "Lindenhof", "--new-code", "L")
    assert "L  Lindenhof  rooms 33 (free 33)  members 0" in run("site", "list")
    assert "L-116 is removed" in run("site", "remove-room", "l-116")
    assert "Lindenhof and its rooms (32) are removed" in run("site", "remove", "L")
    run("tariff", "add", "Fast", "--up-kbit", "1000")
    assert "Fast  forwards 3  devices 8  up/down kbit/s none/none  not offered" in run(
        "tariff", "change", "Fast", "--most-forwards", "3", "--up-kbit", "none", "--no-offered"
    )
    assert "Fast" in run("tariff", "list")
    run("tariff", "remove", "Fast")
    events = pghistory.models.Events.objects.filter(pgh_model__in=["members.SiteEvent", "members.TariffEvent"])
    assert {event.pgh_context["cause"] for event in events if event.pgh_context} >= {"site add", "tariff change"}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("site", "rooms", "X", "01"), "There is no house with the code X. Codes: –."),
        (("site", "add", "A-1", "Haus"), "A code is 1 to 8 letters and digits"),
        (("tariff", "remove", "Nix"), "There is no tariff Nix. Tariffs: Standard."),
        (("tariff", "add", "Fast", "--up-kbit", "1"), "A rate is between 64 and 10000000 kbit/s."),
    ],
)
def test_a_refused_command_says_why(network: factories.Network, words: tuple[str, ...], error: str) -> None:
    with pytest.raises(CommandError, match=error.replace(".", r"\.")):
        run(*words)
