"""Page that imports a table of people: a check that changes nothing, meanings of the columns to choose, one import, and its report."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import translation

from apps.accounts.models import User
from apps.desk.people_import import remembered, uploads
from apps.desk.people_import.columns import match_columns
from apps.desk.people_import.sample import SAMPLE_COLUMNS, list_sample_headers
from apps.members.models import Member, PeopleUpload, Room, Site, Tariff
from tests import factories
from tests.db.page_client import list_messages, signed_in, text

pytestmark = pytest.mark.django_db

PEOPLE = b"Name;Mail;Haus;Wohnt in;Bezahlt bis\nAda;ada@x.example;Mill;12;2027-03-31\nBo;bo@x.example;Mill;13;\n"


@pytest.fixture
def mara() -> User:
    Tariff.objects.create(name="Standard")
    return factories.user()


def upload(client: Client, content: bytes, name: str = "people.csv", **options: str) -> Any:
    return client.post("/members/import/", {"file": SimpleUploadedFile(name, content), **options}, follow=True)


def get_path(page: Any) -> str:
    return str(page.redirect_chain[-1][0])


def test_a_table_is_checked_its_columns_corrected_and_imported(mara: User) -> None:
    client = signed_in(mara)
    page = upload(client, PEOPLE)
    path = get_path(page)
    assert "The table has 2 problems." in text(page) and "Line 2, column “Haus”: " in text(page)
    assert "Import 2 members" not in text(page)
    meanings = ["name", "email", "house", "room", "paid_until"]
    page = client.post(path, {"meaning": meanings, "create_rooms": "on"}, follow=True)
    assert "All lines are valid." in text(page) and "Import 2 members" in text(page) and "<ins>31 Mar 2027</ins>" in text(page)
    assert not Member.objects.exists() and not Site.objects.exists()
    done = client.post(path, {"choice": page.context["choice"]}, follow=True)
    assert "2 members were imported." in text(done) and "<dd>2</dd>" in text(done)
    assert [str(each.room) for each in Member.objects.order_by("number")] == ["Mill-12", "Mill-13"]
    assert bytes(PeopleUpload.objects.get().content) == b""
    assert "there is nothing to import" in text(upload(client, b"E-mail;Name\nada@x.example;Ada\n"))


def test_a_second_submit_imports_nothing_twice_and_shows_the_report(mara: User) -> None:
    client = signed_in(mara)
    page = upload(client, b"Name;E-mail\nAda;a@x.example\nBo;b@x.example\n")
    sent = {"choice": page.context["choice"]}
    for _time in range(2):
        assert "2 members were imported." in text(client.post(get_path(page), sent, follow=True))
    assert Member.objects.count() == 2
    client.post(get_path(page), {"meaning": ["skip", "skip"]})
    assert PeopleUpload.objects.get().meanings == ["name", "email"]


def test_what_was_not_seen_is_not_imported(mara: User) -> None:
    client = signed_in(mara)
    page = upload(client, b"Name;E-mail;Note\nAda;a@x.example;hello\n")
    path, choice = get_path(page), page.context["choice"]
    client.post(path, {"meaning": ["name", "email", "skip"]})
    page = client.post(path, {"choice": choice}, follow=True)
    assert "What the columns mean was changed in the meantime" in list_messages(page)[0]
    assert not Member.objects.exists()


def test_a_table_that_has_problems_by_now_is_not_imported(mara: User) -> None:
    client = signed_in(mara)
    site = Site.objects.create(name="Mill", code="M")
    Room.objects.create(site=site, floor=0, name="1")
    page = upload(client, b"Number;Name;House;Room\n3000;Ada;Mill;1\n3001;Bo;Mill;1\n")
    assert "Import 2 members" in text(page)
    Site.objects.update(name="Tower", code="T")
    page = client.post(get_path(page), {"choice": page.context["choice"]}, follow=True)
    assert "the table has problems" in list_messages(page)[0]
    assert not Member.objects.exists()


@pytest.mark.parametrize("meanings", [[], ["name"], ["name", "email", "note"], ["name", "soul"]])
def test_other_columns_than_those_of_the_file_are_refused(mara: User, meanings: list[str]) -> None:
    client = signed_in(mara)
    path = get_path(upload(client, b"Name;E-mail\nAda;a@x.example\n"))
    page = client.post(path, {"meaning": meanings}, follow=True)
    assert "The file has other columns than before." in list_messages(page)[0]
    assert PeopleUpload.objects.get().meanings == ["name", "email"]


def test_columns_in_which_nobody_is_recognised_are_chosen_on_the_page(mara: User) -> None:
    client = signed_in(mara)
    page = upload(client, b"Wer;Post\nAda;a@x.example\n")
    assert "This file cannot be imported." in text(page) and "recognised by one of them" in text(page)
    page = client.post(get_path(page), {"meaning": ["name", "name"]}, follow=True)
    assert "Two columns mean “Name”" in text(page)
    assert "Import 1 member" in text(client.post(get_path(page), {"meaning": ["name", "email"]}, follow=True))


@pytest.mark.parametrize(
    ("content", "name", "why"),
    [
        (b"", "people.csv", "empty"),
        (b"\n\n", "people.csv", "The file is empty."),
        (b"Name;E-mail\n", "people.csv", "no line below them"),
        (b"Name;E-mail\nA\0da;x\n", "people.csv", "NUL"),
        (b"not a workbook", "people.xlsx", "is not a spreadsheet"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_the_reason(mara: User, content: bytes, name: str, why: str) -> None:
    page = upload(signed_in(mara), content, name)
    assert page.status_code == 422 and why in text(page)
    assert not PeopleUpload.objects.exists()


def test_a_file_that_is_too_large_and_no_file_are_refused(mara: User) -> None:
    client = signed_in(mara)
    assert client.post("/members/import/", {}).status_code == 422
    page = upload(client, b"Name;E-mail\n" + b"x" * (32 << 20))
    assert page.status_code == 422 and "larger than 32 MiB" in text(page)


def test_the_longest_table_for_a_page_is_imported(mara: User) -> None:
    lines = "".join(f"{number};P {number}\n" for number in range(3000, 3000 + uploads.MOST_PAGE_ROWS))
    client = signed_in(mara)
    page = upload(client, f"Number;Name\n{lines}".encode())
    assert "Import 2,000 members" in text(page) and "and 1,980 more" in text(page)
    client.post(get_path(page), {"choice": page.context["choice"]})
    assert Member.objects.count() == uploads.MOST_PAGE_ROWS


def test_only_the_last_tables_of_a_person_are_kept(mara: User) -> None:
    for number in range(uploads.MOST_UPLOADS + 2):
        last = uploads.save_upload(name=f"{number}.csv", content=PEOPLE, create_rooms=False, by=mara)
    kept = list(PeopleUpload.objects.order_by("pk").values_list("name", flat=True))
    assert len(kept) == uploads.MOST_UPLOADS and kept[-1] == last.name


def test_an_upload_is_seen_by_its_owner_alone_and_the_page_by_network_admins(mara: User) -> None:
    path = get_path(upload(signed_in(mara), PEOPLE))
    assert signed_in(factories.user("other", roles=["network_admin"])).get(path).status_code == 404
    helper = signed_in(factories.user("helper", roles=["helpdesk"]))
    for each in (path, "/members/import/", "/members/import/sample.csv"):
        assert helper.get(each).status_code == 403
    assert helper.post("/members/import/", {}).status_code == 403
    assert "/members/import/" not in text(helper.get("/members/"))
    assert "/members/import/" in text(signed_in(mara).get("/members/"))


def test_the_page_speaks_german(mara: User) -> None:
    client = signed_in(mara)
    client.cookies["django_language"] = "de"
    page = client.post("/members/import/", {"file": SimpleUploadedFile("p.csv", PEOPLE)}, follow=True, headers={"Accept-Language": "de"})
    assert "Die Tabelle hat 2 Probleme." in text(page) and "Zeile 2, Spalte „Haus“: " in text(page)


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_header_of_the_sample_is_recognised(language: str) -> None:
    with translation.override(language):
        assert list(match_columns(list_sample_headers())) == SAMPLE_COLUMNS


def test_the_sample_is_a_table_that_can_be_imported(mara: User) -> None:
    client = signed_in(mara)
    sample = b"".join(client.get("/members/import/sample.csv").streaming_content)  # type: ignore[attr-defined]  # a download
    assert sample.startswith("\ufeff".encode())
    assert "Import 2 members" in text(upload(client, sample, create_rooms="on"))


def test_chosen_meanings_are_remembered_for_the_next_table_with_the_same_headers(mara: User) -> None:
    client = signed_in(mara)
    path = get_path(upload(client, PEOPLE))
    meanings = ["name", "email", "skip", "skip", "paid_until"]
    client.post(path, {"meaning": meanings})
    other = signed_in(factories.user("jonas"))
    again = upload(other, b"NAME ;Mail;haus;Wohnt  in;Bezahlt bis\nCleo;c@x.example;;;\n")
    assert "as last time" in text(again) and PeopleUpload.objects.latest("pk").meanings == meanings
    other.post(get_path(again), {"meaning": ["name", "email", "house", "room", "skip"]})
    assert "as last time" not in text(other.get(get_path(again)))
    assert PeopleUpload.objects.earliest("pk").meanings == meanings
    assert upload(client, PEOPLE).context["upload"].meanings == ["name", "email", "house", "room", "skip"]
    assert "as last time" not in text(upload(client, b"Name;E-mail\nDora;d@x.example\n"))


def test_only_the_page_uses_remembered_meanings_and_only_so_many_are_kept(mara: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "MOST_REMEMBERED", 2)
    key = remembered.compute_header_key(["Name", "E-mail"])
    remembered.remember_meanings(key, ["skip", "email"])
    by_script = uploads.save_upload(name="", content=b"Name;E-mail\nA;a@x.example\n", create_rooms=False, choices=(), by=mara)
    assert by_script.meanings == ["name", "email"]
    for other in ("a", "b"):
        remembered.remember_meanings(other, ["name"])
    assert remembered.find_meanings(key, 2) is None and remembered.find_meanings("b", 1) == ["name"]
    assert remembered.find_meanings("b", 2) is None
