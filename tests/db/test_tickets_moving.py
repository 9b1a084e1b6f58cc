"""Merging and splitting of tickets: where messages, files, links and later mails belong afterwards."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.accounts.models import User
from apps.audit.selectors import list_row_history
from apps.inbound_mail.message import MailAddress, ReceivedMail
from apps.inbound_mail.models import Arrival
from apps.lib.errors import Conflict, Problem
from apps.mail import models as mail
from apps.members.models import Member
from apps.tickets import links, mail_handler, merging, own_tickets, selectors, services, splitting
from apps.tickets.attachments import AttachmentFile
from apps.tickets.models import Message, Move, Ticket
from tests import factories
from tests.db.page_client import signed_in, text

SELIN = "selin@lindenhof.example"


@pytest.fixture(autouse=True)
def _address(settings: LazySettings) -> None:
    settings.SUPPORT_ADDRESS = "Support <support@lindenhof.example>"


@pytest.fixture
def mara(db: None) -> User:
    made = factories.user("mara")
    User.objects.filter(pk=made.pk).update(email="mara@lindenhof.example")
    made.refresh_from_db()
    return made


@pytest.fixture
def selin(db: None) -> Member:
    return factories.member(email=SELIN, user=factories.user("selin", staff=False))


def open_ticket(member: Member, words: str, **given: object) -> Ticket:
    assert member.user
    return own_tickets.open_own_ticket(member=member, subject=words, text=f"{words}?", by=member.user, **given)  # type: ignore[arg-type]


def strange(subject: str = "Who am I", address: str = "eve@example.org") -> Ticket:
    made = Ticket.objects.create(subject=subject, address=address, tags=["strange"])
    Message.objects.create(ticket=made, kind="member", via="mail", sender=address, text="Hello", message_id=f"<{subject}@example.org>")
    return Ticket.objects.get(pk=made.pk)


def now(ticket: Ticket) -> Ticket:
    return Ticket.objects.select_related("member", "assignee").get(pk=ticket.pk)


def words(ticket: Ticket) -> list[str]:
    return [each.text for each in selectors.list_messages(ticket)]


def comes(text: str, *, to: str = "support@lindenhof.example", refers: tuple[str, ...] = (), sender: str = SELIN) -> Message:
    """Handle an inbound mail and return the message that it became."""
    number = f"<{Message.objects.count()}-{text}@mail.example>"
    received = ReceivedMail(
        message_id=number, references=refers, sender=MailAddress("", sender), reply_to=(), recipients=(MailAddress("", to),),
        subject="Re: x", date=None, text=text, html="", files=(), automatic=False, bounce=False, bounced_ids=(),
        authenticated=True,
    )  # fmt: skip
    mail_handler.handle_mail(Arrival(pk=1), received)
    return Message.objects.get(message_id=number)


def answer_ticket(ticket: Ticket, by: User, words: str = "Which port?") -> mail.Message:
    """Answer the ticket and return the answer's mail."""
    services.answer_ticket(ticket=now(ticket), text=words, by=by)
    return mail.Message.objects.filter(template="ticket_answer").latest("id")


def test_merged_tickets_are_one_thread_in_order_of_time_with_files_links_and_tags(selin: Member, mara: User) -> None:
    first, second, third = open_ticket(selin, "one"), open_ticket(selin, "two", files=[AttachmentFile("a.png", b"PNG")]), strange()
    own_tickets.reply_to_ticket(member=selin, ticket=first, text="more of one", by=mara)
    for ticket in (first, second):
        links.add_link(ticket=ticket, kind="members.member", object_id=selin.pk, by=mara)
    services.change_ticket(ticket=second, version=now(second).version, facts=services.TicketFacts("open", 4, mara, ["nat"]), by=mara)
    Ticket.objects.filter(pk=first.pk).update(state="waiting")
    before = merging.preview_merge(into=now(first), tickets=[now(second), now(third)])
    assert (before.messages, before.files, before.unheard, before.shown_to) == (2, 1, ["eve@example.org"], "Selin Kaya")
    merging.merge_tickets(into=first, tickets=[second, third], by=mara)
    assert words(first) == ["one?", "two?", "Hello", "more of one"]
    one = now(first)
    assert (one.state, one.priority, one.assignee, one.tags) == ("open", 4, mara, ["nat", "strange"])
    assert [each.object_id for each in one.links.all()] == [selin.pk]
    assert [each.name for each in own_tickets.list_downloadable_attachments(selin)] == ["a.png"]
    assert {now(each).merged_into_id for each in (second, third)} == {first.pk} and now(second).state == "solved"
    assert (
        [each.pk for each in own_tickets.list_own_tickets(selin)]
        == [first.pk]
        == [each.pk for each in selectors.list_ticket_with_number(f"#{third.pk}")]
    )
    assert any("merged into" in str(entry.changes).lower() for entry in list_row_history(second))


