"""Text of a stranger is shown with the sender's own address and without a member's name, in every place.

The places are found, not listed: every route, as staff and as the member, by session and by token; every mail, webhook and event.
"""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import Client

from apps.accounts import permission_matrix, tokens
from apps.accounts.models import User
from apps.events.models import Event
from apps.inbound_mail.message import MailAddress, ReceivedMail
from apps.inbound_mail.models import Arrival
from apps.mail import models as mail
from apps.members.models import Member
from apps.tickets import mail_handler, own_tickets, services
from apps.tickets.models import Message, Ticket
from apps.webhooks import delivery_gathering
from apps.webhooks import services as webhooks
from apps.webhooks.models import Delivery
from tests import factories
from tests.db.page_client import signed_in

NUMBER = 700_001  # first id of members, tickets and mails, filled into every route
NAME, ADDRESS, EVE = "Jonas Brandt", "jonas@lindenhof.example", "eve@evil.example"
REPLY, OPENING = "zanzibar reply", "madagascar opening"
BLOCK = re.compile(r"<(?:article|tr|li|section|dl|form|label|option)\b|</(?:article|tr|li|section|dl|form|label|option)>")
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)")
WORDS = {"form": "txt", "gateway": "nat-1", "format": "json", "key": "a-b", "name": "parts", "history": "0" * 32, "provider_id": "x"}


def letter(sender: str, text: str, **given: Any) -> ReceivedMail:
    facts: dict[str, Any] = {"message_id": f"<{text.split()[0]}@x>", "references": (), "subject": text, "text": text} | given
    return ReceivedMail(
        sender=MailAddress("", sender), reply_to=(), recipients=(MailAddress("", "support@lindenhof.example"),), date=None, html="",
        files=(), automatic=False, bounce=False, bounced_ids=(), **facts,
    )  # fmt: skip


@pytest.fixture
def mara(db: None) -> User:
    made = factories.user("mara")
    User.objects.filter(pk=made.pk).update(email="mara@lindenhof.example")
    made.refresh_from_db()
    return made


@pytest.fixture
def jonas(mara: User, settings: LazySettings) -> Member:
    """The member Jonas, with an answered ticket in which a stranger writes, and a ticket opened with the member's forged address.

    A webhook receives both.
    """
    settings.SUPPORT_ADDRESS, settings.MAIL_IN_AUTHSERV_ID = "support@lindenhof.example", "mx.lindenhof.example"
    with connection.cursor() as cursor:
        for table in ("members_member", "tickets_ticket"):
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {NUMBER}, false)")
    member = factories.member(NAME, email=ADDRESS, user=factories.user("jonas", staff=False))
    webhooks.add_webhook(facts=webhooks.EndpointFacts(name="all", url="https://hooks.lindenhof.example/"), by=mara)
    delivery_gathering.begin_positions()
    assert member.user
    ticket = own_tickets.open_own_ticket(member=member, subject="My line", text="It is slow", by=member.user)
    services.answer_ticket(ticket=ticket, text="Since when?", by=mara)
    sent = mail.Message.objects.get(to=ADDRESS)
    mail_handler.handle_mail(Arrival(), letter(EVE, REPLY, references=(sent.message_id,)))
    mail_handler.handle_mail(Arrival(), letter(ADDRESS, OPENING))
    delivery_gathering.gather_deliveries()
    return member


def paths(numbers: tuple[int, ...]) -> Iterator[str]:
    """Yield the path of each route, with each number in place of every id."""
    for route in permission_matrix.list_routes():
        for number in numbers if PARAMETER.search(route.path) else (0,):
            filled = PARAMETER.sub(lambda found, number=number: WORDS.get(found[1] or found[2], str(number)), route.path)  # type: ignore[misc]
            yield "/" + filled.replace("^", "").replace("$", "").replace("\\", "").replace("/?", "/").lstrip("/")


def iter_answers_with_words(clients: list[Client], numbers: tuple[int, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield path, content type and text of each answer that contains the stranger's words or those of the forged mail."""
    for path in dict.fromkeys(paths(numbers)):
        for client in clients:
            answer = client.get(path)
            if answer.status_code != 200 or answer.streaming:
                continue
            kind = answer["Content-Type"].partition(";")[0]
            for text in _unzip(answer.content) if kind == "application/zip" else [answer.content.decode(errors="replace")]:
                if "zanzibar" in text or "madagascar" in text:
                    yield path, kind, text


def _unzip(octets: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(octets)) as packed:
        return [packed.read(name).decode() for name in packed.namelist() if name.endswith(".json")]


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        yield from _objects(each)


def _is_honest_json(text: str) -> bool:
    found = [
        each for each in _objects(json.loads(text)) if any(isinstance(part, str) and part in (REPLY, OPENING) for part in each.values())
    ]
    ticket = [each.get("member") is None and each.get("address") == ADDRESS for each in found if "subject" in each]
    message = [each["sender"] in (EVE, ADDRESS) and each["verified"] is False for each in found if "subject" not in each]
    return bool(found) and all([*ticket, *message])


def _is_honest_page(html: str) -> bool:
    """True if each smallest block with the stranger's words names their address and not the member, and is marked as unverified."""
    shown = html.partition("</head>")[2].replace("<wbr>", "")
    blocks = [each for each in BLOCK.split(shown) if REPLY in each or f"<p>{OPENING}</p>" in each]
    return all((EVE if REPLY in each else ADDRESS) in each and "nverified sender" in each and NAME not in each for each in blocks)


@pytest.mark.django_db
def test_no_route_shows_a_strangers_words_without_the_strangers_address(jonas: Member, mara: User) -> None:
    numbers = (NUMBER, NUMBER + 1)
    assert list(Ticket.objects.order_by("pk").values_list("pk", "member")) == [(NUMBER, jonas.pk), (NUMBER + 1, None)]
    for number, template in zip(numbers, ("ticket_reply", "ticket_new"), strict=True):
        newest = mail.Message.objects.filter(template=template).latest("id")
        mail.Message.objects.filter(pk=newest.pk).update(id=number)
    assert jonas.user
    script = Client(headers={"authorization": f"Bearer {tokens.create_token(user=mara, name='s')[1]}"})
    found = list(iter_answers_with_words([signed_in(mara), script, signed_in(jonas.user)], numbers))
    wrong = [path for path, kind, text in found if not (_is_honest_page(text) if kind == "text/html" else _is_honest_json(text))]
    assert wrong == []
    assert {f"/tickets/{NUMBER}/", f"/me/tickets/{NUMBER}/", f"/mail/{NUMBER}/", f"/api/tickets/tickets/{NUMBER}/messages/"} <= {
        path for path, _kind, _text in found
    }


@pytest.mark.django_db
def test_no_mail_webhook_or_event_tells_a_strangers_words_under_a_members_name(jonas: Member, mara: User) -> None:
    assert not Message.objects.filter(text__in=(REPLY, OPENING), verified=True).exists()
    mails = [each for each in mail.Message.objects.all() if REPLY in each.text or OPENING in each.text]
    assert {each.template for each in mails} == {"ticket_reply", "ticket_new"}
    for each in mails:
        for words in (each.subject, each.text, each.html):
            assert "nverified sender" in words and (EVE if REPLY in each.text else ADDRESS) in words and NAME not in words
    told = [body for body in Delivery.objects.values_list("body", flat=True) if "madagascar" in str(body)]
    assert told and all(f'"member": {jonas.pk}' not in str(body) and NAME not in str(body) for body in told)
    assert set(Event.objects.filter(kind="ticket", object_id=NUMBER + 1).values_list("member_id", flat=True)) == {None}
