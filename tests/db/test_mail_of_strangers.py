"""Mails with a forged sender, from the octets that a mail server delivers to everything that shows them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.accounts.models import User
from apps.inbound_mail import dispatcher as inbound
from apps.inbound_mail import services as arriving
from apps.inbound_mail.models import Arrival
from apps.inbound_mail.parse_limits import ParseLimits
from apps.inbound_mail.parser_process import MailReader
from apps.lib.errors import Conflict, Problem
from apps.mail import models as mail
from apps.mail.handover import HandoverStatus
from apps.mail.transport import FileMailTransport
from apps.members.models import Member
from apps.tickets import addressing, services
from apps.tickets.models import Message, Ticket
from tests import factories
from tests.db.page_client import signed_in, text

JONAS, MARA, EVE, MX = "jonas@lindenhof.example", "mara@lindenhof.example", "eve@evil.example", "mx.lindenhof.example"
PASSED = f"Authentication-Results: {MX}; dkim=pass (2048-bit key) header.d=%(domain)s; dmarc=pass header.from=%(domain)s\n"


@pytest.fixture(autouse=True)
def _mail_comes_in(settings: LazySettings) -> None:
    settings.SUPPORT_ADDRESS, settings.MAIL_IN_AUTHSERV_ID = "Support <support@lindenhof.example>", MX


@pytest.fixture(scope="module")
def reader() -> Iterator[MailReader]:
    with MailReader(ParseLimits(seconds=60), MX) as made:
        yield made


@pytest.fixture
def mara(db: None) -> User:
    made = factories.user("mara")
    User.objects.filter(pk=made.pk).update(email=MARA)
    made.refresh_from_db()
    return made


@pytest.fixture
def jonas(db: None) -> Member:
    return factories.member("Jonas Brandt", email=JONAS, user=factories.user("jonas", staff=False))


@pytest.fixture
def bring(reader: MailReader, db: None) -> Callable[..., Arrival]:
    """A function that delivers a mail, has it read and filed, and returns the arrival."""

    def brought(
        words: str = "Hello", *, sender: str = EVE, to: str = "support@lindenhof.example", passed: bool = False, **headers: str
    ) -> Arrival:
        known = {"Message_ID": f"<{Arrival.objects.count()}@mail.example>", "Subject": "My line"} | headers
        head = PASSED % {"domain": sender.rpartition("@")[2]} if passed else ""
        head += f"From: {sender}\nTo: {to}\n" + "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in known.items() if value)
        octets = f"{head}\n{words}\n".encode()
        row = arriving.store_arrival(octets=octets, way=Arrival.Way.LMTP, sender=sender, recipients=[to])
        take = inbound.find_mail_handler()
        assert take
        inbound.receive_mail(take, reader)
        row.refresh_from_db()
        return row

    return brought


def make_answered_ticket(jonas: Member, mara: User) -> tuple[Ticket, mail.Message]:
    """Return a ticket of the member that Mara has answered, and the answer's mail."""
    assert jonas.user
    ticket = services.open_ticket(subject="My line", text="It is slow", member=jonas, by=jonas.user)
    services.answer_ticket(ticket=ticket, text="Since when?", by=mara)
    return ticket, mail.Message.objects.get(to=JONAS)


def last(ticket: Ticket) -> Message:
    found = ticket.messages.order_by("id").last()
    assert found
    return found


def test_a_notice_of_a_strangers_words_names_the_stranger_and_nobody_else(bring: Callable[..., Arrival], jonas: Member, mara: User) -> None:
    ticket, sent = make_answered_ticket(jonas, mara)
    bring("hijacked", In_Reply_To=sent.message_id)
    notice = mail.Message.objects.get(template="ticket_reply")
    assert notice.subject == f"Unverified sender {EVE} has written: My line [#{ticket.pk}]"
    for words in (notice.text, notice.html):
        assert f"Unverified sender: {EVE}." in words and "hijacked" in words and "Jonas Brandt" not in words
    assert (last(ticket).sender, last(ticket).verified) == (EVE, False)
    bring("for a week", sender=JONAS, passed=True, In_Reply_To=sent.message_id)
    notice = mail.Message.objects.filter(template="ticket_reply").latest("id")
    assert notice.subject == f"Jonas Brandt has answered: My line [#{ticket.pk}]" and "nverified" not in notice.text + notice.html


def test_a_mail_with_a_faked_from_is_a_ticket_of_nobody_with_a_hint_to_staff(
    bring: Callable[..., Arrival], jonas: Member, mara: User
) -> None:
    bring("I am Jonas", sender=JONAS)
    ticket = Ticket.objects.get()
    assert (ticket.member, ticket.address, last(ticket).verified) == (None, JONAS, False)
    notice = mail.Message.objects.get(template="ticket_new")
    assert notice.subject == f"New ticket, unverified sender {JONAS}: My line [#{ticket.pk}]" and "Jonas Brandt" not in notice.text
    page = text(signed_in(mara).get(f"/tickets/{ticket.pk}/"))
    assert "Jonas Brandt has this address." in page and "The sender is not verified." in page and "unverified sender" in page
    bring("I am Jonas", sender=JONAS, passed=True)
    real = Ticket.objects.latest("id")
    assert (real.member, last(real).verified) == (jonas, True)