def test_messages_stand_in_the_order_in_which_they_were_written_whatever_their_ticket(selin: Member, mara: User) -> None:
    first, second = open_ticket(selin, "one"), open_ticket(selin, "two")
    Message.objects.filter(ticket=second).update(at=timezone.now() - timedelta(days=1))
    merging.merge_tickets(into=first, tickets=[second], by=mara)
    assert words(first) == ["two?", "one?"] == [each.text for each in own_tickets.list_messages(first)]


def test_mails_to_a_merged_ticket_arrive_in_the_one_it_points_to(selin: Member, mara: User) -> None:
    first, second = open_ticket(selin, "one"), open_ticket(selin, "two")
    sent = answer_ticket(second, mara)
    merging.merge_tickets(into=first, tickets=[second], by=mara)
    assert comes("by address", to=sent.reply_to).ticket_id == first.pk
    assert comes("by reference", refers=(sent.message_id,)).ticket_id == first.pk
    assert (
        comes("by the mail to staff", refers=(mail.Message.objects.filter(template="ticket_new").latest("id").message_id,)).ticket_id
        == first.pk
    )
    assert services.add_note(ticket=second, text="on an old page", by=mara).ticket_id == first.pk
    assert not Message.objects.filter(ticket=second).exists()


def test_what_was_merged_is_taken_apart_again_and_what_came_since_stays(selin: Member, mara: User) -> None:
    first, second, third = open_ticket(selin, "one"), open_ticket(selin, "two"), strange()
    links.add_link(ticket=third, kind="members.member", object_id=selin.pk, by=mara)
    merging.merge_tickets(into=second, tickets=[third], by=mara)
    merging.merge_tickets(into=first, tickets=[second], by=mara)
    assert now(third).merged_into_id == first.pk
    assert [each.object_id for each in first.links.all()] == [selin.pk]
    comes("since", to=answer_ticket(first, mara).reply_to)
    inner, outer = Move.objects.order_by("id")
    with pytest.raises(Problem, match=f"#{second.pk} was merged into #{first.pk} since"):
        merging.undo_merge(move=inner, by=mara)
    merging.undo_merge(move=outer, by=mara)
    assert (words(first), words(second)) == (["one?", "Which port?", "since"], ["two?", "Hello"])
    assert (now(second).merged_into, now(second).state, now(third).merged_into_id) == (None, "open", second.pk)
    merging.undo_merge(move=inner, by=mara)
    assert (words(third), now(third).member, third.links.count()) == (["Hello"], None, 1)
    with pytest.raises(Conflict):
        merging.undo_merge(move=inner, by=mara)


def test_a_first_answer_counts_for_the_merged_ticket_as_long_as_it_stands_there(selin: Member, mara: User) -> None:
    first, second = open_ticket(selin, "one"), open_ticket(selin, "two")
    answer_ticket(second, mara)
    merging.merge_tickets(into=first, tickets=[second], by=mara)
    assert now(first).first_answered_at == now(second).first_answered_at is not None
    merging.undo_merge(move=Move.objects.get(), by=mara)
    assert now(first).first_answered_at is None and now(second).first_answered_at is not None


@pytest.mark.parametrize("wrong", ["itself", "nothing", "another's", "twice", "a member's into nobody's", "too many tags"])
def test_an_impossible_merge_is_refused_with_its_reason(selin: Member, mara: User, wrong: str) -> None:
    into, other = open_ticket(selin, "one"), open_ticket(selin, "two")
    if wrong == "twice":
        merging.merge_tickets(into=into, tickets=[other], by=mara)
    if wrong == "too many tags":
        Ticket.objects.filter(pk=into.pk).update(tags=[f"a{each}" for each in range(9)])
        Ticket.objects.filter(pk=other.pk).update(tags=[f"b{each}" for each in range(9)])
    elses = {
        "itself": [into],
        "nothing": [],
        "another's": [open_ticket(factories.member("Jonas", user=factories.user("jonas", staff=False)), "three")],
    }
    target = strange() if wrong == "a member's into nobody's" else into
    with pytest.raises(Problem):
        merging.merge_tickets(into=target, tickets=elses.get(wrong, [other]), by=mara)
    assert Move.objects.count() == (1 if wrong == "twice" else 0)


