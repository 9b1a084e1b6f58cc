"""The history: who changed what, from which value to which, however the change was written."""

from datetime import date

import pytest
from django.db import connection
from django.test import Client
from django.utils.translation import override

from apps.audit.entries import HistoryEntry
from apps.audit.selectors import HistoryFilter, find_last_change, list_history, list_row_history
from apps.audit.trail import list_trails
from apps.members import services
from apps.members.forms import build_initial
from apps.members.models import Member, Room, Site, Tariff
from apps.members.services import MemberFacts
from apps.nat.services import add_forward, change_forward
from apps.network.models import Holding
from apps.network.services import release_holding
from tests import factories
from tests.db.page_client import queries, signed_in, text

# All changes of a transaction have the same time, so only separate transactions show an order.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


def titles(entries: list[HistoryEntry]) -> list[str]:
    return [f"{entry.title}: {entry.detail}" for entry in entries]


def edit(client: Client, who: Member, **changes: object) -> None:
    given = {name: getattr(value, "pk", value) for name, value in build_initial(who).items()} | {"room": str(who.room or "")} | changes
    sent = {name: "" if value is None else value for name, value in given.items()}
    assert client.post(f"/members/{who.pk}/edit/", sent).status_code == 302


def test_a_members_history_holds_what_belongs_to_the_member(network: factories.Network) -> None:
    resident = network.residents["m1"]
    forward = add_forward(
        holding=resident.holding, public=factories.PUBLIC, protocol="udp", public_port=51820, private_port=51820, by=network.admin
    )
    change_forward(forward=forward, version=1, private_port=51820, purpose="", enabled=False, by=network.admin)
    release_holding(holding=resident.holding, by=network.admin)
    told = titles(list_row_history(resident.member))
    assert sorted(told[:3]) == [
        "Address ended: 10.16.0.10",
        "NAT mapping ended: 10.16.0.10 → 198.51.100.7",
        "Port forward ended: UDP 51820 on 198.51.100.7",
    ]
    assert told[3:] == [
        "Port forward switched off: UDP 51820 on 198.51.100.7",
        "Port forward added: UDP 51820 on 198.51.100.7",
        "Address added: 2001:db8:a0:10::/64",
        "NAT mapping added: 10.16.0.10 → 198.51.100.7",
        "Device added: Laptop of m1 00:00:5e:00:53:00",
        "Address added: 10.16.0.10",
        f"Member added: Resident of m1, M-{resident.member.number}",
    ]


def test_a_change_names_who_made_it_and_both_values(mara: Client, network: factories.Network) -> None:
    who = network.residents["m1"].member
    room = Room.objects.create(site=Site.objects.create(name="House B", code="B"), floor=2, name="214")
    trial = Tariff.objects.create(name="Trial", trial=True)
    edit(mara, who, room=str(room), tariff=trial.pk, paid_until="2027-03-31", language="de")
    entry = list_row_history(who)[0]
    assert (entry.title, entry.who) == ("Member changed", "Mara Lindqvist")
    assert sorted(entry.changes) == [
        ("language", "English", "Deutsch"),
        ("paid until", "none", "31 Mar 2027"),
        ("room", "none", "B-214"),
        ("tariff", "Standard", "Trial"),
    ]


def test_raw_sql_is_seen_too_and_was_the_system(network: factories.Network) -> None:
    who = network.residents["m1"].member
    with connection.cursor() as cursor:
        cursor.execute("UPDATE members_member SET name = 'Renamed' WHERE id = %s", [who.pk])
    entry = list_row_history(who)[0]
    assert (entry.changes, entry.who) == ([("name", "Resident of m1", "Renamed")], "the system")


def test_what_is_gone_is_still_told(mara: Client, network: factories.Network) -> None:
    who = network.residents["m1"].member
    device = who.devices.get()
    mara.post(f"/devices/{device.pk}/remove/")
    entries = list_row_history(who)
    assert (entries[0].title, entries[0].detail, entries[0].who) == ("Device removed", "Laptop of m1 00:00:5e:00:53:00", "Mara Lindqvist")


