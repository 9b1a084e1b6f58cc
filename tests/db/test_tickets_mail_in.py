"""Inbound mail for tickets: which ticket it belongs to, which sender acts as staff, and which mails never cause another."""

import re
from dataclasses import replace
from email.message import EmailMessage
from typing import Any

import pytest
from django.conf import LazySettings

from apps.accounts.models import User
from apps.inbound_mail import dispatcher as inbound
from apps.inbound_mail import services as arriving
from apps.inbound_mail.dispatcher import MailRefused
from apps.inbound_mail.message import MailAddress, MailFile, ReceivedMail
from apps.inbound_mail.models import Arrival
from apps.inbound_mail.parse_limits import ParseLimits
from apps.inbound_mail.parser_process import MailReader
from apps.mail import models as mail
from apps.mail.mime import compose_mail
from apps.members.models import Member
from apps.tickets import addressing, mail_handler, notifications, quoting, services
from apps.tickets.models import Attachment, Message, Ticket
from tests import factories

SELIN, MARA, EVE = "selin@lindenhof.example", "mara@lindenhof.example", "eve@example.org"
SUPPORT = MailAddress("", "support@lindenhof.example")


@pytest.fixture(autouse=True)
def _address(settings: LazySettings) -> None:
    settings.SUPPORT_ADDRESS, settings.MAIL_IN_AUTHSERV_ID = "Support <support@lindenhof.example>", "mx.lindenhof.example"


@pytest.fixture
def mara(db: None) -> User:
    made = factories.user("mara")
    User.objects.filter(pk=made.pk).update(email=MARA)
    made.refresh_from_db()
    return made


@pytest.fixture
def selin(db: None) -> Member:
    return factories.member(email=SELIN, language="de", user=factories.user("selin", staff=False))


def letter(text: str = "Hallo", sender: str = SELIN, to: str = "support@lindenhof.example", **given: Any) -> ReceivedMail:
    number = Message.objects.count() + mail.Message.objects.count()
    received = ReceivedMail(
        message_id=f"<{number}@mail.example>", references=(), sender=MailAddress("", sender) if sender else None, reply_to=(),
        recipients=(MailAddress("", to),), subject="Kein Netz", date=None, text=text, html="", files=(), automatic=False, bounce=False,
        bounced_ids=(), authenticated=True,
    )  # fmt: skip
    return replace(received, **given)


def take(received: ReceivedMail) -> None:
    mail_handler.handle_mail(Arrival(pk=1), received)


def open_ticket(selin: Member) -> Ticket:
    assert selin.user
    return services.open_ticket(subject="Kein Netz", text="Hallo", member=selin, by=selin.user)


def make_answered_ticket(selin: Member, mara: User) -> tuple[Ticket, mail.Message]:
    """Return a ticket that was answered, and the answer's mail."""
    ticket = open_ticket(selin)
    services.answer_ticket(ticket=ticket, text="Seit wann?", by=mara)
    return now(ticket), list_mails(SELIN)[-1]


def now(ticket: Ticket) -> Ticket:
    return Ticket.objects.select_related("member", "assignee").get(pk=ticket.pk)


def list_mails(to: str) -> list[mail.Message]:
    return list(mail.Message.objects.filter(to=to).order_by("id"))


def last(ticket: Ticket) -> Message:
    found = ticket.messages.order_by("id").last()
    assert found
    return found


def test_a_mail_opens_a_ticket_of_the_member_whose_address_it_has(selin: Member, mara: User) -> None:
    take(letter(sender=SELIN.upper()))
    ticket = Ticket.objects.get()
    assert (ticket.member, ticket.subject, ticket.language, ticket.state) == (selin, "Kein Netz", "de", "open")
    assert (last(ticket).via, last(ticket).text) == ("mail", "Hallo")
    assert len(list_mails(MARA)) == 1 and list_mails(SELIN) == []


