"""Writing mail, the page of the outbox, and switching notices off."""

import re
from collections.abc import Iterator
from datetime import timedelta
from email import message_from_bytes, policy
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.conf import LazySettings
from django.core.mail import EmailMessage
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.translation import override

from apps.accounts.models import User
from apps.lib import enqueue
from apps.lib.errors import Conflict, Problem
from apps.mail import notice_kinds, selectors, services, unsubscribing
from apps.mail.bulk_mail import BulkMail, write_bulk_mails
from apps.mail.circuit_breaker import record_failure
from apps.mail.delivery import LEASE, claim_mail, deliver_due_mails
from apps.mail.mail_templates import PlainValue
from apps.mail.mime import compose_mail
from apps.mail.models import Message, SwitchedOff
from apps.mail.retention_sweep import erase_old_mail_content
from apps.mail.transport import FileMailTransport
from tests import factories
from tests.db.page_client import queries, signed_in, text
from tests.fake_smtp import post
from tests.whole.system import wait_for
from tests.whole.worker import broker, worker

SELIN = "selin@lindenhof.example"


@pytest.fixture(autouse=True)
def _a_kind(monkeypatch: pytest.MonkeyPatch, settings: LazySettings) -> None:
    """Register one kind of notice, and set the portal's address."""
    monkeypatch.setattr(notice_kinds, "_kinds", {"test": "Mails of these tests"})
    settings.PORTAL_URL = "https://portal.lindenhof.example"


def context(**changes: PlainValue) -> dict[str, PlainValue]:
    now = timezone.now()
    given: dict[str, PlainValue] = {
        "name": "Selin <b>",
        "share": 80,
        "used": 400_000_000_000,
        "quota": 500_000_000_000,
        "tariff": "Standard",
        "url": "https://x/",
    }
    return {**given, "since": now.date(), "until": now.date(), "at": now, **changes}


def notice(to: str = SELIN, language: str = "en", **changes: object) -> Message | None:
    given = {"to": to, "language": language, "template": "quota", "context": context(), "notice": "test"}
    return services.write_mail(**(given | changes))  # type: ignore[arg-type]  # mixed types


def write_message(**changes: object) -> Message:
    made = notice(**changes)  # type: ignore[arg-type]  # mixed types
    assert made
    return made


def test_many_mails_alike_are_written_once_each_in_few_queries(db: None) -> None:
    reader = factories.member()

    def build(numbers: range) -> list[BulkMail]:
        return [BulkMail(f"m{number}@lindenhof.example", "de", context(), reader, f"quota {number}") for number in numbers]

    first = write_bulk_mails(build(range(3)), template="quota", notice="test")
    with CaptureQueriesContext(connection) as captured:
        both = write_bulk_mails(build(range(40)), template="quota", notice="test")
    assert first.items() <= both.items() and len(captured) <= 6
    assert Message.objects.count() == 40 == Message.objects.filter(pk__in=both.values(), bulk=True, language="de").count()
    assert "Kontingents" in Message.objects.all()[0].subject
    with pytest.raises(Problem, match="not an e-mail address"):
        write_bulk_mails([BulkMail("at home", "de", context(), reader, "x"), *build(range(50, 60))], template="quota", notice="test")
    with pytest.raises(ValueError, match="Unknown kind"):
        write_bulk_mails(build(range(60, 61)), template="quota", notice="unheard")
    assert Message.objects.count() == 40


