"""Erasure removes every trace of a member. Data is planted through the services, then every column of every table is searched for it."""

import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.utils import timezone

from apps.accounts import invitations, tokens
from apps.accounts.models import User
from apps.audit.models import Enquiry
from apps.bans.blocks.services import block_member
from apps.bans.blocks.services import lift_block as lift_block
from apps.bans.models import BanList
from apps.desk.lifecycle import due
from apps.inbound_mail import dispatcher as inbound
from apps.inbound_mail import services as arriving
from apps.inbound_mail.models import Arrival
from apps.inbound_mail.parse_limits import ParseLimits
from apps.inbound_mail.parser_process import MailReader
from apps.mail import models as mail
from apps.mail.services import switch_notice_off
from apps.members import invitation_services
from apps.members import services as people
from apps.members.forms import build_initial
from apps.members.models import Member
from apps.nat.pinholes.services import add_pinhole
from apps.nat.services import add_forward
from apps.status.subscriptions import services as subscriptions
from apps.status.subscriptions.models import Subscription
from apps.tickets import own_tickets, services, splitting
from apps.tickets.attachments import AttachmentFile
from apps.tickets.models import Ticket
from apps.traffic.rates.services import limit_member
from apps.webhooks import delivery_gathering
from apps.webhooks import services as webhooks
from tests import factories

NAME, EMAIL, EARLIER, PHONE, MAC = (
    "Xaverius Quitzow", "xaverius@quitzow.example", "former@quitzow.example", "0160-5550199", "52:54:00:9a:9b:9c",
)  # fmt: skip
MARKS = ("xaver", "quitzow", PHONE, "5550199", MAC, MAC.replace(":", ""))
MX = "mx.lindenhof.example"
# Columns that keep data after an erasure, with the reason (docs/members.md). The test fails if one of them keeps none.
EXCEPTIONS = {
    ("audit_enquiry", "reason"): "who asked about an address, and why, is kept so that nobody can change it",
    ("pghistory_context", "metadata"): "the reason that staff gave for a change is the change's record",
    ("lib_keptanswer", "body"): "answers for repeated requests are kept for a day",
    ("tickets_canned", "text_en"): "what staff writes where no member is meant",
    ("tickets_cannedevent", "text_en"): "its history",
    ("bans_ban", "comment"): "what staff writes of an address",
    ("bans_banevent", "comment"): "its history",
}


def find_marks() -> dict[tuple[str, str], int]:
    """Return the number of rows with a mark, by table and column. Searches octets raw and decompressed, and decoded sessions."""
    marks = [f"%{mark}%" for mark in MARKS]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.table_name, c.column_name, c.data_type FROM information_schema.columns c JOIN information_schema.tables t"
            " USING (table_schema, table_name) WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1, 2"
        )
        columns = cursor.fetchall()
        hits: dict[tuple[str, str], int] = {}
        for table, column, kind in columns:
            if kind == "bytea":
                cursor.execute(f'SELECT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL')
                number = sum(_has_mark(bytes(octets)) for (octets,) in cursor.fetchall())
            else:
                cursor.execute(f'SELECT count(*) FROM "{table}" WHERE "{column}"::text ILIKE ANY (%s)', [marks])
                number = cursor.fetchone()[0]
            if number:
                hits[table, column] = number
    assert len(columns) > 500, "it looks at everything"
    if any(_has_mark(str(session.get_decoded()).encode()) for session in Session.objects.all()):
        hits["django_session", "session_data"] = 1
    return hits


def _has_mark(octets: bytes) -> bool:
    return any(mark in text for text in _readings(octets) for mark in MARKS)


def _readings(octets: bytes) -> Iterator[str]:
    yield octets.decode("utf-8", "replace").casefold()
    with suppress(zlib.error):
        yield zlib.decompress(octets).decode("utf-8", "replace").casefold()