def test_who_is_unknown_or_shares_an_address_opens_a_ticket_of_nobody(selin: Member, mara: User) -> None:
    factories.member("Jonas Brandt", email=SELIN)
    for sender in (EVE, SELIN, ""):
        take(letter(sender=sender))
    found = list(Ticket.objects.order_by("id"))
    assert [each.address for each in found] == [EVE, SELIN, ""] and not any(each.member for each in found)
    services.answer_ticket(ticket=Ticket.objects.order_by("id")[0], text="Hallo", by=mara)
    assert list_mails(EVE)[0].in_reply_to == Message.objects.order_by("id")[0].message_id


def test_an_answer_belongs_to_its_ticket_by_the_signed_address_whatever_its_subject(selin: Member, mara: User) -> None:
    ticket, mail_ = make_answered_ticket(selin, mara)
    take(letter("Seit gestern", to=mail_.reply_to.upper(), subject="Etwas ganz anderes"))
    assert (last(ticket).text, last(ticket).verified, now(ticket).state) == ("Seit gestern", True, "open")
    take(letter("Ich bin Selin", sender=EVE, to=mail_.reply_to))
    assert (last(ticket).text, last(ticket).verified) == ("Ich bin Selin", False)
    assert Ticket.objects.count() == 1 and len(list_mails(SELIN)) == 1 and list_mails(EVE) == []


def test_an_answer_belongs_to_its_ticket_by_what_it_refers_to(selin: Member, mara: User) -> None:
    ticket, mail_ = make_answered_ticket(selin, mara)
    take(letter("Seit gestern", references=("<strange@x>", mail_.message_id)))
    first = last(ticket)
    take(letter("Oder vorgestern", references=(first.message_id or "",)))
    assert [each.text for each in ticket.messages.filter(via="mail")] == ["Seit gestern", "Oder vorgestern"]
    services.answer_ticket(ticket=ticket, text="Aha", by=mara)
    assert list_mails(SELIN)[-1].references.split() == [
        mail_.message_id,
        *ticket.messages.filter(via="mail").values_list("message_id", flat=True),
    ]


def test_a_subject_alone_opens_another_ticket(selin: Member, mara: User) -> None:
    ticket, mail_ = make_answered_ticket(selin, mara)
    take(letter(sender=EVE, subject=mail_.subject))
    assert Ticket.objects.count() == 2 and ticket.messages.count() == 2


@pytest.mark.parametrize(
    "change", [lambda tag: tag.replace("t", "t1", 1), lambda tag: tag[:-1] + ("a" if tag[-1] != "a" else "b"), lambda tag: tag[:-1]]
)
def test_a_changed_signature_leads_nowhere(selin: Member, mara: User, change: Any) -> None:
    ticket = open_ticket(selin)
    tag = addressing.build_ticket_address(ticket.pk).partition("+")[2].partition("@")[0]
    take(letter(sender=EVE, to=f"support+{change(tag)}@lindenhof.example"))
    assert Ticket.objects.count() == 2 and ticket.messages.count() == 1
    assert (
        addressing.parse_signed_address(f"support+{tag}@elsewhere.example") is None
        and addressing.parse_signed_address(f"other+{tag}@lindenhof.example") is None
    )


def test_only_the_signed_address_of_a_person_acts_as_staff(selin: Member, mara: User) -> None:
    ticket = open_ticket(selin)
    [notice] = list_mails(MARA)
    assert re.fullmatch(rf"support\+s{mara.pk}\.{ticket.pk}\.[a-z2-7]{{24}}@lindenhof\.example", notice.reply_to)
    take(letter("Ich bin Mara", sender=MARA, references=(notice.message_id,)))
    assert (last(ticket).kind, last(ticket).verified, now(ticket).state) == ("note", False, "open")
    take(letter("Ich bin Mara", sender=MARA, to=addressing.build_ticket_address(ticket.pk)))
    assert (last(ticket).kind, last(ticket).verified) == ("member", False) and list_mails(SELIN) == []
    words = f"Seit wann?\n\nAm 12.11. schrieb {notice.reply_to}:\n> Hallo\n>\n> Selin\n"
    take(letter(words, sender=MARA, to=notice.reply_to))
    assert (last(ticket).kind, last(ticket).author, last(ticket).text, last(ticket).via) == ("answer", mara, "Seit wann?", "mail")
    [answer] = list_mails(SELIN)
    assert last(ticket).message_id == answer.message_id and now(ticket).state == "waiting" and notice.reply_to not in answer.text


