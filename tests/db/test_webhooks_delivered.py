"""Delivery of webhooks: over real HTTPS, by a worker that is killed, and after the last try."""

import os
import signal
from collections import Counter
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import connection
from django.utils import timezone

from apps.accounts.models import User
from apps.lib import enqueue
from apps.lib.errors import Problem
from apps.mail.models import Message
from apps.webhooks import delivery_sender, services
from apps.webhooks.delivery_gathering import build_delivery
from apps.webhooks.models import Delivery, Endpoint
from apps.webhooks.services import EndpointFacts
from tests import factories
from tests.certificates import authority
from tests.db.page_client import signed_in, text
from tests.fake_http import serving_octets
from tests.webhook_receiver import Receiver, receiving
from tests.whole.system import wait_for
from tests.whole.worker import broker, worker


@pytest.fixture(autouse=True)
def _loopback(settings: LazySettings) -> None:
    settings.WEBHOOK_HTTP, settings.WEBHOOK_NETWORKS = False, [ip_network("127.0.0.0/8")]


def ping_endpoint(by: User, url: str, name: str = "Door") -> Delivery:
    endpoint, _secret = services.add_webhook(facts=EndpointFacts(name=name, url=url, kinds=["forward"]), by=by)
    return services.ping_webhook(endpoint=endpoint, by=by)


def sent_to(receiver: Receiver, by: User) -> Delivery:
    row = ping_endpoint(by, receiver.url)
    delivery_sender.send_due_deliveries()
    row.refresh_from_db()
    return row


# --- HTTPS


def test_a_delivery_over_https_arrives_where_the_certificate_is_of_a_known_authority(
    network: factories.Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(known.certificate))
    with receiving(tls=known.server("IP:127.0.0.1")) as receiver:
        row = sent_to(receiver, network.admin)
    assert receiver.url.startswith("https://") and (row.state, row.status, row.error) == ("sent", 200, "")
    assert [headers["X-Netzwart-Delivery"] for headers, _body in receiver.came] == [str(row.uid)]


def test_a_certificate_of_another_name_is_refused_before_anything_is_sent_and_the_page_says_why(
    network: factories.Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(known.certificate))
    with receiving(tls=known.server("DNS:hooks.example.org")) as receiver:
        row = sent_to(receiver, network.admin)
    assert receiver.came == [] and (row.state, row.status) == ("waiting", None)
    assert row.error == "certificate: 127.0.0.1: IP address mismatch, certificate is not valid for '127.0.0.1'."
    assert "certificate is not valid for &#x27;127.0.0.1&#x27;" in text(signed_in(network.admin).get(f"/webhooks/deliveries/{row.pk}/"))


def test_a_certificate_of_an_authority_that_nobody_knows_is_refused(network: factories.Network, tmp_path: Path) -> None:
    with receiving(tls=authority(tmp_path).server("IP:127.0.0.1")) as receiver:
        row = sent_to(receiver, network.admin)
    assert receiver.came == [] and row.error.startswith("certificate: 127.0.0.1: unable to get local issuer certificate")


def test_a_server_that_speaks_no_tls_is_not_sent_anything(network: factories.Network) -> None:
    with receiving() as receiver:
        row = ping_endpoint(network.admin, receiver.url.replace("http:", "https:"))
        delivery_sender.send_due_deliveries()
    row.refresh_from_db()
    assert receiver.came == [] and row.status is None and row.error == "unreachable: 127.0.0.1: TLS: wrong version number"


# --- A server that answers with anything


def test_an_answer_that_the_database_cannot_hold_counts_as_a_failed_try_and_others_are_sent(
    network: factories.Network, settings: LazySettings
) -> None:
    settings.WEBHOOK_HTTP = True
    with serving_octets(b"FOO\0BAR\r\n") as port, receiving() as receiver:
        bad, good = ping_endpoint(network.admin, f"http://127.0.0.1:{port}/"), ping_endpoint(network.admin, receiver.url, "Bell")
        assert not delivery_sender.send_due_deliveries()
    bad.refresh_from_db()
    good.refresh_from_db()
    assert (good.state, bad.state, bad.tries, bad.claimed_until) == ("sent", "waiting", 1, None)
    assert bad.error == "unreachable: 127.0.0.1: FOO\N{REPLACEMENT CHARACTER}BAR" and bad.due > timezone.now()
    assert Endpoint.objects.get(pk=bad.endpoint_id).failures == 1


