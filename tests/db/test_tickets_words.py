"""The search words of a thread, which triggers of the database keep current however the thread is written."""

from importlib import import_module
from typing import Any

import pytest
from django.db import connection, transaction

from apps.accounts.models import User
from apps.desk.lifecycle import erasing
from apps.members.models import Member
from apps.tickets import merging, own_tickets, selectors, services, splitting
from apps.tickets.models import Message, Move, Ticket, Words
from apps.tickets.selectors import TicketFilter
from tests import factories

LIMITS = import_module("migrations.tickets.0001_initial")


@pytest.fixture
def mara(db: None) -> User:
    return factories.user("mara")


@pytest.fixture
def selin(db: None) -> Member:
    return factories.member(user=factories.user("selin", staff=False))


def open_ticket(member: Member, subject: str, text: str) -> Ticket:
    assert member.user
    return own_tickets.open_own_ticket(member=member, subject=subject, text=text, by=member.user)


def list_found(mara: User, search: str) -> list[int]:
    return [each.pk for each in selectors.get_page(TicketFilter("all", search=search), mara).tickets]


def words(ticket: Ticket) -> tuple[int, str]:
    return Words.objects.values_list("characters", "search").get(ticket=ticket)


def read_thread(ticket: Ticket) -> tuple[Any, ...]:
    """Return the words as computed from the whole thread."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT characters, search::text FROM tickets_words_in(%s)", [ticket.pk])
        return tuple(cursor.fetchone())


def test_words_of_subject_answer_and_note_find_the_ticket_together(selin: Member, mara: User) -> None:
    ticket = open_ticket(selin, "Keine Verbindungen", "Seit gestern.")
    services.answer_ticket(ticket=ticket, text="Which router is it?", by=mara)
    services.add_note(ticket=ticket, text="Maybe the switch in the cellar.", by=mara)
    assert list_found(mara, "verbindung gestern router cellar") == [ticket.pk]
    assert list_found(mara, "verbindung gestern router attic") == []
    assert words(ticket) == read_thread(ticket)


def test_a_phrase_does_not_go_from_one_message_to_the_next(selin: Member, mara: User) -> None:
    ticket = open_ticket(selin, "x", "the red router")
    services.answer_ticket(ticket=ticket, text="blinks at night", by=mara)
    assert list_found(mara, '"router blinks"') == [] and list_found(mara, '"red router"') == list_found(mara, '"blinks at night"') == [
        ticket.pk
    ]


def test_merged_threads_are_one_and_taken_apart_they_are_two(selin: Member, mara: User) -> None:
    first, second = open_ticket(selin, "router", "blinks"), open_ticket(selin, "switch", "hums")
    merging.merge_tickets(into=first, tickets=[second], by=mara)
    assert list_found(mara, "router hums") == [first.pk] and list_found(mara, "switch hums") == []
    assert words(first) == read_thread(first) and words(second) == read_thread(second)
    merging.undo_merge(move=Move.objects.get(), by=mara)
    assert list_found(mara, "router hums") == [] and list_found(mara, "switch hums") == [second.pk]


def test_a_message_that_is_split_off_is_found_in_its_new_ticket(selin: Member, mara: User) -> None:
    first = open_ticket(selin, "router", "blinks")
    message = services.add_note(ticket=first, text="and the switch hums", by=mara)
    second = splitting.split_ticket(ticket=first, messages=[message.pk], subject="noise", same_member=True, by=mara)
    assert list_found(mara, "router hums") == [] and list_found(mara, "noise hums") == [second.pk]


def test_what_is_erased_is_in_no_words(selin: Member, mara: User) -> None:
    ticket = open_ticket(selin, "router", "blinks")
    Member.objects.filter(pk=selin.pk).update(state=Member.State.LEFT, left_at="2020-01-01T00:00Z")
    assert erasing.erase_member(selin)
    assert words(ticket) == (1, "")


def test_deleted_messages_are_found_no_more_and_deleted_tickets_leave_nothing(selin: Member, mara: User) -> None:
    ticket = Ticket.objects.create(subject="router", member=selin)
    Message.objects.bulk_create(Message(ticket=ticket, kind="member", via="mail", text=text) for text in ("blinks", "", "hums"))
    assert list_found(mara, "router blinks hums") == [ticket.pk] and words(ticket) == read_thread(ticket)
    ticket.messages.filter(text="hums").delete()
    assert list_found(mara, "router blinks") == [ticket.pk] and list_found(mara, "hums") == []
    ticket.delete()
    assert not Words.objects.exists()


def test_writing_changes_neither_version_nor_history_for_the_words(selin: Member, mara: User) -> None:
    ticket = open_ticket(selin, "router", "blinks")
    events = Ticket.pgh_event_model.objects.filter(pgh_obj_id=ticket.pk)  # type: ignore[attr-defined]
    before = Ticket.objects.get(pk=ticket.pk).version, events.count()
    services.add_note(ticket=ticket, text="hums", by=mara)
    assert (Ticket.objects.get(pk=ticket.pk).version, events.count()) == before


def test_the_words_of_a_message_that_is_only_marked_are_not_read_again(selin: Member) -> None:
    ticket = open_ticket(selin, "router", "blinks")
    Words.objects.filter(ticket=ticket).update(characters=7)
    Message.objects.filter(ticket=ticket).update(verified=False)
    assert words(ticket)[0] == 7
    Message.objects.filter(ticket=ticket).update(text="hums")
    assert words(ticket)[0] == len("routerhums")


def test_of_a_message_and_of_a_ticket_only_so_much_is_read(selin: Member, mara: User) -> None:
    ticket = open_ticket(selin, "router", "blinks")
    filling = "x " * (LIMITS.MESSAGE // 2 - 5)
    for number in range(LIMITS.THREAD // LIMITS.MESSAGE + 1):
        Message.objects.create(ticket=ticket, kind="note", author=mara, text=f"{filling}mark{number} {filling}behind{number}")
    last = LIMITS.THREAD // LIMITS.MESSAGE
    assert list_found(mara, "router mark0 mark1") == [ticket.pk] and list_found(mara, "behind0") == list_found(mara, f"mark{last}") == []
    assert words(ticket) == read_thread(ticket) and words(ticket)[0] == LIMITS.THREAD


@pytest.mark.parametrize(
    "made",
    [
        lambda n: "".join(chr(0x4E00 + (n * 7919 + each) % 20_000) + " " for each in range(9_000)),
        lambda n: " ".join(f"{chr(0x10400 + each % 40) * 300}{n}ings-{chr(0x10428) * 300}{each}ungen" for each in range(40)),
        lambda n: " ".join(f"a{n}.example/{each}/" + "x" * 200 for each in range(90)),
        lambda _n: "x" * 20_000,
        lambda _n: "'\\ ' a'b \\: 'c':1A,2 https://a.example/'%5C\\' " * 400,
        lambda _n: "𐐀" * 2040 + " " + "İ" * 2040,
    ],
    ids=["single signs", "stems of long words", "addresses of pages", "one word", "quotes", "capitals that grow"],
)
def test_no_text_keeps_a_ticket_from_being_written(selin: Member, mara: User, made: Any) -> None:
    ticket = open_ticket(selin, "router", "blinks")
    for number in range(12):
        with transaction.atomic():
            Message.objects.create(ticket=ticket, kind="note", author=mara, text=made(number))
    assert list_found(mara, "router blinks") == [ticket.pk] and words(ticket) == read_thread(ticket)
    ticket.messages.filter(text="blinks").update(text="hums")
    assert list_found(mara, "router hums") == [ticket.pk]
