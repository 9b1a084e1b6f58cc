"""Import of people: what a dry run announces is written, all or nothing, with history, and a second time nothing changes."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.accounts.models import User
from apps.desk.forms import parse_members_query
from apps.desk.lifecycle.erasing import erase_member
from apps.desk.list_csv import render_member_list_csv
from apps.desk.people_import import services
from apps.desk.people_import.services import PeopleFile
from apps.lib.database.validity import is_valid_now
from apps.lib.errors import Problem
from apps.members.models import Device, Member, Membership, Room, Site, Tariff
from apps.nat import pool_sharing
from apps.nat.models import NatMapping, PortClaim, PortForward
from apps.network.models import Holding, Pool
from tests import factories

pytestmark = pytest.mark.django_db

PEOPLE = """\
Nummer;Name;E-Mail;Haus;Zimmer;Gerät;MAC;Private Adresse;IPv6-Präfix;Freigaben;Bezahlt bis;Sprache
30000;Ada Weiß;ada@x.example;Alte Mühle;12.0;Laptop;00-00-5e-00-53-a1;{a};{p};tcp 443 → 8443 (Cloud);31.03.2027;de
;Bo Berg;bo@x.example;Alte Mühle;13;;;{b};;;;
"""


@pytest.fixture
def network() -> Iterator[factories.Network]:
    yield factories.network()


def make_people(network: factories.Network) -> PeopleFile:
    """Return a table of two people with free addresses of the lab's pools."""
    first = network.private.prefix.broadcast_address
    prefix = list(network.prefixes.prefix.subnets(new_prefix=64))[-1]
    text = PEOPLE.format(a=first - 5, b=first - 6, p=prefix)
    return PeopleFile(text.encode("cp1252", errors="replace").replace(b"? 8443", b"-> 8443"), "people.csv", create_rooms=True)


def run(file: PeopleFile, by: User) -> dict[str, Any]:
    report = services.import_people(file=file, by=by)
    assert report["problems"] == []
    counts: dict[str, Any] = report["counts"]
    return {name: number for name, number in counts.items() if number}


def test_a_table_brings_houses_rooms_members_devices_addresses_and_forwards(network: factories.Network) -> None:
    file = make_people(network)
    dry = services.check_people(file)
    assert dry["problems"] == []
    assert not Member.objects.filter(number=30000).exists() and not Site.objects.exists()
    assert dry["counts"] == services.import_people(file=file, by=network.admin)["counts"]
    ada, bo = Member.objects.get(number=30000), Member.objects.get(email="bo@x.example")
    assert (ada.name, str(ada.room), ada.language, ada.state, bo.number) == ("Ada Weiß", "AM-12", "de", "active", 30001)
    assert Device.objects.get(member=ada).mac == "00:00:5e:00:53:a1"
    holding = Holding.objects.get(is_valid_now(), member=ada, kind=Pool.Kind.PRIVATE4)
    assert holding.device == Device.objects.get(member=ada)
    forward = PortForward.objects.get(is_valid_now(), holding=holding)
    assert (forward.public_port, forward.private_port, forward.purpose) == (443, 8443, "Cloud")
    assert forward.public == NatMapping.objects.get(is_valid_now(), holding=holding).public
    assert Membership.objects.filter(member__in=[ada, bo]).count() == 2


def test_the_same_table_again_changes_nothing(network: factories.Network) -> None:
    file = make_people(network)
    run(file, network.admin)
    before = list(Member.objects.order_by("pk").values())
    assert run(file, network.admin) == {"members_unchanged": 2}
    assert list(Member.objects.order_by("pk").values()) == before


def test_the_exported_list_of_members_changes_nothing_when_it_is_imported(network: factories.Network) -> None:
    run(make_people(network), network.admin)
    factories.member("=Formula & Sons", number=40000, email="sum@x.example")
    factories.member("Gone", number=40001, state="left")
    assert erase_member(factories.member("Long Gone", number=40002, state="left", email="long@gone.example"))
    factories.make_holding(Member.objects.get(number=30000), network.private, "10.16.200.1")  # leaves as nothing
    site, other = Site.objects.create(name="Annexe", code="A"), Site.objects.create(name="Annexe 1", code="A1")
    factories.member("Eleven", number=40003, room=Room.objects.create(site=site, floor=0, name="11"))
    factories.member("One", number=40004, room=Room.objects.create(site=other, floor=0, name="1"))
    exported = "".join(render_member_list_csv(parse_members_query({}), timezone.localdate())).encode()  # type: ignore[arg-type]  # no parameters
    assert run(PeopleFile(exported, "members.csv"), network.admin) == {"members_unchanged": Member.objects.count()}


def test_a_single_problem_keeps_everything_from_being_written(network: factories.Network) -> None:
    file = PeopleFile(b"Number;Name;House;Room\n30000;Ada;Mill;1\n30001;;Mill;2\n", create_rooms=True)
    report = services.import_people(file=file, by=network.admin)
    assert [(each["line"], each["column"]) for each in report["problems"]] == [(3, "Name")]
    assert not Site.objects.exists() and not Member.objects.filter(number=30000).exists()