def test_a_delivery_at_which_the_portal_itself_fails_counts_as_a_failed_try_and_others_are_sent(
    network: factories.Network, settings: LazySettings
) -> None:
    settings.WEBHOOK_HTTP = True
    _run("ALTER TABLE webhooks_delivery ADD CONSTRAINT bright CHECK (answer <> 'dull') NOT VALID")
    with receiving(text=b"dull") as dull, receiving(text=b"bright") as bright:
        bad, good = ping_endpoint(network.admin, dull.url), ping_endpoint(network.admin, bright.url, "Bell")
        assert not delivery_sender.send_due_deliveries()
    bad.refresh_from_db()
    good.refresh_from_db()
    assert (good.state, bad.state, bad.tries, bad.error) == ("sent", "waiting", 1, "broken: IntegrityError")
    assert Endpoint.objects.get(pk=bad.endpoint_id).failures == 1 and bad.due > timezone.now()
    page = text(signed_in(network.admin).get(f"/webhooks/deliveries/{bad.pk}/"))
    assert "The portal failed (IntegrityError); its log says more." in page


# --- A clock that was ahead


def test_a_delivery_from_while_the_clock_was_ahead_is_sent_when_it_is_right_again(
    network: factories.Network, settings: LazySettings
) -> None:
    settings.WEBHOOK_HTTP = True
    ahead = timezone.now() + timedelta(hours=2)
    with receiving(answers=[500, 200]) as receiver:
        row = ping_endpoint(network.admin, receiver.url)
        Delivery.objects.update(written=ahead, due=ahead)
        delivery_sender.send_due_deliveries(lambda: ahead)
        delivery_sender.send_due_deliveries()
        row.refresh_from_db()
        assert (row.state, row.tries, len(receiver.came)) == ("sent", 2, 2)


# --- A worker that is killed


