"""Tickets and canned answers in the API."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts import tokens
from apps.mail.models import Message as Mail
from apps.tickets import services
from apps.tickets.models import Canned, Ticket
from tests import factories
from tests.api_responses import wrong

TICKETS, CANNED = "/api/tickets/tickets/", "/api/tickets/canned/"


@pytest.fixture
def api(network: factories.Network) -> Client:
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


@pytest.fixture
def ticket(network: factories.Network) -> Ticket:
    member = factories.member("Selin Kaya", email="selin@lindenhof.example")
    return services.open_ticket(subject="No IPv6", text="Since yesterday.", member=member, by=network.admin)


def post(api: Client, path: str, given: object = None) -> Any:
    return api.post(path, given or {}, content_type="application/json")


def test_a_ticket_is_taken_noted_answered_and_solved(api: Client, ticket: Ticket, network: factories.Network) -> None:
    path = f"{TICKETS}{ticket.pk}/"
    assert post(api, f"{path}take/").json()["assignee"] == network.admin.pk
    assert post(api, f"{path}note/", {"text": "Prefix is missing."}).status_code == 201
    mails = Mail.objects.count()
    answered = post(api, f"{path}answer/", {"text": "It is back.", "solved": True})
    assert (answered.status_code, answered.json()["kind"]) == (201, "answer")
    assert Mail.objects.count() == mails + 1
    assert api.get(path).json()["state"] == "solved"
    thread = api.get(f"{path}messages/").json()
    assert [(each["kind"], each["text"]) for each in thread] == [
        ("member", "Since yesterday."),
        ("note", "Prefix is missing."),
        ("answer", "It is back."),
    ]


def test_many_tickets_are_changed_at_once_and_a_late_change_is_refused(api: Client, ticket: Ticket) -> None:
    given = [{"id": ticket.pk, "priority": 4, "tags": ["ipv6"], "version": ticket.version}]
    changed = api.patch(TICKETS, given, content_type="application/json")
    assert (changed.status_code, changed.json()[0]["priority"], changed.json()[0]["tags"]) == (200, 4, ["ipv6"])
    assert api.patch(TICKETS, given, content_type="application/json").status_code == 412


def test_staff_writes_to_a_member_first(api: Client, ticket: Ticket) -> None:
    made = post(api, f"{TICKETS}write/", {"member": ticket.member_id, "subject": "Moving", "text": "On Monday."})
    assert (made.status_code, made.json()["state"], made.json()["member"]) == (201, "waiting", ticket.member_id)
    assert list(wrong(post(api, f"{TICKETS}write/", {"member": ticket.member_id, "subject": "Moving"}))) == ["text"]


def test_a_token_of_one_member_reaches_only_that_member_s_tickets(ticket: Ticket, network: factories.Network) -> None:
    other = network.residents["m1"].member
    _token, key = tokens.create_token(user=network.admin, name="script", member=other.pk)
    api = Client(headers={"authorization": f"Bearer {key}"})
    assert api.get(TICKETS).json()["results"] == []
    assert api.get(f"{TICKETS}{ticket.pk}/messages/").status_code == 404
    assert post(api, f"{TICKETS}write/", {"member": ticket.member_id, "subject": "x", "text": "y"}).status_code == 403
    assert Ticket.objects.count() == 1


def test_kept_answers_are_added_changed_and_removed(api: Client) -> None:
    given = {"name": "Hello", "text_de": "Hallo {name}", "text_en": "Hello {name}"}
    made = post(api, CANNED, given)
    assert made.status_code == 201
    assert list(wrong(post(api, CANNED, given))) == ["name"]
    assert list(wrong(post(api, CANNED, given | {"name": "Other", "text_en": "{code}"}))) == ["text_en"]
    path = f"{CANNED}{made.json()['id']}/"
    assert api.patch(path, {"name": "Moin", "version": 1}, content_type="application/json").json()["name"] == "Moin"
    assert api.patch(path, {"name": "Late", "version": 1}, content_type="application/json").status_code == 409
    assert api.delete(path).status_code == 204
    assert not Canned.objects.exists()
