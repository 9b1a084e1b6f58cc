"""Health of inbound mail: an outage is reported with what to do and ends by itself; mail that the database cannot store says why."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from apps.desk.needs.collection import list_attention_items
from apps.inbound_mail import dispatcher, mailbox_health, services
from apps.inbound_mail.message import ReceivedMail
from apps.inbound_mail.models import Arrival, Mailbox
from apps.inbound_mail.parser_process import MailReader
from apps.tickets import selectors
from apps.tickets.mail_handler import handle_mail
from apps.tickets.models import Ticket
from tests import factories
from tests.db.page_client import signed_in, text
from tests.malformed_mail import mail
from workers.inbound_mail import fetch_mail

PLACE = "support@imap.example.org:993/INBOX"


@pytest.fixture(autouse=True)
def _mailbox(settings: LazySettings, db: None) -> None:
    settings.MAIL_IN_IMAP, settings.MAIL_IN_PASSWORD = "imaps://support@imap.example.org/INBOX", "x"


def keys() -> set[str]:
    return {need.key for need in list_attention_items(timezone.now())} & {"mailbox", "unread"}


def test_an_outage_is_told_after_ten_minutes_with_its_reason_and_the_last_success_and_ends_by_itself() -> None:
    client, now = signed_in(factories.user()), timezone.now()
    mailbox_health.record_mailbox_run(place=PLACE, error="", now=now - timedelta(minutes=20))
    mailbox_health.record_mailbox_run(place=PLACE, error="refused", now=now - timedelta(minutes=12))
    mailbox_health.record_mailbox_run(place=PLACE, error="Connection timed out", now=now)
    assert mailbox_health.find_mailbox_outage(now - timedelta(minutes=5)) is None
    found = mailbox_health.find_mailbox_outage(now)
    assert found == mailbox_health.MailboxOutage(PLACE, now - timedelta(minutes=12), now - timedelta(minutes=20), "Connection timed out")
    assert keys() == {"mailbox"}
    page = text(client.get("/mail/in/"))
    assert "has not been fetched completely since" in page and "Connection timed out" in page and "Last fetched" in page
    mailbox_health.record_mailbox_run(place=PLACE, error="", now=timezone.now())
    assert keys() == set() and "has not been fetched" not in text(client.get("/mail/in/"))


def test_a_mailbox_at_which_nobody_looks_is_an_outage_too_and_another_mailbox_is_not(settings: LazySettings) -> None:
    now = timezone.now()
    mailbox_health.record_mailbox_run(place=PLACE, error="", now=now - timedelta(minutes=30))
    assert mailbox_health.find_mailbox_outage(now) == mailbox_health.MailboxOutage(
        PLACE, now - timedelta(minutes=30), now - timedelta(minutes=30), ""
    )
    settings.MAIL_IN_IMAP = "imaps://other@imap.example.org/INBOX"
    assert mailbox_health.find_mailbox_outage(now) is None
    mailbox_health.record_mailbox_run(place="other@imap.example.org:993/INBOX", error="no", now=now)
    assert Mailbox.objects.get().succeeded is None
    settings.MAIL_IN_IMAP = ""
    assert mailbox_health.find_mailbox_outage(now + timedelta(days=1)) is None


def test_each_look_of_a_worker_is_written_down(settings: LazySettings) -> None:
    settings.MAIL_IN_IMAP = "imap://support@127.0.0.1:1/INBOX"
    fetch_mail()
    assert Mailbox.objects.get().failing and "refused" in Mailbox.objects.get().error


def test_mail_that_nobody_reads_is_told() -> None:
    made = services.store_arrival(octets=mail(), way=Arrival.Way.LMTP, sender="a@example.org", recipients=["support@lindenhof.example"])
    assert keys() == set()
    Arrival.objects.filter(pk=made.pk).update(arrived=timezone.now() - timedelta(minutes=11))
    assert keys() == {"unread"}
    assert "1 mail has been waiting since" in text(signed_in(factories.user()).get("/mail/in/?state=waiting"))


def store_mail(body: bytes) -> Arrival:
    octets = b"From: selin@lindenhof.example\nSubject: Long\nMessage-ID: <%s@example.org>\n\n%s\n" % (uuid4().hex.encode(), body)
    return services.store_arrival(
        octets=octets, way=Arrival.Way.LMTP, sender="selin@lindenhof.example", recipients=["support@lindenhof.example"]
    )


def test_what_the_database_cannot_hold_is_in_quarantine_with_the_databases_reason() -> None:
    made = store_mail(b"Hello")

    def too_much(_arrival: Arrival, _mail: ReceivedMail) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT to_tsvector('simple', (SELECT string_agg(md5(n::text), ' ') FROM generate_series(1, 60000) n))")

    with MailReader() as reader:
        done = dispatcher.receive_mail(too_much, reader)
    row = Arrival.objects.get(pk=made.pk)
    assert (done.quarantined, row.state, row.tries) == (1, "quarantined", 1)
    assert row.reason == dispatcher.NOT_TAKEN and "too long for tsvector" in row.detail

    def lost(_arrival: Arrival, _mail: ReceivedMail) -> None:
        raise OperationalError("the connection was closed")

    store_mail(b"Again")
    with MailReader() as reader, pytest.raises(OperationalError):
        dispatcher.receive_mail(lost, reader)


def test_a_text_of_any_length_is_filed_and_found_by_what_stands_at_its_beginning(settings: LazySettings) -> None:
    settings.SUPPORT_ADDRESS = "support@lindenhof.example"
    words = " ".join(["Anfang", *(uuid4().hex for _each in range(28_000)), "Ende"])
    made = store_mail(words.encode())
    with MailReader() as reader:
        dispatcher.receive_mail(handle_mail, reader)
    assert Arrival.objects.get(pk=made.pk).state == "taken"
    ticket = Ticket.objects.get()
    assert [each.pk for each in selectors.search_tickets("anfang", 5)] == [ticket.pk] and selectors.search_tickets("ende", 5) == []