def test_the_database_knows_no_chains_no_loops_and_nothing_merged_into_itself(selin: Member) -> None:
    first, second, third = (open_ticket(selin, each) for each in ("one", "two", "three"))
    Ticket.objects.filter(pk=second.pk).update(merged_into=first, state="solved")
    refused = ((third, second), (first, third), (third, third))
    for source, target in refused:
        with pytest.raises(IntegrityError), transaction.atomic(), connection.constraint_checks_disabled():
            Ticket.objects.filter(pk=source.pk).update(merged_into=target, state="solved")
    with pytest.raises(IntegrityError), transaction.atomic():
        Ticket.objects.filter(pk=third.pk).update(merged_into=first, state="open")


def test_split_off_messages_are_a_ticket_of_their_own_and_answers_to_them_arrive_there(selin: Member, mara: User) -> None:
    ticket = open_ticket(selin, "one")
    stays = answer_ticket(ticket, mara, "To the first")
    own_tickets.reply_to_ticket(member=selin, ticket=ticket, text="And another thing", by=mara)
    goes = answer_ticket(ticket, mara, "To the other")
    chosen = list(ticket.messages.order_by("id"))[2:]
    made = splitting.split_ticket(ticket=ticket, messages=[each.pk for each in chosen], subject="Another thing", same_member=True, by=mara)
    assert (words(ticket), words(made)) == (["one?", "To the first"], ["And another thing", "To the other"])
    assert (made.member, made.split_from, made.state, made.assignee) == (selin, ticket, "waiting", mara)
    assert comes("by reference", refers=(goes.message_id,)).ticket_id == made.pk
    assert comes("to the old address", to=goes.reply_to, refers=(stays.message_id, goes.message_id)).ticket_id == made.pk
    assert comes("to what stayed", to=goes.reply_to, refers=(stays.message_id,)).ticket_id == ticket.pk
    assert comes("to nothing", to=goes.reply_to).ticket_id == ticket.pk
    other = open_ticket(selin, "two")
    merging.merge_tickets(into=other, tickets=[made], by=mara)
    assert comes("after merging", to=goes.reply_to, refers=(goes.message_id,)).ticket_id == other.pk


def test_a_stranger_reaches_no_other_ticket_by_naming_its_messages(selin: Member, mara: User) -> None:
    mine, another = open_ticket(selin, "one"), strange()
    named = answer_ticket(another, mara)
    assert comes("look here", to=answer_ticket(mine, mara).reply_to, refers=(named.message_id,)).ticket_id == mine.pk


def test_whoever_wants_no_mails_of_answers_is_no_stranger_in_the_own_ticket(selin: Member, mara: User) -> None:
    ticket = open_ticket(selin, "one")
    address = answer_ticket(ticket, mara).reply_to
    mail.SwitchedOff.objects.create(address=SELIN, notice="answers")
    assert comes("It is I", to=address).verified
    assert not comes("It is I, too", to=address, sender="eve@example.org").verified


@pytest.mark.parametrize("wrong", ["none", "all", "of another"])
def test_a_split_leaves_no_ticket_empty(selin: Member, mara: User, wrong: str) -> None:
    ticket, other = open_ticket(selin, "one"), open_ticket(selin, "two")
    services.add_note(ticket=ticket, text="note", by=mara)
    everything = list(ticket.messages.values_list("pk", flat=True))
    chosen = {"none": [], "all": everything, "of another": [*everything[:1], other.messages.get().pk]}[wrong]
    with pytest.raises(Problem):
        splitting.split_ticket(ticket=ticket, messages=chosen, subject="Another", same_member=True, by=mara)
    assert Ticket.objects.count() == 2


