"""Tickets: services, notices by mail, and the pages of members and staff."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction
from django.db.models import F
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.bans.blocks.services import block_member
from apps.bans.models import Block
from apps.desk.lifecycle.erasing import erase_member
from apps.desk.lifecycle.export import collect_member_data
from apps.lib.errors import Conflict, Problem
from apps.mail import models as mail
from apps.mail.services import switch_notice_off
from apps.members.models import Device, Member
from apps.members.services import end_membership
from apps.preferences.declarations import MESSAGES_AN_HOUR
from apps.preferences.services import change_settings
from apps.tickets import links, notifications, own_tickets, services
from apps.tickets.attachments import AttachmentFile, clean_file_name
from apps.tickets.models import Attachment, Message, Ticket
from tests import factories
from tests.db.page_client import list_messages, queries, signed_in, text

SELIN, MARA, TOMASZ = "selin@lindenhof.example", "mara@lindenhof.example", "tomasz@lindenhof.example"
PICTURE = AttachmentFile("Screenshot.PNG", b"\x89PNG\r\n")


@pytest.fixture
def mara(db: None) -> User:
    return _staff("mara", MARA)


@pytest.fixture
def tomasz(db: None) -> User:
    return _staff("tomasz", TOMASZ, roles=["helpdesk"])


@pytest.fixture
def selin(db: None) -> Member:
    return factories.member(email=SELIN, language="de", user=factories.user("selin", staff=False))


def _staff(name: str, email: str, **given: Any) -> User:
    made = factories.user(name, **given)
    User.objects.filter(pk=made.pk).update(email=email)
    made.refresh_from_db()
    return made


def account(member: Member) -> User:
    assert member.user
    return member.user


def open_ticket(member: Member, subject: str = "Spielserver", words: str = "Von außen nicht erreichbar", **given: Any) -> Ticket:
    return own_tickets.open_own_ticket(member=member, subject=subject, text=words, by=account(member), **given)


def now(ticket: Ticket) -> Ticket:
    return Ticket.objects.select_related("member", "assignee").get(pk=ticket.pk)


def mails(to: str = SELIN) -> list[mail.Message]:
    return list(mail.Message.objects.filter(to=to).order_by("id"))


def facts(ticket: Ticket, **changes: Any) -> services.TicketFacts:
    ticket = now(ticket)
    return replace(services.TicketFacts(ticket.state, ticket.priority, ticket.assignee, ticket.tags), **changes)


def test_whose_turn_it_is_follows_from_what_is_written(selin: Member, mara: User) -> None:
    ticket = open_ticket(selin)
    assert (ticket.state, ticket.first_answered_at) == ("open", None)
    services.add_note(ticket=ticket, text="Vielleicht der Forward?", by=mara)
    assert (now(ticket).state, now(ticket).first_answered_at, now(ticket).assignee) == ("open", None, None)
    services.answer_ticket(ticket=ticket, text="Welcher Port?", by=mara)
    first = now(ticket).first_answered_at
    assert (now(ticket).state, now(ticket).assignee) == ("waiting", mara) and first
    own_tickets.reply_to_ticket(member=selin, ticket=ticket, text="25565", by=account(selin))
    assert now(ticket).state == "open"
    services.answer_ticket(ticket=ticket, text="Geht jetzt.", solved=True, by=mara)
    assert (now(ticket).state, now(ticket).first_answered_at) == ("solved", first)
    for _again in range(2):
        own_tickets.reply_to_ticket(member=selin, ticket=ticket, text="Doch nicht.", by=account(selin))
        assert now(ticket).state == "reopened"
    assert Ticket.pgh_event_model.objects.filter(pgh_obj_id=ticket.pk, state="solved").count() == 1  # type: ignore[attr-defined]


def test_a_ticket_that_was_opened_while_the_clock_was_ahead_can_be_answered(selin: Member, mara: User) -> None:
    ticket = open_ticket(selin)
    Ticket.objects.update(opened_at=F("opened_at") + timedelta(hours=2))
    services.answer_ticket(ticket=ticket, text="Welcher Port?", by=mara)
    assert (now(ticket).state, now(ticket).first_answered_at) == ("waiting", now(ticket).opened_at)


def test_an_answer_goes_by_mail_and_continues_its_thread(selin: Member, mara: User, settings: LazySettings) -> None:
    settings.SUPPORT_ADDRESS = "Support <support@lindenhof.example>"
    ticket = open_ticket(selin)
    services.add_note(ticket=ticket, text="GEHEIM: kennt den Port nicht", by=mara)
    services.answer_ticket(ticket=ticket, text="Welcher <b>Port</b>?", by=mara)
    services.answer_ticket(ticket=ticket, text="Noch da?", by=mara)
    first, second = mails()
    assert first.subject == f"Re: Spielserver [#{ticket.pk}]" == second.subject
    assert "Welcher <b>Port</b>?" in first.text and "Welcher &lt;b&gt;Port" in first.html and "Mara Lindqvist" in first.text
    assert f"/me/tickets/{ticket.pk}/" in first.text and "auch auf diese Mail antworten" in first.text
    assert (first.automatic, first.language, first.in_reply_to) == (False, "de", "")
    assert (second.in_reply_to, second.references) == (first.message_id, first.message_id)
    assert re.fullmatch(rf"support\+t{ticket.pk}\.[a-z2-7]{{24}}@lindenhof\.example", first.reply_to)
    assert "GEHEIM" not in "".join(each.text + each.html + each.subject for each in mails())
    known = ticket.messages.filter(kind="answer").order_by("id").values_list("message_id", flat=True)
    assert list(known) == [first.message_id, second.message_id]


def test_an_answer_without_an_address_stands_on_the_page_alone(selin: Member, mara: User) -> None:
    ticket = open_ticket(selin)
    Member.objects.filter(pk=selin.pk).update(email="")
    services.answer_ticket(ticket=now(ticket), text="Welcher Port?", by=mara)
    assert mails("") == [] and now(ticket).state == "waiting"


def test_staff_who_want_to_are_told_of_new_tickets_and_of_replies_in_their_own(selin: Member, mara: User, tomasz: User) -> None:
    _staff("anna", "anna@lindenhof.example", roles=["auditor"])
    switch_notice_off(address=MARA.upper(), notice=notifications.KIND)
    ticket = open_ticket(selin)
    assert [each.subject for each in mails(TOMASZ)] == [f"New ticket from Selin Kaya: Spielserver [#{ticket.pk}]"]
    assert mails(MARA) == mails("anna@lindenhof.example") == mails() == []
    assert mails(TOMASZ)[0].unsubscribe and mails(TOMASZ)[0].automatic
    services.take_ticket(ticket=ticket, by=tomasz)
    own_tickets.reply_to_ticket(member=selin, ticket=ticket, text="25565", by=account(selin))
    assert len(mails(TOMASZ)) == 2 and "25565" in mails(TOMASZ)[1].text


def test_two_who_take_a_ticket_at_once_are_told_who_has_it(selin: Member, mara: User, tomasz: User) -> None:
    ticket = open_ticket(selin)
    services.take_ticket(ticket=ticket, by=mara)
    services.take_ticket(ticket=ticket, by=mara)
    with pytest.raises(Conflict, match="Mara Lindqvist has taken this ticket"):
        services.take_ticket(ticket=ticket, by=tomasz)


def test_a_change_that_comes_too_late_overwrites_nothing(selin: Member, mara: User, tomasz: User) -> None:
    ticket = open_ticket(selin)
    services.change_ticket(ticket=ticket, version=ticket.version, facts=facts(ticket, priority=4, tags=["NAT ", "nat", ""]), by=mara)
    assert (now(ticket).priority, now(ticket).tags) == (4, ["nat"])
    with pytest.raises(Conflict):
        services.change_ticket(ticket=ticket, version=ticket.version, facts=facts(ticket, priority=1), by=tomasz)
    services.answer_ticket(ticket=ticket, text="Welcher Port?", by=mara)
    seen = now(ticket)
    own_tickets.reply_to_ticket(member=selin, ticket=ticket, text="25565", by=account(selin))
    with pytest.raises(Conflict):
        services.change_ticket(ticket=ticket, version=seen.version, facts=facts(ticket, state="solved"), by=tomasz)
    for wrong in (
        {"priority": 9},
        {"state": "gone"},
        {"tags": ["x" * 31]},
        {"tags": [str(n) for n in range(11)]},
        {"assignee": account(selin)},
    ):
        with pytest.raises(Problem):
            services.change_ticket(ticket=ticket, version=now(ticket).version, facts=facts(ticket, **wrong), by=mara)


@pytest.mark.parametrize("wrong", [{"state": "gone"}, {"priority": 0}, {"subject": ""}, {"tags": [""]}, {"tags": list("abcdefghijk")}])
def test_the_database_refuses_a_ticket_that_makes_no_sense(selin: Member, wrong: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Ticket.objects.create(**({"subject": "x", "member": selin} | wrong))


def test_the_database_lets_nobody_answer_without_a_name(selin: Member) -> None:
    ticket = open_ticket(selin)
    for wrong in ({"kind": "answer", "via": "mail"}, {"kind": "member", "via": "web"}, {"kind": "other", "via": "mail"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Message.objects.create(ticket=ticket, **wrong)


def test_who_writes_too_much_or_nothing_is_told(selin: Member) -> None:
    change_settings(version=0, values={MESSAGES_AN_HOUR.name: 2}, by=None)
    for subject, words in (("", "x"), ("x", " \r\n "), ("x" * 201, "x"), ("x", "x" * 50_001)):
        with pytest.raises(Problem):
            open_ticket(selin, subject, words)
    ticket = open_ticket(selin)
    own_tickets.reply_to_ticket(member=selin, ticket=ticket, text="a\r\nb\0", by=account(selin))
    assert list(ticket.messages.order_by("id").values_list("text", flat=True))[1] == "a\nb"
    with pytest.raises(Problem, match="Wait a little"):
        open_ticket(selin)


def test_files_are_taken_by_kind_and_size(selin: Member, settings: LazySettings) -> None:
    settings.ATTACHMENT_OCTETS = 100
    for file in (
        AttachmentFile("page.html", b"x"),
        AttachmentFile("run.exe", b"x"),
        AttachmentFile("none", b"x"),
        AttachmentFile("a.png", b""),
        AttachmentFile("a.png", b"x" * 101),
    ):
        with pytest.raises(Problem) as refused:
            open_ticket(selin, files=[file])
        assert refused.value.fieldname == "files"
    with pytest.raises(Problem, match="at most 10 are allowed"):
        open_ticket(selin, files=[PICTURE] * 11)
    assert not Ticket.objects.exists()
    open_ticket(selin, files=[PICTURE])
    kept = Attachment.objects.get()
    assert (kept.name, kept.size, bytes(kept.content.octets)) == ("Screenshot.PNG", 6, PICTURE.octets)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\Users\\x\\a.png", "a.png"),
        ("a\r\nSet-Cookie: b.txt", "aSet-Cookie: b.txt"),
        ("\u202egnp.exe", "gnp.exe"),
        ("...", "file"),
        ("x" * 300 + ".png", "x" * 116 + ".png"),
    ],
)
def test_the_name_of_a_file_says_nothing_but_its_name(given: str, kept: str) -> None:
    assert clean_file_name(given) == kept


def test_a_file_is_handed_out_to_be_saved_and_never_shown(selin: Member, mara: User) -> None:
    open_ticket(selin, files=[AttachmentFile('<script>alert("ä")</script>.txt', b"<script>alert(1)</script>")])
    file = Attachment.objects.get()
    for client, path in (
        (signed_in(mara), f"/tickets/attachments/{file.pk}/"),
        (signed_in(account(selin)), f"/me/tickets/attachments/{file.pk}/"),
    ):
        answer = client.get(path)
        assert answer.content == b"<script>alert(1)</script>"
        assert answer["Content-Disposition"].startswith("attachment; filename")
        assert answer["Content-Type"] == "application/octet-stream"
        assert (answer["X-Content-Type-Options"], answer["Content-Security-Policy"]) == ("nosniff", "default-src 'none'; sandbox")


def test_a_member_sees_their_own_tickets_without_notes_and_nothing_of_others(selin: Member, mara: User) -> None:
    ticket = open_ticket(selin, "Mein Server")
    services.add_note(ticket=ticket, text="GEHEIM", files=[AttachmentFile("geheim.txt", b"x")], by=mara)
    services.answer_ticket(ticket=ticket, text="Welcher Port?", files=[PICTURE], by=mara)
    mine, other = signed_in(account(selin)), signed_in(account(factories.member("Jonas Brandt", user=factories.user("jonas", staff=False))))
    page = text(mine.get(f"/me/tickets/{ticket.pk}/"))
    assert "Welcher Port?" in page and "GEHEIM" not in page and "geheim.txt" not in page
    assert "Mein Server" in text(mine.get("/me/tickets/")) and "Mein Server" in text(mine.get("/me/"))
    assert "Mein Server" not in text(other.get("/me/tickets/")) + text(other.get("/me/"))
    assert other.get(f"/me/tickets/{ticket.pk}/").status_code == 404
    assert other.post(f"/me/tickets/{ticket.pk}/", {"text": "Ich auch"}).status_code == 404
    noted, sent = Attachment.objects.order_by("id")
    assert [mine.get(f"/me/tickets/attachments/{each.pk}/").status_code for each in (noted, sent)] == [404, 200]
    assert other.get(f"/me/tickets/attachments/{sent.pk}/").status_code == 404
    for path in (f"/tickets/{ticket.pk}/", f"/tickets/attachments/{noted.pk}/", "/tickets/"):
        assert mine.get(path).status_code == 403
    assert "GEHEIM" not in str(collect_member_data(selin)) and "Welcher Port?" in str(collect_member_data(selin)["messages"])


def test_a_member_writes_on_the_web_and_errors_stand_at_their_fields(selin: Member) -> None:
    client = signed_in(account(selin))
    refused = client.post("/me/tickets/new/", {"subject": "", "text": "Hallo", "uploads": SimpleUploadedFile("a.exe", b"MZ")})
    assert refused.status_code == 422 and "id_subject_error" in text(refused) and "Hallo" in text(refused)
    refused = client.post("/me/tickets/new/", {"subject": "Hallo", "text": "Hallo", "uploads": SimpleUploadedFile("a.exe", b"MZ")})
    assert refused.status_code == 422 and "id_uploads_error" in text(refused)
    files = [SimpleUploadedFile("a.png", b"1"), SimpleUploadedFile("b.png", b"2")]
    made = client.post("/me/tickets/new/", {"subject": "Hallo", "text": "<b>Server</b>", "uploads": files})
    ticket = Ticket.objects.get()
    assert made["Location"] == f"/me/tickets/{ticket.pk}/"
    page = text(client.get(made["Location"]))
    assert "&lt;b&gt;Server" in page and "a.png" in page and "b.png" in page
    assert client.post(made["Location"], {"text": "  "}).status_code == 422
    client.post(made["Location"], {"text": "Noch etwas"})
    assert "Noch etwas" in text(client.get(made["Location"]))


def test_staff_answers_notes_takes_and_changes_on_the_page(selin: Member, mara: User) -> None:
    ticket, client = open_ticket(selin), signed_in(mara)
    at = f"/tickets/{ticket.pk}/"
    block_member(member=selin, reason="abuse", by=mara)
    assert "Take it" in text(client.get(at))
    client.post(f"{at}take/")
    refused = client.post(at, {"do": "answer", "text": ""})
    assert refused.status_code == 422 and "id_text_error" in text(refused)
    assert list_messages(client.post(at, {"do": "note", "text": "Kennt sich aus"}, follow=True)) == ["Noted. Only staff sees it."]
    assert list_messages(client.post(at, {"do": "solve", "text": "Geht jetzt"}, follow=True)) == [f"Sent to {SELIN}."]
    assert (now(ticket).state, now(ticket).assignee) == ("solved", mara)
    page = text(client.get(at))
    assert "internal note" in page and "Kennt sich aus" in page and str(Block.objects.get().get_reason_display()) in page
    version = now(ticket).version
    given = {"version": version, "state": "open", "priority": "3", "assignee": "", "tags": "NAT, Spiele"}
    assert client.post(f"{at}change/", given).status_code == 302
    assert (now(ticket).tags, now(ticket).priority, now(ticket).assignee) == (["nat", "spiele"], 3, None)
    late = client.post(f"{at}change/", given | {"priority": "1"})
    assert late.status_code == 422 and f'value="{version + 1}"' in text(late)
    assert client.post(f"{at}change/", given | {"version": version + 1, "assignee": account(selin).pk}).status_code == 422


def test_staff_writes_to_a_member_first(selin: Member, mara: User) -> None:
    client = signed_in(mara)
    assert f"M-{selin.number}" in text(client.get(f"/tickets/new/?member={selin.pk}"))
    assert client.post("/tickets/new/", {"member": "M-99999", "subject": "x", "text": "x"}).status_code == 422
    client.post("/tickets/new/", {"member": f"m-{selin.number}", "subject": "Dein Raum", "text": "Wann bist du da?"})
    ticket = Ticket.objects.get()
    assert (ticket.state, ticket.assignee, ticket.first_answered_at) == ("waiting", mara, ticket.opened_at)
    assert [each.subject for each in mails()] == [f"Dein Raum [#{ticket.pk}]"]


def test_a_ticket_is_about_things_of_the_member_gateways_and_bans(network: factories.Network) -> None:
    resident = network.residents["m1"].member
    ticket = services.write_to(member=resident, subject="x", text="x", by=network.admin)
    client, device, gateway = signed_in(network.admin), Device.objects.get(member=resident), network.gateways[0]
    for what in (f"members.device:{device.pk}", f"network.gateway:{gateway.pk}", f"members.device:{device.pk}"):
        assert client.post(f"/tickets/{ticket.pk}/link/", {"what": what}).status_code == 302
    assert [(each.kind, each.words) for each in links.list_links(ticket)] == [("Device", str(device)), ("Gateway", gateway.name)]
    strange = Device.objects.exclude(member=resident)[0]
    for wrong in (
        {"what": f"members.device:{strange.pk}"},
        {"what": ""},
        {"ban": "nonsense"},
        {"ban": "203.0.113.9"},
        {"what": "accounts.user:1"},
    ):
        assert client.post(f"/tickets/{ticket.pk}/link/", wrong).status_code == 422
    client.post(f"/tickets/links/{ticket.links.order_by('id')[0].pk}/drop/")
    device.delete()
    assert [each.kind for each in links.list_links(ticket)] == ["Gateway"]


def test_mails_about_tickets_are_switched_on_and_off_on_the_list(selin: Member, tomasz: User) -> None:
    client = signed_in(tomasz)
    assert "Mails to you: on" in text(client.get("/tickets/"))
    client.post("/tickets/notices/", {"on": "0"})
    assert "Mails to you: off" in text(client.get("/tickets/"))
    open_ticket(selin)
    assert mails(TOMASZ) == []
    client.post("/tickets/notices/", {"on": "1"})
    open_ticket(selin)
    assert len(mails(TOMASZ)) == 1


def test_who_only_looks_cannot_answer(selin: Member) -> None:
    ticket, auditor = open_ticket(selin), signed_in(factories.user("anna", roles=["auditor"]))
    page = text(auditor.get(f"/tickets/{ticket.pk}/"))
    assert "Spielserver" in page and 'name="do"' not in page and "Take it" not in page
    assert auditor.post(f"/tickets/{ticket.pk}/", {"do": "answer", "text": "x"}).status_code == 403


def test_what_a_ticket_said_is_erased_with_its_member(selin: Member, mara: User, settings: LazySettings) -> None:
    ticket = open_ticket(selin, "Mein Anliegen", "Privates", files=[PICTURE])
    services.change_ticket(ticket=ticket, version=ticket.version, facts=facts(ticket, tags=["privat"]), by=mara)
    mail.Message.objects.update(state="sent", ended=timezone.now())
    open_ticket(selin, "Noch eines", "Auch privat")
    assert len(mails(MARA)) == 2
    end_membership(member=selin, by=mara)
    assert erase_member(selin)
    assert (now(ticket).subject, now(ticket).tags) == ("–", [])
    assert not Attachment.objects.exists() and not Message.objects.exclude(text="").exists()
    assert [(each.state, each.subject, each.text) for each in mails(MARA)] == [("sent", "–", "")], "nobody is sent an empty mail"
    assert not Ticket.pgh_event_model.objects.exclude(subject="–").exists()  # type: ignore[attr-defined]


def test_the_pages_of_tickets_take_a_constant_number_of_queries(network: factories.Network) -> None:
    mara = network.admin
    resident = network.residents["m1"].member
    Member.objects.filter(pk=resident.pk).update(user=factories.user("resident", staff=False), email=SELIN)
    resident.refresh_from_db()
    staff, member = signed_in(mara), signed_in(account(resident))
    first = open_ticket(resident)
    paths: list[tuple[Client, str]] = [(staff, "/tickets/?state=all"), (staff, f"/tickets/{first.pk}/"), (staff, "/tickets/?q=spielserver")]
    paths += [(member, "/me/tickets/"), (member, f"/me/tickets/{first.pk}/")]
    staff.get("/tickets/"), member.get("/me/")
    before = [queries(client, path) for client, path in paths]
    for number in range(5):
        open_ticket(resident, f"Spielserver {number}")
        services.answer_ticket(ticket=first, text=f"Antwort {number}", files=[PICTURE], by=mara)
    assert [queries(client, path) for client, path in paths] == before
    assert before[0] <= 35 and before[1] <= 64, before


def test_files_of_one_member_of_strangers_and_of_all_have_a_bound(selin: Member, mara: User, settings: LazySettings) -> None:
    settings.ATTACHMENTS_MEMBER_OCTETS, settings.ATTACHMENTS_TOTAL_OCTETS = 100, 160
    ticket = open_ticket(selin, files=[AttachmentFile("a.png", b"x" * 90)])
    with pytest.raises(Problem, match="10\u202fB of 100\u202fB are left") as refused:
        own_tickets.reply_to_ticket(member=selin, ticket=ticket, text="more", files=[AttachmentFile("b.png", b"x" * 11)], by=account(selin))
    assert refused.value.fieldname == "files" and ticket.messages.count() == 1
    page = text(signed_in(account(selin)).get(f"/me/tickets/{ticket.pk}/"))
    assert "Of 100\u202fB for all of your files, 10\u202fB are left." in page
    services.answer_ticket(ticket=ticket, text="Look", files=[AttachmentFile("c.png", b"x" * 60)], by=mara)
    with pytest.raises(Problem, match="10\u202fB of 160\u202fB are left"):
        services.add_note(ticket=ticket, text="Look", files=[AttachmentFile("d.png", b"x" * 11)], by=mara)
    assert "files: 150\u202fB of 160\u202fB" in text(signed_in(mara).get("/tickets/chart/"))


def test_staff_removes_a_file_which_gives_room_again_and_a_note_says_so(selin: Member, mara: User, settings: LazySettings) -> None:
    settings.ATTACHMENTS_MEMBER_OCTETS = 6
    ticket, client = open_ticket(selin, files=[PICTURE]), signed_in(mara)
    file = Attachment.objects.get()
    address = f"/tickets/attachments/{file.pk}/remove/"
    assert "Remove “Screenshot.PNG”?" in text(client.get(address)) and address in text(client.get(f"/tickets/{ticket.pk}/"))
    assert signed_in(account(selin)).post(address).status_code != 200 and Attachment.objects.exists()
    assert client.post(address).status_code == 302 and not Attachment.objects.exists()
    services.remove_file(file=file, by=mara)
    [note] = ticket.messages.filter(kind="note")
    assert (note.author, note.text) == (mara, "Removed a file: “Screenshot.PNG”, 6\u202fB.")
    own_tickets.reply_to_ticket(member=selin, ticket=ticket, text="again", files=[PICTURE], by=account(selin))