def test_a_persons_address_ends_with_the_password_and_with_the_role(selin: Member, mara: User) -> None:
    ticket = open_ticket(selin)
    address = addressing.build_staff_reply_address(mara, ticket.pk)
    assert addressing.parse_signed_address(address) == addressing.SignedAddress(ticket.pk, mara)
    User.objects.filter(pk=mara.pk).update(roles=["network_admin", "approver"], password="another")
    assert addressing.parse_signed_address(address) is None
    helper = factories.user("helper", roles=["helpdesk"])
    address = addressing.build_staff_reply_address(helper, ticket.pk)
    for changes in ({"roles": ["auditor"]}, {"roles": ["helpdesk"], "is_active": False}):
        User.objects.filter(pk=helper.pk).update(**changes)
        assert addressing.parse_signed_address(address) is None


@pytest.mark.parametrize("roles", [["member"], ["auditor"]])
def test_who_may_not_answer_any_more_gets_no_more_mails_about_assigned_tickets(selin: Member, mara: User, roles: list[str]) -> None:
    factories.user("ines")  # the portal keeps a network administrator
    ticket, mail_ = make_answered_ticket(selin, mara)
    take(letter("Seit gestern", to=mail_.reply_to))
    User.objects.filter(pk=mara.pk).update(roles=roles)
    take(letter("Noch immer", to=mail_.reply_to))
    assert (last(ticket).text, now(ticket).assignee) == ("Noch immer", mara)
    assert mail.Message.objects.filter(template="ticket_reply").count() == 1


def test_what_a_machine_wrote_causes_no_mail_and_changes_no_turn(selin: Member, mara: User) -> None:
    ticket, mail_ = make_answered_ticket(selin, mara)
    before = mail.Message.objects.count()
    take(letter("Ich bin im Urlaub", to=mail_.reply_to, automatic=True))
    assert now(ticket).state == "waiting" and last(ticket).kind == "member"
    take(letter("Ich bin im Urlaub", to=addressing.build_staff_reply_address(mara, ticket.pk), automatic=True))
    assert last(ticket).kind == "note"
    take(letter("Newsletter", sender=EVE, automatic=True))
    assert mail.Message.objects.count() == before and Ticket.objects.count() == 2


def test_of_a_sender_who_writes_without_end_nobody_is_told_any_more(selin: Member, mara: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail_handler, "LOUD", 2)
    for _each in range(5):
        take(letter(sender=EVE))
    assert Ticket.objects.count() == 5 and len(list_mails(MARA)) == 2


def test_notes_about_refused_files_do_not_count_as_mails_of_their_sender(
    selin: Member, mara: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail_handler, "LOUD", 3)
    for _each in range(4):
        take(letter(sender=EVE, files=(MailFile("run.exe", "application/x-msdownload", b"MZ"),)))
    assert Message.objects.filter(kind="note").count() == 4 and len(list_mails(MARA)) == 3


def test_a_bounce_is_a_note_of_its_ticket_and_our_turn(selin: Member, mara: User) -> None:
    ticket, mail_ = make_answered_ticket(selin, mara)
    bounce = letter("550 no such mailbox", sender="", automatic=True, bounce=True, bounced_ids=(mail_.message_id,))
    take(bounce)
    assert (last(ticket).kind, now(ticket).state) == ("note", "open") and "550" in last(ticket).text
    with pytest.raises(MailRefused):
        take(replace(bounce, message_id="<other@x>", bounced_ids=("<nobody@x>",)))


def test_two_mails_of_one_message_id_are_both_kept_and_our_own_mail_is_not(selin: Member, mara: User) -> None:
    ticket, mail_ = make_answered_ticket(selin, mara)
    staff = letter("Noch da?", sender=MARA, to=addressing.build_staff_reply_address(mara, ticket.pk), message_id="<staff@x>")
    for received in (letter("Seit gestern", to=mail_.reply_to, message_id=f"<{'x' * 400}@y>"), staff):
        take(received)
        number = ticket.messages.count()
        take(replace(received, text="noch einmal"))
        assert ticket.messages.count() == number + 2, "what it says is kept, with a note"
    with pytest.raises(MailRefused):
        take(letter(message_id=mail_.message_id))