def bring(octets: bytes, sender: str) -> Arrival:
    row = arriving.store_arrival(octets=octets, way=Arrival.Way.LMTP, sender=sender, recipients=["support@lindenhof.example"])
    take = inbound.find_mail_handler()
    assert take
    with MailReader(ParseLimits(seconds=60), MX) as reader:
        inbound.receive_mail(take, reader)
    return row


def letter(sender: str, number: int, **headers: str) -> bytes:
    more = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in headers.items())
    passed = f"Authentication-Results: {MX}; dmarc=pass header.from={sender.rpartition('@')[2]}\n"
    head = f"{passed}From: {NAME} <{sender}>\nTo: support@lindenhof.example\nSubject: Quitzow asks\n{more}"
    return f"{head}Message-ID: <{number}@quitzow.example>\n\nI am {NAME}, call me: {PHONE}, my device is {MAC}\n".encode()


def plant_member(network: factories.Network, admin: User) -> Member:
    """Return a member with data everywhere: from pages, mail, API, history and webhooks, and in notices to others."""
    webhooks.add_webhook(facts=webhooks.EndpointFacts(name="all", url="https://hooks.lindenhof.example/"), by=admin)
    bring(letter(EMAIL, 1), EMAIL)
    arriving.store_arrival(octets=letter(EMAIL, 2), way=Arrival.Way.LMTP, sender=EMAIL, recipients=[EMAIL], reason="looked at by hand")
    invitations.create_invitation(email=EARLIER, roles=["member"], by=admin)
    resident = network.residents["m1"]
    member = resident.member
    user = User.objects.create_user(f"{NAME.split()[1]}-1", EMAIL, "a long passphrase", first_name="Xaverius", last_name="Quitzow")
    for email in (EARLIER, EMAIL):
        member.refresh_from_db()
        facts = {name: value for name, value in build_initial(member).items() if name != "version"}
        facts |= {"name": NAME, "email": email, "note": f"phone {PHONE}"}
        people.change_member(member=member, version=member.version, facts=people.MemberFacts(**facts), by=admin)
        member.refresh_from_db()
        made = invitation_services.invite_member(member=member, by=admin)
        switch_notice_off(address=email, notice="quota")
        subscribe_to_status(email.upper())
    invitation_services.accept_member_invitation(invitation_services.OpenedInvitation(made, EMAIL), user=user)
    _on_the_network(member, resident, network, admin)
    _in_sessions(user, member)
    _in_tickets(member, user, network, admin)
    return member


def subscribe_to_status(address: str) -> None:
    """Ask for mails about the status on the public page, and confirm them by the link in the mail."""
    subscriptions.ask_for_subscription(address=address, language="en")
    subscriptions.confirm_subscription(subscription=Subscription.objects.get(address=address))


def _on_the_network(member: Member, resident: factories.Resident, network: factories.Network, admin: User) -> None:
    device = people.add_device(member=member, name="Quitzow's laptop", mac=MAC, by=admin)
    people.remove_device(device=device, by=admin)
    people.add_device(member=member, name="Quitzow's phone", mac=MAC, by=admin)
    given: dict[str, Any] = {"protocol": "tcp", "public_port": 44321, "private_port": 22, "purpose": "Quitzow's server"}
    add_forward(holding=resident.holding, public=resident.mapping.public, by=admin, **given)
    inside = ip_address(int(resident.prefix.prefix.network_address) + 0x51)
    add_pinhole(holding=resident.prefix, address=inside, protocol="tcp", port=44322, purpose="Quitzow's pinhole", by=admin)
    lift_block(block=block_member(member=member, reason="abuse", message="Quitzow, close it", note=f"called {PHONE}", by=admin), by=admin)
    limit_member(member=member, up_kbit=1000, down_kbit=1000, reason="congestion", note="Quitzow knows", by=admin)


def _in_sessions(user: User, member: Member) -> None:
    client = Client(headers={"user-agent": f"Quitzow's browser {PHONE}"})
    assert client.post("/account/login/", {"login": EMAIL, "password": "a long passphrase"}).status_code == 302
    client.get("/me/")
    tokens.create_token(user=user, name="Quitzow's script")


