"""Bulk actions on tickets: one answer that each gets once, and changes of all of them."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.accounts import tokens
from apps.accounts.models import User
from apps.lib.errors import Problem
from apps.mail import models as mail
from apps.members.models import Member
from apps.tickets import bulk, merging, own_tickets
from apps.tickets.models import Bulk, BulkItem, Canned, Message, Ticket
from tests import factories
from tests.db.page_client import confirm_preview, list_messages, read_preview_mark, signed_in, text
from workers.tickets import answer_tickets


@pytest.fixture
def mara(db: None) -> User:
    return factories.user("mara")


@pytest.fixture
def tickets(db: None) -> list[Ticket]:
    """Tickets of a member who reads German, of one who reads English, and of one without an e-mail address."""
    people = (("Selin Kaya", "selin@lindenhof.example", "de"), ("Tunde", "tunde@lindenhof.example", "en"), ("Jonas", "", "en"))
    return [_open_ticket(factories.member(name, email=email, language=language)) for name, email, language in people]


def _open_ticket(member: Member) -> Ticket:
    member.user = factories.user(f"m{member.number}", staff=False)
    member.save()
    return own_tickets.open_own_ticket(member=member, subject=f"Of {member.name}", text="No network", by=member.user)


def now(tickets: list[Ticket]) -> list[Ticket]:
    return list(Ticket.objects.select_related("member", "assignee").filter(pk__in=[each.pk for each in tickets]).order_by("pk"))


def mails() -> dict[str, str]:
    return dict(mail.Message.objects.filter(template="ticket_answer").values_list("to", "text"))


def send(tickets: list[Ticket], by: User, **given: Any) -> Bulk:
    asked: dict[str, Any] = {
        "key": uuid4(),
        "text_de": "Hallo {name}, es geht wieder.",
        "text_en": "Hello {name}, it works again. {ticket}",
    } | given
    return bulk.answer_tickets(tickets=now(tickets), by=by, **asked)


def test_each_ticket_is_answered_once_in_its_readers_language(tickets: list[Ticket], mara: User) -> None:
    reached = bulk.compute_answer_reach(now(tickets))
    assert (reached.tickets, reached.by_mail, reached.on_page, reached.languages) == (3, 2, 1, {"de": 1, "en": 2})
    sent = send(tickets, mara, solved=True)
    assert send(tickets, mara, key=sent.key) == sent
    assert mails() == {}
    answer_tickets()
    answer_tickets()
    assert "Hallo Selin Kaya, es geht wieder." in mails()["selin@lindenhof.example"]
    assert f"Hello Tunde, it works again. #{tickets[1].pk}" in mails()["tunde@lindenhof.example"]
    assert len(mails()) == 2 and Message.objects.filter(kind="answer").count() == 3
    assert {(each.state, each.assignee) for each in now(tickets)} == {("solved", mara)}
    assert BulkItem.objects.exclude(message=None).count() == 3


def test_whoever_reads_the_other_language_gets_the_text_that_is_there(tickets: list[Ticket], mara: User) -> None:
    send(tickets, mara, text_de="")
    assert not bulk.send_pending_answers()
    assert "Hello Selin Kaya" in mails()["selin@lindenhof.example"]


def test_a_worker_that_stops_in_the_middle_leaves_the_rest_to_the_next(tickets: list[Ticket], mara: User) -> None:
    send(tickets, mara)
    assert bulk.send_pending_answers(2) and len(mails()) == 2
    assert not bulk.send_pending_answers(2) and Message.objects.filter(kind="answer").count() == 3


def test_who_is_left_out_is_named_with_the_reason(tickets: list[Ticket], mara: User) -> None:
    other = own_tickets.open_own_ticket(member=tickets[0].member, subject="Again", text="?", by=tickets[0].member.user)  # type: ignore[arg-type, union-attr]
    sent = send([*tickets, other], mara)
    merging.merge_tickets(into=tickets[0], tickets=[other], by=mara)
    bulk.send_pending_answers()
    assert {each.ticket_id: each.why for each in sent.items.exclude(why="")} == {other.pk: f"It was merged into #{tickets[0].pk}."}
    tomasz = factories.user("tomasz", roles=["helpdesk"])
    late = send(tickets, tomasz)
    User.objects.filter(pk=tomasz.pk).update(roles=["auditor"])
    bulk.send_pending_answers()
    assert late.items.filter(why__contains="may not answer tickets").count() == 3 and late.items.exclude(message=None).count() == 0


def test_whoever_switched_mails_of_answers_off_is_not_counted_among_those_who_get_one(tickets: list[Ticket], mara: User) -> None:
    mail.SwitchedOff.objects.create(address="SELIN@lindenhof.example", notice="answers")
    reached = bulk.compute_answer_reach(now(tickets))
    assert (reached.by_mail, reached.on_page, reached.languages) == (1, 2, {"de": 1, "en": 2})
    send(tickets, mara)
    bulk.send_pending_answers()
    assert set(mails()) == {"tunde@lindenhof.example"}
    assert "Hallo Selin Kaya" in Message.objects.get(ticket=tickets[0], kind="answer").text


def test_a_preview_of_more_tickets_asks_the_database_no_more(tickets: list[Ticket], mara: User) -> None:
    more = [_open_ticket(factories.member(f"Number {number}", email=f"m{number}@lindenhof.example", language="de")) for number in range(5)]
    client = signed_in(mara)

    def asks(those: list[Ticket]) -> int:
        given = {"do": "answer", "pick": [each.pk for each in those], "key": str(uuid4()), "state": "solved", "text_de": "Ja, {name}."}
        with CaptureQueriesContext(connection) as captured:
            assert f"Answer {len(those)} tickets" in text(client.post("/tickets/many/", given | {"text_en": ""}))
        return len(captured)

    asks(tickets)
    assert asks([*tickets, *more]) == asks(tickets)


def test_a_ticket_is_named_once_and_a_key_that_was_never_used_is_not_taken_for_one_that_was(tickets: list[Ticket], mara: User) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        bulk.answer_tickets(key=uuid4(), tickets=[*now(tickets), *now(tickets)], text_de="", text_en="Yes.", by=mara)
    assert not Bulk.objects.exists()


@pytest.mark.parametrize(
    ("given", "why"),
    [({"text_de": "", "text_en": " "}, "Write something"), ({"text_de": "Hallo {password}"}, "Unknown placeholders: {password}")],
)
def test_what_nobody_could_read_is_not_sent(tickets: list[Ticket], mara: User, given: dict[str, str], why: str) -> None:
    with pytest.raises(Problem, match=why):
        send(tickets, mara, **given)
    with pytest.raises(Problem):
        send([], mara)
    assert not Bulk.objects.exists()


def test_many_are_changed_at_once_and_those_that_are_so_already_stay(tickets: list[Ticket], mara: User) -> None:
    Ticket.objects.filter(pk=tickets[0].pk).update(state="solved", assignee=mara, tags=["nat", "old"])
    before = now(tickets)[0].version
    changes = bulk.TicketChanges(state="solved", assignee=(mara,), add=["NAT"], drop=[])
    assert [each.pk for each in bulk.list_affected(now(tickets), changes)] == [each.pk for each in tickets[1:]]
    assert bulk.change_tickets(tickets=now(tickets), changes=changes, by=mara) == 2
    assert now(tickets)[0].version == before
    assert bulk.change_tickets(tickets=now(tickets), changes=bulk.TicketChanges(assignee=(None,), drop=["nat"], priority=4), by=mara) == 3
    assert [(each.state, each.assignee, each.tags, each.priority) for each in now(tickets)] == [
        ("solved", None, ["old"], 4), ("solved", None, [], 4), ("solved", None, [], 4)
    ]  # fmt: skip
    for wrong in (
        bulk.TicketChanges(priority=9),
        bulk.TicketChanges(state="gone"),
        bulk.TicketChanges(assignee=(factories.user("m", staff=False),)),
    ):
        with pytest.raises(Problem):
            bulk.change_tickets(tickets=now(tickets), changes=wrong, by=mara)


def test_staff_answers_many_from_the_list_after_a_preview(tickets: list[Ticket], mara: User) -> None:
    client = signed_in(mara)
    kept = Canned.objects.create(name="Works", text_de="Geht, {name}.", text_en="Works, {name}.")
    page = text(client.get("/tickets/"))
    assert page.count('name="pick"') == 3 and "Select all 3" in page
    first = client.post("/tickets/many/", {"do": "answer", "all": "1"})
    assert "Answer 3 tickets" in text(first) and "2 answers are sent by mail" in text(first) and "Send 3 answers" not in text(first)
    given = {
        "do": "canned",
        "canned": kept.pk,
        "pick": [each.pk for each in tickets],
        "key": str(uuid4()),
        "state": "solved",
        "text_de": "",
    }
    assert "Works, {name}." in text(client.post("/tickets/many/", given | {"text_en": ""}))
    given |= {"do": "answer", "text_de": "Geht, {name}.", "text_en": "Works, {name}."}
    assert "Geht, Selin Kaya." in text(client.post("/tickets/many/", given)) and not Bulk.objects.exists()
    assert client.post("/tickets/many/", given | {"text_de": "{x}"}).status_code == 422
    where = {client.post("/tickets/many/", given | {"confirmed": "1"})["Location"] for _click in range(2)}
    assert where == {f"/tickets/many/{Bulk.objects.get().pk}/"}
    [progress] = where
    assert "0 of 3 are answered" in text(client.get(progress))
    bulk.send_pending_answers()
    assert "All are answered" in text(client.get(progress))


def test_staff_changes_and_merges_many_from_the_list(tickets: list[Ticket], mara: User) -> None:
    client, picks = signed_in(mara), [each.pk for each in tickets]
    page = text(client.post("/tickets/many/", {"do": "change", "pick": picks}))
    assert "Change 3 tickets" in page
    given = {"do": "change", "pick": picks[:2], "state": "", "priority": "4", "assignee": str(mara.pk), "add": "nat", "drop": ""}
    assert "Change 2 tickets" in text(client.post("/tickets/many/?state=all", given))
    done = confirm_preview(client, "/tickets/many/?state=all", given)
    assert [str(each) for each in list_messages(done)] == ["2 tickets are changed."]
    assert [each.priority for each in now(tickets)] == [4, 4, 2]
    where = client.post("/tickets/many/", {"do": "merge", "pick": picks})["Location"]
    assert where == f"/tickets/merge/?{'&'.join(f'ticket={pk}' for pk in picks)}"
    assert "Only tickets of the same member can be merged" in text(client.post("/tickets/merge/", {"ticket": picks}))


UNCHANGED = {"do": "change", "state": "", "priority": "", "assignee": "", "add": "", "drop": ""}


@pytest.mark.parametrize("entry", [{"priority": "4"}, {"assignee": "nobody"}, {"add": "nat"}, {"drop": "old"}, {"state": "waiting"}])
def test_what_is_entered_after_the_preview_of_a_change_is_previewed_first(tickets: list[Ticket], mara: User, entry: dict[str, str]) -> None:
    Ticket.objects.update(assignee=mara, tags=["old"])
    before = list(Ticket.objects.order_by("pk").values())
    given = UNCHANGED | {"pick": [each.pk for each in tickets], "state": "solved"}
    answer = confirm_preview(signed_in(mara), "/tickets/many/", given, **entry)
    assert answer.status_code == 422 and "The preview was made with other entries. Nothing was changed." in text(answer)
    assert "3 tickets change." in text(answer) and list(Ticket.objects.order_by("pk").values()) == before
    answer = confirm_preview(signed_in(mara), "/tickets/many/", given | entry)
    assert [str(each) for each in list_messages(answer)] == ["3 tickets are changed."]


def test_a_ticket_that_has_changed_after_the_preview_is_not_changed_with_the_others(tickets: list[Ticket], mara: User) -> None:
    client, given = signed_in(mara), UNCHANGED | {"pick": [each.pk for each in tickets], "state": "solved"}
    Ticket.objects.filter(pk=tickets[0].pk).update(state="solved")
    shown = read_preview_mark(client, "/tickets/many/", given)
    Ticket.objects.filter(pk=tickets[0].pk).update(state="waiting")
    answer = client.post("/tickets/many/", given | shown | {"confirmed": "1"})
    assert answer.status_code == 422 and "It would have another effect now than in the preview." in text(answer)
    assert "3 tickets change." in text(answer) and "solved" not in {each.state for each in now(tickets)}


def test_a_change_of_many_without_a_preview_gets_one(tickets: list[Ticket], mara: User) -> None:
    given = UNCHANGED | {"pick": [each.pk for each in tickets], "state": "solved", "confirmed": "1"}
    assert signed_in(mara).post("/tickets/many/", given).status_code == 422
    assert not Ticket.objects.filter(state="solved").exists()


def test_all_means_the_filter_where_it_can_be_done_at_once_else_the_page(tickets: list[Ticket], mara: User, monkeypatch: Any) -> None:
    client = signed_in(mara)
    Ticket.objects.filter(pk=tickets[0].pk).update(state="solved")
    assert "Answer 2 tickets" in text(client.post("/tickets/many/?state=ours", {"do": "answer", "all": "1", "pick": [tickets[1].pk]}))
    monkeypatch.setattr("apps.tickets.ticket_selection.MAX_TICKETS", 1)
    assert "Answer 1 ticket" in text(client.post("/tickets/many/?state=ours", {"do": "answer", "all": "1", "pick": [tickets[1].pk]}))


def test_scripts_answer_many_once_and_see_how_far_it_is(tickets: list[Ticket], mara: User) -> None:
    _token, key = tokens.create_token(user=mara, name="script")
    api = Client(headers={"authorization": f"Bearer {key}"})
    given = {"key": str(uuid4()), "tickets": [each.pk for each in tickets], "text_en": "It works again, {name}."}
    made = [api.post("/api/tickets/tickets/answer-many/", given, content_type="application/json") for _twice in range(2)]
    assert [each.status_code for each in made] == [202, 202] and made[0].json() == made[1].json()
    assert (made[0].json()["tickets"], made[0].json()["answered"]) == (3, 0)
    bulk.send_pending_answers()
    shown = api.get(f"/api/tickets/answers/{made[0].json()['id']}/").json()
    assert (shown["answered"], shown["left_out"]) == (3, [])
    wrong = api.post("/api/tickets/tickets/answer-many/", {"tickets": [10**9], "text_en": "x"}, content_type="application/json")
    assert wrong.status_code == 400