@pytest.mark.parametrize(
    "results",
    [
        "mx.evil.example; dmarc=pass header.from=lindenhof.example",
        f"{MX}; dmarc=fail header.from=lindenhof.example; dkim=pass header.d=evil.example",
        f"{MX}; dkim=pass header.d=evil.example; spf=pass smtp.mailfrom=lindenhof.example",
        f"{MX}; none\nAuthentication-Results: {MX}; dmarc=pass header.from=lindenhof.example",
    ],
)
def test_only_what_our_own_server_says_of_this_domain_counts(bring: Callable[..., Arrival], jonas: Member, results: str) -> None:
    bring(sender=JONAS, Authentication_Results=results)
    assert Ticket.objects.get().member is None


def test_two_authors_are_no_proof_of_either(bring: Callable[..., Arrival], jonas: Member) -> None:
    bring(sender=f"{JONAS}, {EVE}", Authentication_Results=f"{MX}; dmarc=pass header.from=lindenhof.example")
    bring(sender=JONAS, From=EVE, Authentication_Results=f"{MX}; dmarc=pass header.from=lindenhof.example")
    assert not Ticket.objects.filter(member=jonas).exists() and not Message.objects.filter(verified=True).exists()


def test_staff_say_whose_a_ticket_of_nobody_is_and_its_words_stay_marked(bring: Callable[..., Arrival], jonas: Member, mara: User) -> None:
    bring("I am Jonas", sender=JONAS)
    ticket, client = Ticket.objects.get(), signed_in(mara)
    refused = client.post(f"/tickets/{ticket.pk}/member/", {"member": "M-0"})
    assert refused.status_code == 422 and "No member has this number." in text(refused)
    assert client.post(f"/tickets/{ticket.pk}/member/", {"member": f"M-{jonas.number}"}).status_code == 302
    ticket.refresh_from_db()
    assert (ticket.member, last(ticket).verified) == (jonas, False)
    assert jonas.user
    page = text(signed_in(jonas.user).get(f"/me/tickets/{ticket.pk}/"))
    assert "By mail, from jonas@<wbr>lindenhof.example" in page and "unverified sender" in page
    with pytest.raises(Conflict):
        services.assign_member(ticket=ticket, member=jonas, by=mara)
    Member.objects.filter(pk=jonas.pk).update(state="left", erased_at="2026-11-01T00:00Z")
    jonas.refresh_from_db()
    with pytest.raises(Problem):
        services.assign_member(ticket=ticket, member=jonas, by=mara)


def test_another_mail_with_a_known_message_id_is_a_message_of_its_own(bring: Callable[..., Arrival], jonas: Member, mara: User) -> None:
    first, second = bring("one", Message_ID="<n@x>"), bring("another", sender=JONAS, Message_ID="<n@x>")
    assert (first.state, second.state, Ticket.objects.count()) == ("taken", "taken", 2)
    kept, note = Ticket.objects.latest("id").messages.order_by("id")
    assert (kept.text, kept.sender, note.kind) == ("another", JONAS, "note") and "same Message-ID" in note.text
    assert bring("another", sender=JONAS, Message_ID="<n@x>").pk == second.pk and Ticket.objects.count() == 2
    for words in ("bare", "bare", "barer"):
        bring(words, Message_ID="without.brackets@x")
    assert [Message.objects.filter(text=words).count() for words in ("bare", "barer")] == [1, 1], "the same octets are the same mail"


def test_mail_acts_as_staff_only_from_their_address_and_by_the_word_of_our_server(
    bring: Callable[..., Arrival], jonas: Member, mara: User
) -> None:
    ticket, _sent = make_answered_ticket(jonas, mara)
    address, before = addressing.build_staff_reply_address(mara, ticket.pk), mail.Message.objects.filter(to=JONAS).count()
    for sender, passed in ((EVE, True), (MARA, False), (EVE, False)):
        bring("Pay here", sender=sender, to=address, passed=passed)
    notes = list(ticket.messages.filter(kind="note", text="Pay here").order_by("id"))
    assert [each.verified for each in notes] == [False] * 3 and mail.Message.objects.filter(to=JONAS).count() == before
    assert ticket.messages.filter(text__contains="Its sender could not be verified").count() == 3
    told = mail.Message.objects.get(to=MARA, template="ticket_unsent")
    assert told.subject == f"Your answer was not sent [#{ticket.pk}]" and EVE in told.text and address not in told.text
    bring("Seit gestern?", sender=MARA.upper(), to=address, passed=True)
    assert (last(ticket).kind, last(ticket).author) == ("answer", mara)
    assert mail.Message.objects.filter(to=JONAS).count() == before + 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Subject": "Automatische Antwort: New ticket from Jonas"}, {"Subject": "Out of Office: AW: [#1]"},
        {"Subject": "Abwesenheitsnotiz"}, {"Subject": "Auto: away"}, {"Subject": "Réponse automatique : My line"},
        {"X_Autoreply": "yes"}, {"Precedence": "auto_reply"}, {"X_Auto_Response_Suppress": "All"},
        {"X_MS_Exchange_Generated_Message_Source": "Mailbox Rules Agent"}, {"Auto_Submitted": "auto-replied"},
    ],
)  # fmt: skip
def test_what_answers_for_absent_staff_is_never_published(
    bring: Callable[..., Arrival], jonas: Member, mara: User, headers: dict[str, str]
) -> None:
    ticket, _sent = make_answered_ticket(jonas, mara)
    before = mail.Message.objects.count()
    bring("I am on the beach", sender=MARA, to=addressing.build_staff_reply_address(mara, ticket.pk), passed=True, **headers)
    assert (last(ticket).kind, mail.Message.objects.count()) == ("note", before)


