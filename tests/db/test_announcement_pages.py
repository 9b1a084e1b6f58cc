"""Pages and API of announcements: from the form over the preview to the members' pages, and what scripts may do."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.accounts.models import User
from apps.announcements import mailing
from apps.announcements.audience import preview_audience
from apps.announcements.models import Announcement
from apps.desk.lifecycle import export
from apps.mail.models import Message
from apps.members.models import Member, Room, Site, Tariff
from tests import announcement_factories, factories
from tests.announcement_factories import GERMAN, TEXT, TITLE
from tests.db.page_client import HTMX, list_messages, queries, signed_in, text

API = "/api/announcements/announcements/"


@pytest.fixture
def mara(db: None) -> User:
    return factories.user()


@pytest.fixture
def house(db: None) -> Site:
    """A house with two members: one with an account, who reads German, and one without an address."""
    made = Site.objects.create(name="House B", code="B")
    room = Room.objects.create(site=made, floor=2, name="214")
    account = factories.user("selin", staff=False, language="de")
    factories.member("Selin Kaya", room=room, email="selin@lindenhof.example", language="de", user=account)
    factories.member("Tunde Ade", room=room)
    factories.member("Vera Klein", email="vera@lindenhof.example")
    return made


@pytest.fixture
def api(mara: User) -> Client:
    _token, key = tokens.create_token(user=mara, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


@pytest.fixture
def selin(house: Site) -> Client:
    return signed_in(User.objects.get(username="selin"))


def build_form(**changes: Any) -> dict[str, Any]:
    given = {"title_de": "", "text_de": "", "title_en": TITLE, "text_en": TEXT, "shown_from": "", "by_mail": "on"}
    return given | {"shown_until": (timezone.localtime() + timedelta(days=3)).replace(hour=12).strftime("%Y-%m-%dT%H:%M")} | changes


def send(client: Client, path: str, given: object = None, method: str = "post") -> Any:
    return getattr(client, method)(path, {} if given is None else given, content_type="application/json")


def test_staff_writes_looks_at_the_preview_publishes_and_withdraws(mara: User, house: Site) -> None:
    client = signed_in(mara)
    assert "No announcements yet" in text(client.get("/announcements/"))
    assert "House B" in text(client.get("/announcements/add/"))
    where = client.post("/announcements/add/", build_form(sites=[house.pk]))["Location"]
    preview = text(client.get(where))
    assert "Publish to 2 members" in preview and "Selin Kaya, Tunde Ade" in preview and "1 gets a mail." in preview
    assert "1 has no mail address" in preview and "There is no German text" in preview
    assert '<a href="https://lindenhof.example/water" rel="nofollow">' in preview
    row = Announcement.objects.get()
    asked = {"version": row.version, "members": 2}
    changed = client.post(f"{where}edit/", build_form(version=row.version, title_en="Water back", sites=[house.pk]))
    assert changed["Location"] == where
    late = client.post(f"{where}publish/", asked)
    assert late.status_code == 409 and "changed or published since you read it" in text(late)
    assert client.post(f"{where}publish/", asked | {"version": row.version + 1})["Location"] == where
    assert "0 of 2 mails sent" in text(client.get(where))
    mailing.write_pending_mails(timezone.now())
    Message.objects.update(state="sent", ended=timezone.now())
    page = text(client.get(where))
    assert "1 of 1 mail sent" in page and "No mail: no address" in page and "Shown on the members’ pages until" in page
    assert "Withdraw from 2 members" in text(client.get(f"{where}withdraw/"))
    assert list_messages(client.post(f"{where}withdraw/", follow=True)) == ["Withdrawn. 0 mails were stopped."]
    assert "no member sees it any more" in text(client.get(where)) and "Withdrawn" in text(client.get("/announcements/"))


def test_a_number_that_is_no_longer_true_is_not_confirmed(mara: User, house: Site) -> None:
    row, client = announcement_factories.draft(mara, sites=[house]), signed_in(mara)
    factories.member("Wim", room=Room.objects.get())
    answer = client.post(f"/announcements/{row.pk}/publish/", {"version": row.version, "members": 2})
    assert answer.status_code == 409 and "It would reach 3 members now, not 2" in text(answer) and "Publish to 3 members" in text(answer)


def test_wrong_input_is_kept_and_explained_in_both_languages(mara: User, house: Site) -> None:
    answer = signed_in(mara).post("/announcements/add/", build_form(title_en="", text_en="Only a text"))
    assert answer.status_code == 422 and "Write title and text" in text(answer) and "Only a text" in text(answer)
    german = signed_in(factories.user("jonas", language="de")).post("/announcements/add/", build_form(title_en="", text_en=""))
    assert "Schreib Titel und Text in mindestens einer Sprache." in text(german)


def test_of_two_who_edit_a_draft_the_later_one_is_told(mara: User, house: Site) -> None:
    row, client = announcement_factories.draft(mara), signed_in(mara)
    given = build_form(version=row.version)
    assert client.post(f"/announcements/{row.pk}/edit/", given | {"title_en": "First"}).status_code == 302
    late = client.post(f"/announcements/{row.pk}/edit/", given | {"title_en": "Second"})
    assert late.status_code == 422 and "Second" in text(late) and Announcement.objects.get().title_en == "First"


def test_a_form_keeps_an_audience_that_was_removed_until_it_is_dropped(mara: User, house: Site) -> None:
    gone = Site.objects.create(name="House C", code="C")
    row, client = announcement_factories.draft(mara, sites=[gone]), signed_in(mara)
    path = f"/announcements/{row.pk}/edit/"
    assert 'name="dropped"' not in text(client.get(path))
    gone.delete()
    assert 'name="dropped" value="sites"' in text(client.get(path))
    assert client.post(path, build_form(version="1", title_en="Not water")).status_code == 302
    row.refresh_from_db()
    assert (row.title_en, row.audience, preview_audience(row).members) == ("Not water", "House C", 0)
    assert client.post(path, build_form(version="2", dropped=["sites"])).status_code == 302
    row.refresh_from_db()
    assert (row.audience, preview_audience(row).members) == ("", 3)


def test_a_form_says_of_which_kind_all_was_removed_though_none_is_left(mara: User) -> None:
    tariff, gone = Tariff.objects.create(name="Student"), Site.objects.create(name="House C", code="C")
    row, client = announcement_factories.draft(mara, sites=[gone]), signed_in(mara)
    gone.delete()
    refused = client.post(f"/announcements/{row.pk}/edit/", build_form(version="1", tariffs=[tariff.pk]))
    assert refused.status_code == 422 and "All that was chosen here was removed." in text(refused)


def test_a_draft_is_removed_and_a_published_one_is_neither_edited_nor_removed(mara: User, house: Site) -> None:
    row, client = announcement_factories.draft(mara), signed_in(mara)
    assert "Remove the draft" in text(client.get(f"/announcements/{row.pk}/remove/"))
    assert client.post(f"/announcements/{row.pk}/remove/")["Location"] == "/announcements/"
    row = announcement_factories.publish(mara)
    assert client.get(f"/announcements/{row.pk}/edit/")["Location"] == f"/announcements/{row.pk}/"
    refused = list_messages(client.post(f"/announcements/{row.pk}/remove/", follow=True))
    assert refused == ["It was published meanwhile. Withdraw it instead."]


def test_who_may_not_write_to_members_sees_announcements_without_buttons(mara: User, house: Site) -> None:
    row = announcement_factories.draft(mara)
    auditor = signed_in(factories.user("audra", roles=["auditor"]))
    page = text(auditor.get(f"/announcements/{row.pk}/"))
    assert TITLE in page and "Publish to" not in page and "Edit" not in page
    assert auditor.post(f"/announcements/{row.pk}/publish/", {"version": 1, "members": 3}).status_code == 403
    helper = signed_in(factories.user("tomasz", roles=["helpdesk"]))
    assert helper.post(f"/announcements/{row.pk}/publish/", {"version": 1, "members": 3}).status_code == 302


def test_the_history_says_who_published_what_to_whom(mara: User, house: Site) -> None:
    client = signed_in(mara)
    where = client.post("/announcements/add/", build_form(sites=[house.pk]))["Location"]
    client.post(f"{where}publish/", {"version": 1, "members": 2})
    history = text(client.get("/history/"))
    assert "Announcement" in history and TITLE in history
    assert "published" in text(client.get(where)) and "House B" in text(client.get(where))


def test_a_member_reads_it_in_their_language_dismisses_it_and_finds_it_again(mara: User, house: Site, selin: Client) -> None:
    row = announcement_factories.publish(mara, title_en=TITLE, text_en=TEXT, **GERMAN, sites=[house])
    page = text(selin.get("/me/"))
    assert "Donnerstag kein Wasser" in page and TITLE not in page and "Gesehen" in page
    answer = selin.post(f"/me/announcements/{row.pk}/seen/", headers=HTMX)
    assert (answer.status_code, answer.content) == (200, b"")
    assert "Donnerstag kein Wasser" not in text(selin.get("/me/"))
    assert "Von 9 bis 11 Uhr." in text(selin.get("/me/announcements/"))
    assert selin.post(f"/me/announcements/{row.pk}/seen/")["Location"] == "/me/"


def test_a_member_neither_reads_nor_dismisses_what_is_for_others(mara: User, house: Site, selin: Client) -> None:
    other = Site.objects.create(name="House C", code="C")
    factories.member("Cem", room=Room.objects.create(site=other, floor=1, name="1"))
    row = announcement_factories.publish(mara, sites=[other])
    assert TITLE not in text(selin.get("/me/")) and TITLE not in text(selin.get("/me/announcements/"))
    assert selin.post(f"/me/announcements/{row.pk}/seen/").status_code == 404
    assert selin.get(f"/announcements/{row.pk}/").status_code == 403


def test_more_announcements_ask_the_database_no_more(mara: User, house: Site, selin: Client) -> None:
    announcement_factories.publish(mara)
    staff = signed_in(mara)
    pages = [(staff, "/announcements/"), (selin, "/me/"), (selin, "/me/announcements/")]
    few = [queries(client, path) for client, path in pages]
    for _number in range(5):
        announcement_factories.publish(mara)
    assert [queries(client, path) for client, path in pages] == few


def test_members_switch_such_mails_off_on_their_page(mara: User, house: Site, selin: Client) -> None:
    assert "Mails mit Bekanntmachungen der Administration" in text(selin.get("/me/settings/"))
    selin.post("/me/settings/", {"language": "de", "notices": ["answers"]})
    row = announcement_factories.publish(mara)
    mailing.write_pending_mails(timezone.now())
    assert row.recipients.get(member__name="Selin Kaya").delivery == "unwanted"
    assert [each.to for each in Message.objects.filter(notice="announcements")] == ["vera@lindenhof.example"]


def test_the_file_with_all_of_a_members_data_names_what_reached_them(mara: User, house: Site) -> None:
    announcement_factories.publish(mara)
    [found] = export.collect_member_data(Member.objects.get(name="Vera Klein"))["announcements"]
    assert (found["announcement__title_en"], found["delivery"]) == (TITLE, "waiting")


def test_scripts_draft_look_publish_and_withdraw(api: Client, house: Site) -> None:
    until = (timezone.now() + timedelta(days=3)).isoformat()
    made = send(api, API, {"title_en": TITLE, "text_en": TEXT, "sites": [house.pk], "shown_until": until})
    assert made.status_code == 201, made.json()
    path, row = f"{API}{made.json()['id']}/", made.json()
    assert (row["state"], row["audience"], row["by_mail"], row["reached"]) == ("draft", "House B", True, None)
    assert api.get(f"{path}preview/").json() == {"members": 2, "by_mail": 1, "no_address": 1, "unwanted": 0}
    changed = send(api, path, {"title_de": "Kein Wasser", "text_de": "Am Donnerstag."}, "patch").json()
    assert (changed["title_en"], changed["title_de"], changed["sites"], changed["version"]) == (TITLE, "Kein Wasser", [house.pk], 2)
    assert send(api, f"{path}publish/", {"members": 3}).status_code == 409
    published = send(api, f"{path}publish/", {"members": 2})
    assert (published.status_code, published.json()["state"], published.json()["reached"]) == (200, "published", 2)
    assert api.get(f"{path}progress/").json()["mails"] == 2
    assert send(api, path, {"title_de": "Doch Wasser"}, "patch").status_code == 409
    assert api.delete(path).status_code == 409
    assert send(api, f"{path}withdraw/").json()["state"] == "withdrawn"
    assert [each["id"] for each in api.get(f"{API}?state=withdrawn").json()["results"]] == [row["id"]]


def test_a_script_that_changes_a_text_keeps_an_audience_that_was_removed(api: Client, mara: User, house: Site) -> None:
    gone = Site.objects.create(name="House C", code="C")
    row = announcement_factories.draft(mara, sites=[gone])
    path = f"{API}{row.pk}/"
    gone.delete()
    for changes in ({"title_en": "Not water"}, {"title_en": "Water", "sites": []}):
        changed = send(api, path, changes, "patch").json()
        assert (changed["title_en"], changed["audience"]) == (changes["title_en"], "House C")
        assert api.get(f"{path}preview/").json()["members"] == 0
    assert send(api, f"{path}publish/", {"members": 3}).status_code == 400
    row.refresh_from_db()
    assert row.narrowed_by == ["sites"]


def test_scripts_are_told_which_field_is_wrong(api: Client, house: Site) -> None:
    until = (timezone.now() + timedelta(days=3)).isoformat()
    answer = send(api, API, {"title_en": TITLE, "shown_until": until})
    assert answer.status_code == 400 and "text_en" in str(answer.json())
    assert send(api, API, {"title_en": TITLE, "text_en": TEXT, "sites": [10**6], "shown_until": until}).status_code == 400
