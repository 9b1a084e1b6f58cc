"""Search for tickets by words in two languages, pages without gaps, and canned answers."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User
from apps.lib.errors import Conflict, Problem
from apps.members.models import Member
from apps.tickets import canned, searching, selectors, services
from apps.tickets.models import Canned, Message, Ticket
from apps.tickets.selectors import STATES, TicketFilter
from tests import factories
from tests.db.page_client import signed_in, text


@pytest.fixture
def mara(db: None) -> User:
    return factories.user("mara")


@pytest.fixture
def selin(db: None) -> Member:
    return factories.member(language="de")


def ticket(member: Member, subject: str, *words: str, **given: Any) -> Ticket:
    made = Ticket.objects.create(subject=subject, member=member, **given)
    for each in words:
        Message.objects.create(ticket=made, kind="member", via="mail", text=each)
    return made


def list_found(mara: User, **asked: str) -> list[str]:
    return [each.subject for each in selectors.get_page(TicketFilter(**{"state": "all"} | asked), mara).tickets]


@pytest.fixture(params=["by the index", "one after the other"])
def search_strategy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Force one of the two ways of searching, which must find the same."""
    monkeypatch.setattr(searching, "FIRST", 1)
    monkeypatch.setattr(searching, "STEP", 2)
    monkeypatch.setattr(searching, "MANY", 99 if request.param == "by the index" else 0)
    monkeypatch.setattr(searching, "STEPS", 99)


@pytest.mark.usefixtures("search_strategy")
def test_words_are_found_in_both_languages_and_by_their_beginning(selin: Member, mara: User) -> None:
    ticket(selin, "Keine Verbindungen", "Der Router blinkt rot.")
    ticket(selin, "Slow connections", "It was running well", "nat-1 drops 198.51.100.7")
    for text_, subjects in {
        "Verbindung": ["Keine Verbindungen"],
        "connection": ["Slow connections"],
        "ROUTER": ["Keine Verbindungen"],
        "run": ["Slow connections"],
        "verbindu": ["Keine Verbindungen"],
        "router blin": ["Keine Verbindungen"],
        "verbindung or connection": ["Slow connections", "Keine Verbindungen"],
        "connection -running": [],
        "connection -blinkt": ["Slow connections"],
        "router -blinkt": [],
        "verbindungen router": ["Keine Verbindungen"],
        "drops running connection": ["Slow connections"],
        "verbindungen running": [],
        '"blinkt rot"': ["Keine Verbindungen"],
        '"rot blinkt"': [],
        '"well nat-1"': [],
        '"keine verbindungen der router"': [],
        "198.51.100.7": ["Slow connections"],
        "nonsense": [],
    }.items():
        assert list_found(mara, search=text_) == subjects, text_


@pytest.mark.parametrize(
    "asked", ["'", "a:*b", "& | !", "((", '"open', "\\", "%s", "-", "the", "  ", "🙂", "x" * 200, "':*", "a\n\tb", "<->"]
)
def test_whatever_is_typed_is_a_search(selin: Member, mara: User, asked: str) -> None:
    ticket(selin, "Router", "the router")
    page = signed_in(mara).get("/tickets/", {"q": asked})
    assert page.status_code == 200
    assert (
        signed_in(mara).get("/tickets/", {"q": asked, "after": "1_2", "tag": asked[:30], "whose": asked, "state": asked}).status_code == 200
    )


def test_a_number_is_the_ticket_itself(selin: Member, mara: User) -> None:
    made = ticket(selin, "Router")
    assert list_found(mara, search=f"#{made.pk}") == list_found(mara, search=str(made.pk)) == ["Router"]
    assert list_found(mara, search=f"#{made.pk + 1}") == []


@pytest.mark.usefixtures("search_strategy")
def test_pages_follow_each_other_without_gaps_whatever_is_asked(selin: Member, mara: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors, "PER_PAGE", 3)
    for number in range(20):
        state = list(Ticket.State.values)[number % 4]
        owner = mara if number % 3 else None
        ticket(selin, f"Router {number}", state=state, priority=1 + number % 2, tags=["nat"] if number % 5 else [], assignee=owner)
    for asked in ({"state": state, "search": search} for state in STATES for search in ("", "router")):
        for more in ({}, {"whose": "mine"}, {"whose": "nobody", "tag": "nat"}):
            wanted, seen, after = TicketFilter(**asked | more), list[int](), ""
            every = {each.pk for each in selectors.filter_tickets(wanted, mara)}
            while True:
                page = selectors.get_page(wanted, mara, after)
                seen += [each.pk for each in page.tickets]
                if not page.next:
                    break
                after = page.next
            assert len(seen) == len(set(seen)) and set(seen) == every, (asked, more)