def _in_tickets(member: Member, user: User, network: factories.Network, admin: User) -> None:
    member.refresh_from_db()
    asked = own_tickets.open_own_ticket(
        member=member, subject="Quitzow asks", text=f"{PHONE}", files=[AttachmentFile("quitzow.txt", NAME.encode())], by=user
    )
    services.add_note(ticket=asked, text=f"Quitzow called from {PHONE}", by=admin)
    services.answer_ticket(ticket=asked, text=f"Hello {NAME}", by=admin)
    message = own_tickets.reply_to_ticket(member=member, ticket=asked, text=f"It is {NAME} again", by=user)
    splitting.split_ticket(ticket=asked, messages=[message.pk], subject="Quitzow's other thing", same_member=False, by=admin)
    sent = mail.Message.objects.filter(to=EMAIL, template="ticket_answer").latest("id")
    bring(letter(EMAIL, 3, In_Reply_To=sent.message_id), EMAIL)
    other = network.residents["m2"].member
    theirs = services.write_to(member=other, subject="Hello", text="How is it?", by=admin)
    Member.objects.filter(pk=other.pk).update(email="other@lindenhof.example")
    services.answer_ticket(ticket=theirs, text="And now?", by=admin)
    bring(letter(EMAIL, 4, In_Reply_To=mail.Message.objects.get(to="other@lindenhof.example").message_id), EMAIL)
    bring(letter(EARLIER, 5), "bounces@quitzow.example")


def plant_exceptions(admin: User) -> None:
    """Plant the data that an erasure keeps on purpose."""
    script = Client(
        headers={"authorization": f"Bearer {tokens.create_token(user=admin, name='s')[1]}", "x-change-reason": "Quitzow asked for it"}
    )
    given = {"name": "Hello", "text_de": "Hallo", "text_en": "As we told Quitzow"}
    answer = script.post("/api/tickets/canned/", given, content_type="application/json", headers={"idempotency-key": "one"})
    assert answer.status_code == 201, answer.content
    ban = {"list": BanList.objects.create(name="own").pk, "prefix": "203.0.113.9", "comment": "Quitzow's old server"}
    answer = script.post("/api/bans/bans/", ban, content_type="application/json")
    assert answer.status_code == 201, answer.content
    Enquiry.objects.create(by=admin, address="198.51.100.7", reason="Quitzow is asked for", at=timezone.now())


@pytest.mark.django_db(transaction=True)
def test_nothing_of_somebody_who_was_erased_is_left_but_what_is_kept_on_purpose(network: factories.Network, settings: LazySettings) -> None:
    settings.SUPPORT_ADDRESS, settings.MAIL_IN_AUTHSERV_ID, settings.ERASE_DAYS = "support@lindenhof.example", MX, 3
    admin = network.admin
    User.objects.filter(pk=admin.pk).update(email="mara@lindenhof.example")
    plant_exceptions(admin)
    subscribe_to_status("neighbour@lindenhof.example")
    member = plant_member(network, admin)
    delivery_gathering.gather_deliveries()
    before = find_marks()
    assert {table for table, _column in before} >= {
        "status_subscription",
        "members_member",
        "tickets_words",
        "webhooks_delivery",
        "inbound_arrival",
        "mail_message",
    }
    people.end_membership(member=member, by=admin)
    delivery_gathering.gather_deliveries()
    due.carry_out_due_changes(timezone.now() + timedelta(days=15))
    assert Member.objects.get(pk=member.pk).erased_at is not None
    delivery_gathering.gather_deliveries()
    left = find_marks()
    assert [f"{place}: {number}" for place, number in left.items() if place not in EXCEPTIONS] == []
    assert set(left) == set(EXCEPTIONS), "an exception that nothing is found in is none"
    assert Ticket.objects.filter(member=network.residents["m2"].member, subject="Hello").exists(), "others keep what is theirs"
    assert [each.address for each in Subscription.objects.all()] == ["neighbour@lindenhof.example"]