def test_messages_split_off_to_nobody_are_no_longer_the_members(selin: Member, mara: User) -> None:
    ticket = open_ticket(selin, "one")
    strangers = comes("It is I", to=answer_ticket(ticket, mara).reply_to, sender="eve@example.org")
    made = splitting.split_ticket(ticket=ticket, messages=[strangers.pk], subject="Who?", same_member=False, by=mara)
    assert (made.member, made.address, made.state) == (None, "eve@example.org", "open")
    assert "It is I" not in [each.text for each in own_tickets.list_messages(ticket)]


def test_staff_merges_undoes_and_splits_on_the_pages(selin: Member, mara: User) -> None:
    client, first, second = signed_in(mara), open_ticket(selin, "one"), open_ticket(selin, "two")
    page = text(client.get(f"/tickets/merge/?ticket={second.pk}&ticket={first.pk}&more=%23{strange().pk}"))
    assert f"Everything moves to #{first.pk}" in page and "2 messages are added" in page and "eve@example.org gets no more answers" in page
    given = {"ticket": [first.pk, second.pk], "into": first.pk}
    assert client.post("/tickets/merge/", given)["Location"] == f"/tickets/{first.pk}/"
    assert client.post("/tickets/merge/", given).status_code == 422
    moved = client.get(f"/tickets/{second.pk}/", follow=True)
    assert f"#{second.pk} two was merged into this ticket." in text(moved) and "two?" in text(moved)
    assert selin.user
    member = signed_in(selin.user)
    assert member.get(f"/me/tickets/{second.pk}/")["Location"] == f"/me/tickets/{first.pk}/"
    assert member.post(f"/me/tickets/{second.pk}/", {"text": "written on an old page"})["Location"] == f"/me/tickets/{first.pk}/"
    assert words(first)[-1] == "written on an old page"
    jonas = factories.member("Jonas", user=factories.user("jonas", staff=False)).user
    assert jonas and signed_in(jonas).get(f"/me/tickets/{second.pk}/").status_code == 404
    first.messages.latest("id").delete()
    assert text(client.get("/tickets/")).count('name="pick"') == 2
    client.post(f"/tickets/merges/{Move.objects.get().pk}/undo/")
    assert words(second) == ["two?"]
    services.add_note(ticket=first, text="note", by=mara)
    [_asked, noted] = first.messages.order_by("id")
    assert "one?" in text(client.get(f"/tickets/{first.pk}/split/"))
    assert client.post(f"/tickets/{first.pk}/split/", {"subject": "Other"}).status_code == 422
    done = client.post(f"/tickets/{first.pk}/split/", {"subject": "Other", "messages": [noted.pk], "whose": "same"}, follow=True)
    assert f"Split from #{first.pk}" in text(done) and "Split off: #" in text(client.get(f"/tickets/{first.pk}/"))


def test_scripts_merge_undo_and_split(selin: Member, mara: User) -> None:
    _token, key = tokens.create_token(user=mara, name="script")
    api = Client(headers={"authorization": f"Bearer {key}"})
    first, second = open_ticket(selin, "one"), open_ticket(selin, "two")

    def post(path: str, given: object = None) -> Any:
        return api.post(f"/api/tickets/tickets/{path}/", given or {}, content_type="application/json")

    assert post(f"{first.pk}/merge", {"tickets": [first.pk]}).status_code == 400
    assert post(f"{first.pk}/merge", {"tickets": [10**9]}).status_code == 400
    merged = post(f"{first.pk}/merge", {"tickets": [second.pk]})
    assert (merged.status_code, merged.json()["id"]) == (200, first.pk)
    assert api.get(f"/api/tickets/tickets/{second.pk}/").json()["merged_into"] == first.pk
    message = second.messages.model.objects.get(text="two?").pk
    assert post(f"{second.pk}/unmerge").json()["merged_into"] is None
    assert post(f"{second.pk}/unmerge").status_code == 400
    post(f"{first.pk}/merge", {"tickets": [second.pk]})
    made = post(f"{first.pk}/split", {"messages": [message], "subject": "Two again", "same_member": False})
    assert (made.status_code, made.json()["split_from"], made.json()["member"]) == (201, first.pk, None)


def test_an_answer_in_a_merged_ticket_names_the_whole_thread(selin: Member, mara: User) -> None:
    first, second = open_ticket(selin, "one"), open_ticket(selin, "two")
    before = answer_ticket(second, mara)
    merging.merge_tickets(into=first, tickets=[second], by=mara)
    assert before.message_id in answer_ticket(first, mara, "Later").references
