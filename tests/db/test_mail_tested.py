"""Mail is seen to go out and to come in, on the page of the first steps."""

from collections.abc import Iterator

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.accounts.models import User
from apps.inbound_mail.models import Arrival
from apps.inbound_mail.services import store_arrival
from apps.mail.delivery import deliver_due_mails
from apps.mail.models import Message
from apps.mail.transport import build_mail_transport
from tests import factories
from tests.db.page_client import signed_in, text
from tests.fake_smtp import Post, SmtpWay, post

pytestmark = pytest.mark.django_db(transaction=True)

SERVER = {"tls": "", "user": "", "password": ""}
SUPPORT = "support@lindenhof.example"


@pytest.fixture
def box(settings: LazySettings) -> Iterator[Post]:
    """A mail server that the portal uses."""
    with post() as server:
        settings.MAIL_SERVER = {"host": "127.0.0.1", "port": server.server.port, **SERVER}
        yield server


@pytest.fixture
def mara(transactional_db: None) -> User:
    made = factories.user()
    User.objects.filter(pk=made.pk).update(email="mara@lindenhof.example")
    made.refresh_from_db()
    return made


@pytest.fixture
def client(mara: User) -> Client:
    return signed_in(mara)


def send(client: Client) -> str:
    return text(client.post("/setup/mail/", follow=True))


def test_a_test_mail_arrives_and_the_page_says_that_the_server_took_it(client: Client, box: Post) -> None:
    page = send(client)
    assert "The test mail to mara@lindenhof.example is in the outbox." in page
    assert "The test mail to mara@lindenhof.example waits for a worker since" in page
    deliver_due_mails(build_mail_transport())
    assert "Test mail from the portal of" in Message.objects.get().subject and len(box.taken) == 1
    assert "The mail server took the test mail to mara@lindenhof.example at" in text(client.get("/setup/"))


def test_the_page_says_what_the_server_answered(client: Client, box: Post) -> None:
    box.ways.append(SmtpWay.REFUSE)
    send(client)
    deliver_due_mails(build_mail_transport())
    assert "The mail server refused the test mail to mara@lindenhof.example: 5" in text(client.get("/setup/"))


def test_the_page_says_that_there_is_no_server(client: Client, settings: LazySettings) -> None:
    settings.MAIL_SERVER = {"host": "127.0.0.1", "port": 1, **SERVER}
    send(client)
    deliver_due_mails(build_mail_transport())
    assert "waits. The mail server says:" in text(client.get("/setup/"))


def test_one_test_mail_waits_at_a_time(client: Client) -> None:
    send(client)
    assert "still waits. Its answer appears here." in send(client)
    assert Message.objects.count() == 1


def test_an_account_without_an_address_is_told_so(client: Client, mara: User) -> None:
    User.objects.filter(pk=mara.pk).update(email="")
    assert "Your account has no mail address." in send(client)


def test_mail_in_names_the_address_to_write_to_and_says_when_a_mail_arrived(client: Client, settings: LazySettings) -> None:
    settings.SUPPORT_ADDRESS = ""
    assert "NETZWART_SUPPORT_ADDRESS is not set" in text(client.get("/setup/"))
    settings.SUPPORT_ADDRESS = SUPPORT
    assert f"Write a mail to {SUPPORT}. Its arrival appears here." in text(client.get("/setup/"))
    store_arrival(octets=b"Subject: Test\r\n\r\nHello\r\n", way=Arrival.Way.LMTP, sender="mara@lindenhof.example", recipients=[SUPPORT])
    page = text(client.get("/setup/"))
    assert "The last mail arrived at" in page and f"To test again, write to {SUPPORT}." in page