def test_a_device_that_is_gone_keeps_its_name_where_an_address_had_it(mara: Client, network: factories.Network) -> None:
    resident = network.residents["m1"]
    device = resident.member.devices.get()
    Holding.objects.filter(pk=resident.holding.pk).update(device=device)
    mara.post(f"/devices/{device.pk}/remove/")
    assert ("device", "Laptop of m1", "none") in [change for entry in list_row_history(resident.member) for change in entry.changes]


def test_the_last_change_says_who_and_when(mara: Client, network: factories.Network) -> None:
    who = network.residents["m1"].member
    assert (find_last_change(who) or ("",))[0] == "the system"
    edit(mara, who, note="moved")
    assert (find_last_change(who) or ("",))[0] == "Mara Lindqvist"


def test_all_history_is_filtered_by_kind_and_person(mara: Client, network: factories.Network) -> None:
    edit(mara, network.residents["m1"].member, note="moved")
    number = network.residents["m1"].member.number
    assert titles(list_history(HistoryFilter(person=network.admin.pk))[0]) == [f"Member changed: Resident of m1, M-{number}"]
    assert {entry.title for entry in list_history(HistoryFilter(kind="members.device"))[0]} == {"Device added"}
    assert {entry.whose for entry in list_history(HistoryFilter(kind="nat.natmapping"))[0]} == {
        f"Resident of m{number}" for number in (1, 2, 3, 4)
    }
    page = text(mara.get(f"/history/?person={network.admin.pk}"))
    assert "moved" in page
    assert "Device added" not in page.split("<tbody>")[1]


def test_pages_of_history_follow_each_other(mara: Client, network: factories.Network) -> None:
    for number in range(70):
        factories.member(f"Number {number}")
    first, second = (mara.get(f"/history/?kind=members.member&page={page}").context["entries"] for page in (1, 2))
    assert len(first) == 50
    assert len(second) == 24
    assert first[0].detail.startswith("Number 69")
    assert second[0].detail.startswith("Number 19")


def test_history_takes_as_many_queries_for_many_as_for_few(mara: Client, network: factories.Network) -> None:
    who = network.residents["m1"].member
    edit(mara, who, note="0")
    few, page = queries(mara, "/history/"), queries(mara, f"/members/{who.pk}/history/")
    for number in range(20):
        who.refresh_from_db()
        edit(mara, who, note=str(number))
    assert queries(mara, "/history/") <= few
    assert queries(mara, f"/members/{who.pk}/history/") <= page


@pytest.mark.parametrize("value", ["\0", "x", "members.nothing", "9" * 60, "-1", "<script>alert(1)</script>"])
def test_the_history_page_accepts_any_query_parameters(mara: Client, network: factories.Network, value: str) -> None:
    for name in ("kind", "person", "page"):
        response = mara.get("/history/", {name: value})
        assert response.status_code == 200
        assert "<script>alert" not in text(response)


def test_every_tracked_table_can_be_told_of(network: factories.Network) -> None:
    assert {"members.member", "network.holding", "nat.portforward", "bans.ban", "network.gateway"} <= {trail.key for trail in list_trails()}
    for trail in list_trails():
        list_history(HistoryFilter(kind=trail.key))


def test_every_tracked_table_has_a_name_in_german(network: factories.Network) -> None:
    assert [trail.model for trail in list_trails() if not trail.called] == []
    with override("de"):
        named = {trail.key: trail.name for trail in list_trails()}
    assert (named["bans.ban"], named["bans.banlist"], named["accounts.invitation"]) == (
        "Adresssperre",
        "Sperrliste",
        "Einladung in die Administration",
    )


def test_a_stale_member_is_compared_with_what_it_was(network: factories.Network) -> None:
    who = network.residents["m1"].member
    facts = MemberFacts(**{name: value for name, value in build_initial(who).items() if name != "version"})
    services.change_member(member=who, version=1, facts=facts, by=network.admin)
    assert (who.version, who.since) == (2, date(2025, 10, 1))