def test_members_are_changed_and_come_back(network: factories.Network) -> None:
    site = Site.objects.create(name="House B", code="B")
    room = Room.objects.create(site=site, floor=2, name="214")
    Tariff.objects.create(name="Large")
    gone = factories.member("Gone", number=40001, state="left")
    here = factories.member("Here", number=40002, email="a@x.example")
    text = "Nr;Status;Zimmer;Tarif;Bezahlt bis;E-mail\n40001;aktiv;B-214;;2027-01-31;\n40002;;b214;large;;b@x.example\n"
    assert run(PeopleFile(text.encode()), network.admin) == {"members_changed": 2}
    gone.refresh_from_db()
    here.refresh_from_db()
    assert (gone.state, gone.room, gone.left_at, gone.memberships.count()) == ("active", room, None, 1)
    assert (here.room, here.tariff.name, here.email, here.version) == (room, "Large", "b@x.example", 2)


def test_the_history_names_who_imported_what(network: factories.Network) -> None:
    run(make_people(network), network.admin)
    events: Any = Member.pgh_event_models["insert"]  # type: ignore[attr-defined]  # added by pghistory
    [context] = {event.pgh_context for event in events.objects.filter(number=30000)}
    assert context.metadata["user"] == network.admin.pk
    assert (context.metadata["cause"], context.metadata["reason"]) == ("import people", "import of people.csv")
    written: dict[Any, dict[str, int]] = {
        Room: {},
        Device: {"member__number__gte": 30000},
        Holding: {"member__number__gte": 30000},
        NatMapping: {"holding__member__number__gte": 30000},
    }
    for model, rows in written.items():
        added: Any = model.pgh_event_models["insert"]
        ids = list(model._default_manager.filter(**rows).values_list("pk", flat=True))
        assert len(ids) == added.objects.filter(pgh_obj__in=ids, pgh_context=context).count() > 0, model


def test_ports_of_many_new_mappings_are_claimed_at_once(network: factories.Network) -> None:
    pool_sharing.change_sharing(pool=network.public, sharing="blocks", block_size=1024, by=network.admin)
    run(make_people(network), network.admin)
    made = list(NatMapping.objects.filter(is_valid_now(), holding__member__number__gte=30000).order_by("pk"))
    claims = PortClaim.objects.filter(mapping_id__in=[each.pk for each in made]).order_by("mapping_id")
    assert [(each.public, each.ports) for each in claims] == [(each.public, each.block) for each in made]
    assert len({(each.public, each.ports.lower) for each in claims}) == 2


def test_in_a_pool_of_own_addresses_each_member_gets_one(network: factories.Network) -> None:
    pool_sharing.change_sharing(pool=network.public, sharing="own", block_size=None, by=network.admin)
    file = make_people(network)
    assert services.check_people(file)["problems"] == []
    run(file, network.admin)
    publics = list(NatMapping.objects.filter(is_valid_now(), holding__member__number__gte=30000).values_list("public", flat=True))
    assert len(set(publics)) == 2
    assert not NatMapping.objects.filter(is_valid_now(), public__in=publics, holding__member__number__lt=30000).exists()


def test_a_public_pool_that_is_out_of_service_gives_no_place(network: factories.Network) -> None:
    Pool.objects.filter(pk=network.public.pk).update(retired=timezone.now())
    report = services.import_people(file=make_people(network), by=network.admin)
    assert {each["text"] for each in report["problems"]} > {"The public pools are full. Add addresses, or let more members share them."}
    assert not Member.objects.filter(number=30000).exists()


def test_the_command_says_what_it_did_and_lists_problems_with_their_lines(network: factories.Network, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(make_people(network).content)
    said, faults = StringIO(), StringIO()
    call_command("import_people", str(path), "--create-rooms", "--dry-run", stdout=said)
    assert "2 members added, 1 sites added, 2 rooms added" in said.getvalue() and "nothing was changed" in said.getvalue()
    call_command("import_people", str(path), "--create-rooms", "--author", "mara", stdout=said)
    assert Member.objects.filter(number=30000).exists()
    path.write_text("Nr;Wohnt in\n30000;AM-99\n")
    with pytest.raises(SystemExit):
        call_command("import_people", str(path), "--column", "Wohnt in=room", "--author", "mara", stdout=said, stderr=faults)
    assert "line 2, Wohnt in: Alte Mühle has no room 99." in faults.getvalue()
    with pytest.raises(CommandError, match="--author"):
        call_command("import_people", str(path))


def test_meanings_of_another_file_are_refused() -> None:
    with pytest.raises(Problem, match="The file has other columns"):
        services.check_people(PeopleFile(b"Number;Name\n", meanings=()))