@pytest.mark.django_db(transaction=True)
def test_a_worker_killed_in_the_middle_of_a_delivery_loses_nothing_and_the_next_one_sends_the_same_id(
    settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETZWART_WEBHOOK_HTTP", "1")
    monkeypatch.setenv("NETZWART_WEBHOOK_NETWORKS", "127.0.0.0/8")
    settings.WEBHOOK_HTTP = True
    network = factories.network()
    with broker(tmp_path) as url, receiving() as receiver:
        settings.REDIS_URL = url
        enqueue._get_publisher.cache_clear()
        receiver.before_answering = receiver.over.wait
        with worker(url, tmp_path / "first.log") as first:
            row = ping_endpoint(network.admin, receiver.url)
            wait_for(lambda: receiver.came)
            os.killpg(first.pid, signal.SIGKILL)
        row.refresh_from_db()
        assert (row.state, row.tries) == ("waiting", 1) and row.claimed_until is not None, "its lease holds it for a while"
        receiver.before_answering = lambda: None
        receiver.over.set()
        Delivery.objects.filter(pk=row.pk).update(claimed_until=timezone.now())  # as if the lease had ended
        with worker(url, tmp_path / "second.log", tick=1):
            wait_for(lambda: Delivery.objects.get(pk=row.pk).state == "sent")
    enqueue._get_publisher.cache_clear()
    first_body, second_body = (body for _headers, body in receiver.came)
    assert first_body == second_body
    assert [headers["X-Netzwart-Delivery"] for headers, _body in receiver.came] == [str(row.uid)] * 2


# --- After the last try


def tried_to_the_end(row: Delivery) -> None:
    """Try the delivery until it is given up, each time when it is due."""
    for _try in range(delivery_sender.GIVE_UP):
        row.refresh_from_db()
        at = max(row.due, timezone.now()) + delivery_sender.LONGEST_REST
        delivery_sender.send_due_deliveries(lambda at=at: at)  # type: ignore[misc]
    row.refresh_from_db()


@pytest.fixture
def given_up(network: factories.Network, settings: LazySettings) -> Delivery:
    """A delivery that was given up, to a server that answered 500 to every try."""
    settings.WEBHOOK_HTTP = True
    User.objects.filter(pk=network.admin.pk).update(email="mara@lindenhof.example", language="de")
    with receiving(answers=[500]) as receiver:
        row = ping_endpoint(User.objects.get(pk=network.admin.pk), receiver.url)
        tried_to_the_end(row)
        assert len(receiver.came) == delivery_sender.GIVE_UP
    return row


def test_after_the_last_try_a_delivery_is_given_up_and_no_further_one_is_made(given_up: Delivery) -> None:
    assert (given_up.state, given_up.tries, given_up.status) == ("failed", delivery_sender.GIVE_UP, 500) and given_up.ended
    delivery_sender.send_due_deliveries(lambda: timezone.now() + timedelta(days=30))
    given_up.refresh_from_db()
    assert given_up.tries == delivery_sender.GIVE_UP


def test_the_owner_is_told_once_in_their_language_with_a_link_to_the_webhook(given_up: Delivery) -> None:
    mail = Message.objects.get(about_type="webhooks.endpoint")
    assert (mail.to, mail.language) == ("mara@lindenhof.example", "de")
    assert f"/webhooks/{given_up.endpoint_id}/" in mail.text and str(delivery_sender.GIVE_UP) in mail.text


def test_pages_say_that_it_was_given_up(network: factories.Network, given_up: Delivery) -> None:
    User.objects.update(language="en")
    page = signed_in(network.admin)
    assert "It was given up after 12 tries." in text(page.get(f"/webhooks/deliveries/{given_up.pk}/"))
    assert "given up" in text(page.get(f"/webhooks/{given_up.endpoint_id}/"))
    assert "12 tries in a row failed." in text(page.get(f"/webhooks/{given_up.endpoint_id}/"))


def test_what_was_given_up_is_sent_again_at_once_under_the_same_id_though_the_webhook_rests(
    network: factories.Network, given_up: Delivery
) -> None:
    now = timezone.now()
    Endpoint.objects.update(rest_until=now + timedelta(minutes=5))
    with receiving() as receiver:
        Endpoint.objects.update(url=receiver.url)
        signed_in(network.admin).post(f"/webhooks/deliveries/{given_up.pk}/again/")
        delivery_sender.send_due_deliveries()
    given_up.refresh_from_db()
    assert (given_up.state, given_up.tries, Endpoint.objects.get().failures) == ("sent", 1, 0)
    assert [headers["X-Netzwart-Delivery"] for headers, _body in receiver.came] == [str(given_up.uid)]


def test_what_was_given_up_is_not_queued_while_the_webhook_is_paused(network: factories.Network, given_up: Delivery) -> None:
    Endpoint.objects.update(active=False)
    with pytest.raises(Problem, match="paused"):
        services.resend_delivery(delivery=given_up, by=given_up.endpoint.owner)
    given_up.refresh_from_db()
    assert given_up.state == "failed"


def test_a_worker_that_dies_in_the_last_try_does_not_keep_it_from_being_given_up(
    network: factories.Network, settings: LazySettings
) -> None:
    settings.WEBHOOK_HTTP = True
    with receiving(answers=[500]) as receiver:
        row = ping_endpoint(network.admin, receiver.url)
        Delivery.objects.filter(pk=row.pk).update(tries=delivery_sender.GIVE_UP - 1)
        now = timezone.now()
        assert delivery_sender.claim_delivery(now) is not None  # by a worker that dies then
        delivery_sender.send_due_deliveries(lambda: now + delivery_sender.LEASE)
    row.refresh_from_db()
    assert (row.state, row.tries) == ("failed", delivery_sender.GIVE_UP + 1)


def test_a_delivery_whose_owner_could_not_be_told_is_not_given_up_yet(network: factories.Network, settings: LazySettings) -> None:
    """The mail and the end of the delivery are one transaction. A worker that dies between them leaves neither."""
    settings.WEBHOOK_HTTP = True
    User.objects.update(email="mara@lindenhof.example")
    with receiving(answers=[500]) as receiver:
        row = ping_endpoint(User.objects.get(pk=network.admin.pk), receiver.url)
        Delivery.objects.filter(pk=row.pk).update(tries=delivery_sender.GIVE_UP - 1)
        _run("ALTER TABLE mail_message ADD CONSTRAINT no_mail CHECK (false) NOT VALID")
        delivery_sender.send_due_deliveries()
        _run("ALTER TABLE mail_message DROP CONSTRAINT no_mail")
        row.refresh_from_db()
        assert (row.state, Message.objects.count()) == ("waiting", 0)
        assert row.error == "broken: IntegrityError" and row.due > timezone.now()
        delivery_sender.send_due_deliveries(lambda: row.due)
    row.refresh_from_db()
    assert (row.state, Message.objects.count()) == ("failed", 1)


# --- A receiver that is gone


@pytest.fixture
def dead_end(network: factories.Network, settings: LazySettings) -> Endpoint:
    """A webhook whose receiver is gone, with a hundred deliveries that wait."""
    settings.WEBHOOK_HTTP = True
    User.objects.filter(pk=network.admin.pk).update(email="mara@lindenhof.example")
    with receiving() as gone:
        endpoint = ping_endpoint(User.objects.get(pk=network.admin.pk), gone.url).endpoint
    Delivery.objects.bulk_create([build_delivery(endpoint, {"event": "ping"}) for _number in range(99)])
    return endpoint


def try_for_hours(first: int, last: int) -> None:
    """Let a worker look every half an hour, from one hour from now until another."""
    now = timezone.now()
    for half in range(first * 2, last * 2):
        delivery_sender.send_due_deliveries(lambda half=half: now + timedelta(hours=half / 2))  # type: ignore[misc]


def count_states(endpoint: Endpoint) -> dict[str, int]:
    return dict(Counter(endpoint.deliveries.values_list("state", flat=True)))


def test_what_waits_for_a_receiver_that_is_gone_is_given_up_after_a_day_and_a_half_and_its_owner_is_told(
    network: factories.Network, dead_end: Endpoint
) -> None:
    fresh = build_delivery(dead_end, {"event": "ping"}, written=timezone.now() + timedelta(hours=20))
    fresh.save()
    try_for_hours(0, 36)
    assert (count_states(dead_end), Message.objects.count()) == ({"waiting": 101}, 0)
    try_for_hours(36, 38)
    assert count_states(dead_end) == {"failed": 100, "waiting": 1} and Delivery.objects.get(state="waiting").pk == fresh.pk
    assert "accepted nothing for a day and a half" in Message.objects.get(about_type="webhooks.endpoint").text
    untried = Delivery.objects.filter(state="failed", tries=0).earliest("pk")
    assert "The webhook accepted nothing for a day and a half." in text(signed_in(network.admin).get(f"/webhooks/deliveries/{untried.pk}/"))


def test_a_day_and_a_half_begins_anew_when_something_is_accepted_and_when_the_webhook_is_changed(
    dead_end: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery_sender, "MAX_DELIVERIES_PER_RUN", 1)
    try_for_hours(0, 30)
    with receiving() as back:
        Endpoint.objects.filter(pk=dead_end.pk).update(url=back.url)
        try_for_hours(30, 31)
    facts = EndpointFacts(name="Door", url=dead_end.url)
    Endpoint.objects.filter(pk=dead_end.pk).update(url=dead_end.url)
    try_for_hours(31, 65)
    services.change_webhook(endpoint=dead_end, version=1, facts=facts, by=dead_end.owner)
    try_for_hours(65, 100)
    assert count_states(dead_end) == {"waiting": 98, "sent": 2}
    try_for_hours(100, 103)
    assert count_states(dead_end) == {"failed": 98, "sent": 2}


def test_what_is_sent_again_to_a_receiver_that_is_gone_has_another_day_and_a_half(dead_end: Endpoint) -> None:
    try_for_hours(0, 38)
    again = dead_end.deliveries.filter(state="failed").earliest("pk")
    services.resend_delivery(delivery=again, by=dead_end.owner)
    try_for_hours(38, 70)
    again.refresh_from_db()
    assert (again.state, again.tries > 2) == ("waiting", True)


def _run(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)