def test_the_urgent_come_first_and_then_what_has_waited_longest(selin: Member, mara: User) -> None:
    for subject, priority in (("old", 2), ("urgent", 4), ("new", 2)):
        ticket(selin, subject, priority=priority)
    assert list_found(mara, state="ours") == ["urgent", "old", "new"]


def test_a_list_of_solved_tickets_counts_none_of_them(selin: Member, mara: User) -> None:
    ticket(selin, "x", state="solved")
    client = signed_in(mara)
    client.get("/")
    with CaptureQueriesContext(connection) as captured:
        page = text(client.get("/tickets/?state=solved"))
    counted = [each["sql"] for each in captured if "COUNT" in each["sql"] and '"tickets_ticket"' in each["sql"]]
    assert "</span> x</a>" in page and all("NOT" in each and "solved" in each for each in counted)


def test_how_long_the_first_answer_took_is_said(selin: Member, mara: User) -> None:
    made = services.open_ticket(subject="x", text="x", member=selin, by=mara)
    assert selectors.compute_first_answers() == selectors.FirstAnswers(None, 1)
    services.answer_ticket(ticket=made, text="y", by=mara)
    services.write_to(member=selin, subject="x", text="x", by=mara)
    times = selectors.compute_first_answers()
    assert times.median is not None and times.median > 0 and times.unanswered == 0


def test_a_canned_answer_is_filled_in_in_the_language_of_whoever_asked(selin: Member, mara: User) -> None:
    made = ticket(selin, "{name} {{ 7|add:1 }} {me.password}")
    kept = canned.add_canned_answer(name="Hallo", text_de="Hallo {name}, {ticket} {subject}\n{me}", text_en="Hello {name}", by=mara)
    client = signed_in(mara)
    page = client.post(f"/tickets/{made.pk}/", {"do": "canned", "canned": kept.pk, "text": "Vorher"})
    filled = f"Vorher\n\nHallo Selin Kaya, #{made.pk} {{name}} {{{{ 7|add:1 }}}} {{me.password}}\nMara Lindqvist"
    assert page.context["form"].initial["text"] == filled and not Message.objects.filter(ticket=made).exists()
    Member.objects.filter(pk=selin.pk).update(language="en")
    assert canned.fill_canned_answer(kept, Ticket.objects.get(pk=made.pk), mara) == "Hello Selin Kaya"
    for nothing in ("", "x", "999999"):
        assert client.post(f"/tickets/{made.pk}/", {"do": "canned", "canned": nothing, "text": "Vorher"}).status_code == 200


def test_a_placeholder_that_nobody_can_fill_in_is_refused(mara: User) -> None:
    for wrong in ("{password}", "{name.user}", "{ name }", "{}", "{{name!r}}"):
        with pytest.raises(Problem) as refused:
            canned.add_canned_answer(name="x", text_de="x", text_en=f"Hello {wrong}", by=mara)
        assert refused.value.fieldname == "text_en" and "{subject}" in str(refused.value)
    for missing in ({"name": " "}, {"text_de": ""}, {"text_en": "\n"}):
        with pytest.raises(Problem):
            canned.add_canned_answer(**({"name": "x", "text_de": "x", "text_en": "x"} | missing), by=mara)


def test_canned_answers_are_kept_changed_and_removed_on_their_pages(mara: User) -> None:
    client, given = signed_in(mara), {"name": "Hallo", "text_de": "Hallo", "text_en": "Hello"}
    assert "No canned answers yet" in text(client.get("/tickets/canned/"))
    client.post("/tickets/canned/add/", given)
    [kept] = Canned.objects.all()
    assert client.post("/tickets/canned/add/", given).status_code == 422
    assert client.post(f"/tickets/canned/{kept.pk}/", given | {"text_en": "{x}", "version": 1}).status_code == 422
    client.post(f"/tickets/canned/{kept.pk}/", given | {"name": "Moin", "version": 1})
    late = client.post(f"/tickets/canned/{kept.pk}/", given | {"version": 1})
    assert late.status_code == 422 and 'name="version" value="2"' in text(late)
    with pytest.raises(Conflict):
        canned.change_canned_answer(canned=kept, version=1, by=mara, **given)
    assert "Moin" in text(client.get("/tickets/canned/")) and "Remove “Moin”?" in text(client.get(f"/tickets/canned/{kept.pk}/remove/"))
    client.post(f"/tickets/canned/{kept.pk}/remove/")
    assert not Canned.objects.exists()