def test_files_of_kinds_that_are_not_taken_are_named_in_a_note(selin: Member, mara: User) -> None:
    files = (MailFile("a.png", "image/png", b"1"), MailFile("run.exe", "application/x-msdownload", b"MZ"), MailFile("", "image/png", b"2"))
    take(letter(files=files))
    ticket = Ticket.objects.get()
    assert list(Attachment.objects.order_by("id").values_list("name", flat=True)) == ["a.png", "file.png"]
    assert (last(ticket).kind, last(ticket).text) == ("note", "Files that were not kept: run.exe")
    assert ticket.messages.count() == 2


def test_files_by_mail_are_kept_as_far_as_there_is_room_and_the_words_always(selin: Member, mara: User, settings: LazySettings) -> None:
    settings.ATTACHMENTS_MEMBER_OCTETS, settings.ATTACHMENTS_TOTAL_OCTETS = 3, 16
    files = (MailFile("a.png", "image/png", b"12"), MailFile("b.png", "image/png", b"34"), MailFile("c.png", "image/png", b"5"))
    for sender, kept in ((SELIN, ["a.png", "c.png"]), (EVE, ["a.png", "b.png"]), ("other@example.org", [])):
        take(letter(sender=sender, files=files))
        message = Ticket.objects.latest("id").messages.earliest("id")
        assert (message.text, [each.name for each in message.attachments.all()]) == ("Hallo", kept)


def test_an_answer_that_names_a_ticket_which_is_not_there_opens_one(selin: Member, mara: User) -> None:
    take(letter(to=addressing.build_ticket_address(4711)))
    assert Ticket.objects.get().member == selin


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Ja.\n\nAm 12. schrieb Mara:\n> Seit wann?\n> Hm\n\n", "Ja."),
        ("Ja.\n\nOn Thu, 12 Nov\nMara wrote:\n> Seit wann?", "Ja."),
        ("> Seit wann?\nSeit gestern.", "> Seit wann?\nSeit gestern."),
        ("> Seit wann?", "> Seit wann?"),
        ("Seit: gestern:", "Seit: gestern:"),
        ("", ""),
    ],
)
def test_the_quote_at_the_end_is_left_out(text: str, kept: str) -> None:
    assert quoting.strip_quote(text) == kept


def test_a_real_mail_and_its_answer_go_round(selin: Member, mara: User) -> None:
    """Sends octets of a reply to a mail of the outbox through the parser of inbound mail."""
    ticket, mail_ = make_answered_ticket(selin, mara)
    reply = EmailMessage()
    reply["From"], reply["To"], reply["Subject"] = f"Selin <{SELIN}>", mail_.reply_to, f"Re: {mail_.subject}"
    reply["Message-ID"], reply["In-Reply-To"] = "<reply@mail.example>", mail_.message_id
    reply["Authentication-Results"] = "mx.lindenhof.example; dkim=pass header.d=lindenhof.example"
    reply.set_content("Seit gestern\n")
    reply.add_attachment(b"x", maintype="image", subtype="png", filename="a.png")
    arriving.store_arrival(octets=reply.as_bytes(), way=Arrival.Way.LMTP, sender=SELIN, recipients=[mail_.reply_to])
    arriving.store_arrival(octets=compose_mail(mail_), way=Arrival.Way.LMTP, sender=SELIN, recipients=[mail_.reply_to])
    with MailReader(ParseLimits(seconds=60), "mx.lindenhof.example") as reader:
        take_ = inbound.find_mail_handler()
        assert take_
        done = inbound.receive_mail(take_, reader)
    assert (done.taken, done.quarantined) == (1, 1)
    assert (last(ticket).text, last(ticket).verified, Attachment.objects.get().name) == ("Seit gestern", True, "a.png")
    assert notifications.list_references(last(ticket)) == [mail_.message_id]