def test_a_person_who_answers_a_ticket_about_absence_is_no_machine(bring: Callable[..., Arrival], jonas: Member, mara: User) -> None:
    ticket, _sent = make_answered_ticket(jonas, mara)
    bring(
        "Enjoy", sender=MARA, to=addressing.build_staff_reply_address(mara, ticket.pk), passed=True, Subject="Re: Out of office next week"
    )
    assert last(ticket).kind == "answer"


def test_no_page_shows_the_address_that_makes_mail_act_as_staff(
    bring: Callable[..., Arrival], jonas: Member, mara: User, capfd: pytest.CaptureFixture[str]
) -> None:
    ticket, _sent = make_answered_ticket(jonas, mara)
    address = addressing.build_staff_reply_address(mara, ticket.pk)
    bring("Pay here", to=address)
    bring(f"Look at {address}", sender=address, Subject=f"Re: {address}")
    lost = bring("bounced", sender="", to=address, Message_ID="<b@x>")
    assert lost.state == "quarantined" or lost.state == "taken"
    auditor = signed_in(factories.user("audit", roles=["auditor"]))
    paths = ["/mail/", "/mail/?state=all", "/mail/in/?state=all", "/tickets/", "/tickets/?state=all"]
    paths += [f"/mail/{pk}/" for pk in mail.Message.objects.values_list("pk", flat=True)]
    paths += [each for pk in Arrival.objects.values_list("pk", flat=True) for each in (f"/mail/in/{pk}/", f"/mail/in/{pk}/file/")]
    paths += [f"/tickets/{pk}/" for pk in Ticket.objects.values_list("pk", flat=True)]
    seen = [
        (path, response) for path in paths for client in (auditor, signed_in(mara)) if (response := client.get(path)).status_code == 200
    ]
    assert len(seen) > len(paths)
    tag = address.partition("+")[2].partition("@")[0].encode()
    assert [path for path, response in seen if tag in response.content] == []
    assert tag.decode() not in "".join(capfd.readouterr())


def test_an_empty_mail_goes_into_quarantine(bring: Callable[..., Arrival]) -> None:
    row = bring("", sender="", Subject="")
    assert (row.state, Ticket.objects.count()) == ("quarantined", 0)
    bare = arriving.store_arrival(octets=b"\r\n", way=Arrival.Way.LMTP, sender=EVE, recipients=["support@lindenhof.example"])
    take = inbound.find_mail_handler()
    assert take
    with MailReader(ParseLimits(seconds=60), MX) as own:
        inbound.receive_mail(take, own)
    bare.refresh_from_db()
    assert (bare.state, bare.reason) == ("quarantined", "It has no text, no subject and no files.")


def test_html_that_is_too_costly_to_parse_is_a_ticket_with_its_text_or_waits_for_a_person(bring: Callable[..., Arrival]) -> None:
    row = bring("<p>My line is <b>slow</b></p>" + "<b></b>" * 10_000, Content_Type="text/html")
    written, note = Ticket.objects.get().messages.order_by("id")
    assert (row.state, written.text, note.text) == ("taken", "My line is slow", "Files that were not kept: file.html")
    row = bring("<div>" * 501, Content_Type="text/html")
    assert (row.state, row.reason, Ticket.objects.count()) == (
        "quarantined", "It is HTML that is too large to be read, without any text in it.", 1,
    )  # fmt: skip


def test_mails_that_lie_as_files_are_for_the_portal_alone(tmp_path: Path) -> None:
    files = FileMailTransport(tmp_path / "mail")
    assert files.open() == ""
    assert files.hand_over("a@b", "c@d", b"secret").what is HandoverStatus.TAKEN
    (file,) = (tmp_path / "mail").iterdir()
    assert (oct((tmp_path / "mail").stat().st_mode & 0o777), oct(file.stat().st_mode & 0o777)) == ("0o700", "0o600")