def test_a_mail_is_in_its_readers_language_and_the_same_at_every_try(db: None) -> None:
    with override("en"):
        german = write_message(language="de")
    english = write_message()
    assert (german.subject, english.subject) == ("80\u202f% deines Kontingents sind verbraucht", "80\u202f% of your traffic quota is used")
    assert "400\u202fGB" in english.text and "Selin <b>" in english.text and "Selin &lt;b&gt;" in english.html
    assert "src=" not in german.html and 'lang="de"' in german.html
    row = Message.objects.get(pk=german.pk)
    assert compose_mail(row) == compose_mail(Message.objects.get(pk=german.pk))
    read = message_from_bytes(compose_mail(row), policy=policy.default)
    assert (read["Message-ID"], read["Auto-Submitted"], read["To"]) == (row.message_id, "auto-generated", SELIN)
    assert read["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    unfolded = re.search(rb"^List-Unsubscribe: <(https://portal[^>]+)>\r$", compose_mail(row), re.MULTILINE)
    assert unfolded and unfolded[1].decode() == unsubscribing.build_unsubscribe_link(SELIN, "test")


def test_a_mail_is_written_with_what_it_tells_of_or_not_at_all_and_nothing_is_said_twice(db: None) -> None:
    member = factories.member()
    with pytest.raises(Problem), transaction.atomic():
        write_message(about=member, key="a")
        write_message(to="nobody")
    assert not Message.objects.exists()
    first = write_message(about=member, key="a")
    assert (first.about_type, first.about_id) == ("members.member", member.pk)
    assert notice(key="a") is None
    assert write_message(key="b").pk != first.pk


def test_an_address_is_one_address_and_a_subject_one_line(db: None) -> None:
    for address in ("", "a", "a@b@c", f"{SELIN}\r\nBcc: other@example.org", f"{SELIN}, other@example.org"):
        with pytest.raises(Problem, match="not an e-mail address"):
            write_message(to=address)
    made = services.put_in_outbox(Message(to=SELIN, language="en", subject="a\r\nBcc: b@example.org", text="t", sender="n@l.example"))
    assert made and b"Bcc" not in compose_mail(write_message())
    with pytest.raises(ValueError, match="line"):
        compose_mail(made)


def test_a_worker_is_woken_once_for_all_that_a_transaction_wrote(transactional_db: None, settings: LazySettings) -> None:
    woken: list[str] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(services, "send_task", woken.append)
        with transaction.atomic():
            write_message(), write_message()
            with pytest.raises(ZeroDivisionError), transaction.atomic():
                raise ZeroDivisionError(write_message())
            assert woken == []
        assert (woken, Message.objects.count()) == (["workers.send_mail"], 2)
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            raise ZeroDivisionError(write_message())
    assert (len(woken), Message.objects.count(), len(connection.run_on_commit)) == (1, 2, 0)


def test_djangos_own_mail_goes_into_the_outbox_confidential_and_urgent(db: None, settings: LazySettings, tmp_path: Path) -> None:
    settings.MAILERS = {"default": {"BACKEND": "apps.mail.backend.Outbox"}}
    with override("de"):
        assert EmailMessage("Code", "123456", "Portal <p@l.example>", [SELIN, "ines@lindenhof.example"]).send() == 1
    first, second = Message.objects.order_by("id")
    assert (first.to, first.sender, first.language, first.urgent, first.confidential) == (SELIN, "Portal <p@l.example>", "de", True, True)
    assert first.message_id != second.message_id
    with pytest.raises(ValueError, match="neither copies nor attachments"):
        EmailMessage("Code", "1", to=[SELIN], bcc=["other@example.org"]).send()
    admin = signed_in(factories.user())
    assert "123456" not in text(admin.get(f"/mail/{first.pk}/"))
    deliver_due_mails(FileMailTransport(tmp_path))
    first.refresh_from_db()
    assert (first.state, first.text) == ("sent", ""), "what opens an account is kept no longer than it is needed"
    assert first.erased


def test_what_mails_said_is_erased_and_that_they_were_sent_is_kept(db: None, tmp_path: Path) -> None:
    write_message()
    deliver_due_mails(FileMailTransport(tmp_path))
    waiting = write_message()
    now = timezone.now()
    assert (
        erase_old_mail_content(now - timedelta(days=1), 10),
        erase_old_mail_content(now + timedelta(days=1), 10),
        erase_old_mail_content(now + timedelta(days=1), 10),
    ) == (
        0,
        1,
        0,
    )
    sent = Message.objects.get(state="sent")
    assert (sent.text, sent.html, sent.to, bool(sent.subject)) == ("", "", SELIN, True)
    assert Message.objects.get(pk=waiting.pk).text


def test_a_notice_is_switched_off_by_one_click_without_signing_in_and_on_again(db: None) -> None:
    row, stranger = write_message(), Client(enforce_csrf_checks=True)
    link = row.unsubscribe.removeprefix("https://portal.lindenhof.example")
    assert "Switch these mails off?" in text(stranger.get(link)) and "Mails of these tests" in text(stranger.get(link))
    assert not SwitchedOff.objects.exists(), "a look alone, as scanners do, changes nothing"
    for _twice in range(2):
        assert "Switched off" in text(stranger.post(link, {"List-Unsubscribe": "One-Click"}))
    assert SwitchedOff.objects.get().address == SELIN
    row.refresh_from_db()
    assert (row.state, row.ended_by) == ("discarded", None)
    with pytest.raises(Problem, match="switched such mails off"):
        services.retry_mail(message=row, by=factories.user())
    assert notice() is None and notice(to=SELIN.upper()) is None
    assert notice(to="ines@lindenhof.example") and notice(notice="")
    assert "Switched on again" in text(stranger.post(link, {"on": "1"}))
    assert notice()


def test_a_link_that_is_not_ours_switches_nothing_off(db: None) -> None:
    link = write_message().unsubscribe.removeprefix("https://portal.lindenhof.example")
    other = unsubscribing.build_unsubscribe_link("ines@lindenhof.example", "test").removeprefix("https://portal.lindenhof.example")
    mixed = f"{other.rsplit(':', 1)[0]}:{link.rsplit(':', 1)[1]}"
    unnamed = unsubscribing.build_unsubscribe_link(SELIN, "gone").removeprefix("https://portal.lindenhof.example")
    for path in (mixed, "/mail/off/x/", unnamed):
        answer = Client().post(path, {"List-Unsubscribe": "One-Click"})
        assert (answer.status_code, "This link does not work" in text(answer)) == (404, True)
    assert not SwitchedOff.objects.exists()
    with pytest.raises(ValueError, match="Unknown kind of notice"):
        notice(notice="gone")


@pytest.fixture
def admin(db: None) -> Iterator[User]:
    yield factories.user()


def test_the_outbox_says_what_waits_and_why_and_staff_try_again_or_discard(admin: User) -> None:
    client = signed_in(admin)
    assert "Nothing waits" in text(client.get("/mail/"))
    failed, waiting = write_message(), write_message(to="ines@lindenhof.example")
    Message.objects.filter(pk=failed.pk).update(state="failed", ended=timezone.now(), error="550 Nobody of this name")
    assert "550 Nobody" in text(client.get("/mail/?state=failed")) and SELIN not in text(client.get("/mail/?q=ines"))
    assert "No match" in text(client.get("/mail/?q=zoe"))
    assert "1 mail failed" in text(client.get("/"))
    assert "It failed for good" in text(client.get(f"/mail/{failed.pk}/"))
    client.post(f"/mail/{failed.pk}/again/")
    failed.refresh_from_db()
    assert (failed.state, failed.ended) == ("waiting", None)
    assert client.post(f"/mail/{waiting.pk}/discard/", {"reason": ""}).status_code == 422
    assert client.post(f"/mail/{waiting.pk}/discard/", {"reason": "sent by hand"}).status_code == 302
    assert "Mara Lindqvist: sent by hand" in text(client.get(f"/mail/{waiting.pk}/"))
    assert signed_in(factories.user("hannah", roles=["helpdesk"])).post(f"/mail/{failed.pk}/again/").status_code == 403


def test_what_a_worker_has_in_hand_or_was_sent_is_neither_discarded_nor_tried_again(admin: User, tmp_path: Path) -> None:
    row = write_message()
    assert claim_mail(timezone.now())
    with pytest.raises(Conflict, match="being sent"):
        services.retry_mail(message=row, by=admin)
    with pytest.raises(Conflict, match="being sent"):
        services.discard_mail(message=row, reason="r", by=admin)
    assert "being sent at this moment" in text(signed_in(admin).get(f"/mail/{row.pk}/"))
    deliver_due_mails(FileMailTransport(tmp_path), lambda: timezone.now() + LEASE)
    with pytest.raises(Conflict, match="was sent"):
        services.retry_mail(message=row, by=admin)
    with pytest.raises(Conflict, match="was sent"):
        services.discard_mail(message=row, reason="r", by=admin)


def test_mail_that_does_not_leave_is_told_of_on_the_dashboard(admin: User) -> None:
    client, now = signed_in(admin), timezone.now()
    write_message()
    assert selectors.summarize_late_mails(now) is None
    Message.objects.update(written=now - timedelta(minutes=11))
    assert "1 mail is stuck in the outbox" in text(client.get("/")) and "check that a worker sends mail" in text(client.get("/"))
    record_failure("Connection refused", now)
    assert "Connection refused" in text(client.get("/"))
    assert "The mail server has accepted no mail since" in text(client.get("/mail/"))


def test_the_pages_of_the_outbox_take_as_many_queries_for_many_mails_as_for_few(admin: User) -> None:
    client = signed_in(admin)
    write_message()
    few = queries(client, "/mail/")
    for number in range(20):
        write_message(to=f"m{number}@lindenhof.example")
    assert queries(client, "/mail/") == few


@pytest.mark.django_db(transaction=True)
def test_a_mail_leaves_at_once_through_a_broker_and_a_worker(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with post() as box, TemporaryDirectory(prefix="nw-") as directory, broker(Path(directory)) as settings.REDIS_URL:
        enqueue._get_publisher.cache_clear()
        monkeypatch.setenv("NETZWART_MAIL_SERVER", str(box.server))
        with worker(settings.REDIS_URL, tmp_path / "worker.log"):
            row = write_message(urgent=True)
            wait_for(lambda: Message.objects.get().state == "sent", seconds=60)
    enqueue._get_publisher.cache_clear()
    assert box.times() == {row.message_id: 1}
