"""Ways in for mail: a pipe, LMTP and a mailbox. Acknowledged mail is stored; mail that is not stored stays with its sender."""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from smtplib import LMTP
from subprocess import PIPE, Popen, run
from tempfile import TemporaryDirectory

import pytest
from django.conf import LazySettings
from django.db import connection
from django.utils import timezone

from apps.inbound_mail import imap, lmtp
from apps.inbound_mail.mailbox_health import record_mailbox_run
from apps.inbound_mail.management.commands.mail_in import Command
from apps.inbound_mail.models import Arrival, Mailbox
from tests.fake_imap import mailbox
from tests.lmtp_fixtures import lmtp_server
from tests.malformed_mail import mail

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.django_db(transaction=True)


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a program that shares the test's database."""
    given = connection.settings_dict
    url = f"dbname={given['NAME']} user={given['USER']} host={given['HOST']} port={given['PORT'] or 5432}"
    return os.environ | {"NETZWART_DATABASE_URL": url, "NETZWART_REDIS_URL": "unix:///nowhere/redis.sock"} | more


def manage(*arguments: str, given: bytes = b"", **more: str) -> int:
    done = run([sys.executable, "manage.py", *arguments], input=given, cwd=ROOT, env=environment(**more), capture_output=True, check=False)
    return done.returncode


def list_stored() -> list[tuple[str, str | None, list[str], bytes]]:
    rows = Arrival.objects.order_by("id")
    return [(each.way, each.sender, each.recipients, bytes(each.octets or b"")) for each in rows]


def test_a_pipe_ends_with_the_codes_that_mail_servers_know() -> None:
    octets = mail("Grüße\r\n.\r\n")
    assert manage("mail_in", "--from=", "--", "support@lindenhof.example", "x@lindenhof.example", given=octets) == os.EX_OK
    assert list_stored() == [("pipe", "", ["support@lindenhof.example", "x@lindenhof.example"], octets)]
    assert manage("mail_in", given=octets, NETZWART_DATABASE_URL="dbname=nobody host=/nowhere") == os.EX_TEMPFAIL
    with pytest.raises(SystemExit) as end:
        Command().run_from_argv(["manage.py", "mail_in", "--what"])
    assert end.value.code == os.EX_USAGE
    assert manage("mail_in", given=b"a" * ((1 << 20) + 1), NETZWART_MAIL_IN_MIB="1") == os.EX_DATAERR
    assert len(list_stored()) == 1


def answers(client: LMTP, octets: bytes, *recipients: str, sender: str = "") -> list[int]:
    """Send a mail and return the server's status code for each recipient, given after the content."""
    assert client.mail(sender)[0] == 250
    assert [client.rcpt(each)[0] for each in recipients] == [250] * len(recipients)
    first = client.data(octets)[0]
    return [first, *(client.getreply()[0] for _each in recipients[1:])]


def test_each_recipient_has_an_answer_and_none_before_the_mail_is_stored(settings: LazySettings) -> None:
    settings.MAIL_IN_OCTETS = 100_000
    with lmtp_server(lmtp.parse_place("127.0.0.1:0", 0)) as place, LMTP(place.host, place.port) as client:
        assert client.ehlo("test")[0] == 250
        assert answers(client, b"Subject: a\r\n\r\n..\r\n" + b"x" * 5000, "a@b.example", "c@b.example", sender="s@b.example") == [250, 250]
        assert list_stored() == [
            ("lmtp", "s@b.example", ["a@b.example", "c@b.example"], b"Subject: a\r\n\r\n..\r\n" + b"x" * 5000 + b"\r\n")
        ]
        assert answers(client, b"x" * 100_001, "a@b.example", "c@b.example") == [552, 552]
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE inbound_arrival RENAME TO away")
        try:
            assert answers(client, mail(), "a@b.example", "c@b.example", "d@b.example") == [451, 451, 451]
        finally:
            with connection.cursor() as cursor:
                cursor.execute("ALTER TABLE away RENAME TO inbound_arrival")
        assert answers(client, mail(), "a@b.example") == [250], "the connection is fit for the next"
        assert answers(client, mail(), "a@b.example") == [250]
        assert client.docmd("EHLO", "x")[0] == 500
    assert [each[:2] for each in list_stored()] == [("lmtp", "s@b.example"), ("lmtp", "")]


def test_a_line_that_is_too_long_is_refused_for_each_recipient_and_nothing_of_it_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lmtp.LmtpConnection, "line_length_limit", 10_000)
    with lmtp_server(lmtp.parse_place("127.0.0.1:0", 0)) as place, LMTP(place.host, place.port) as client:
        assert client.ehlo("test")[0] == 250
        assert answers(client, b"Subject: a\r\n\r\n" + b"x" * 10_001, "a@b.example", "c@b.example") == [500, 500]
    assert list_stored() == []


def test_a_connection_that_carried_a_large_mail_is_not_used_again_and_one_of_small_mails_is() -> None:
    for octets, is_closed in ((mail(), False), (mail(b"x" * (lmtp.LARGE + 1), Message_ID="<large@x>"), True)):
        connection.ensure_connection()
        raw = connection.connection
        assert lmtp.store_mail(octets, "s@b.example", ["a@b.example"]) == lmtp.STORED
        assert raw is not None and raw.closed is is_closed
    assert Arrival.objects.count() == 2


def test_the_program_listens_on_a_unix_socket_and_ends_when_asked() -> None:
    with TemporaryDirectory(prefix="nw-") as directory:
        path = Path(directory, "lmtp.sock")
        program = [sys.executable, "manage.py", "mail_lmtp", str(path), "--mode", "0600"]
        with Popen(program, cwd=ROOT, env=environment(), stdout=PIPE, text=True) as process:
            try:
                assert process.stdout and process.stdout.readline() == f"Listening on {path}.\n"
                assert path.stat().st_mode & 0o777 == 0o600
                with LMTP(str(path)) as client:
                    client.ehlo("test")
                    assert answers(client, mail(), "a@b.example") == [250]
            finally:
                process.send_signal(signal.SIGTERM)
        assert (process.returncode, path.exists(), len(list_stored())) == (0, False, 1)


def test_what_is_unseen_in_a_mailbox_is_stored_once_and_marked(settings: LazySettings) -> None:
    with mailbox() as box:
        delivered = b"Return-Path: <>\nDelivered-To: support+abc@lindenhof.example\n"
        box.mails = {3: delivered + mail(), 5: mail("", Message_ID=""), 9: mail("a" * 3000)}
        settings.MAIL_IN_OCTETS = 2000
        box.breaks_before = 5
        broken = imap.fetch_unseen(box.mailbox)
        assert (broken.mails, broken.error.startswith("UID 5: "), box.seen) == (2, True, {3, 9})
        assert imap.fetch_unseen(box.mailbox) == imap.MailboxFetchResult(1)
        assert (imap.fetch_unseen(box.mailbox), box.fetched, box.seen) == (imap.MailboxFetchResult(0), [3, 5, 9, 5], {3, 5, 9})
        assert [each[:3] for each in list_stored()] == [
            ("imap", "", ["support+abc@lindenhof.example"]),
            ("imap", None, []),
            ("imap", None, []),
        ]
        assert [(each.state, each.reason) for each in Arrival.objects.order_by("id")] == [
            ("waiting", ""), ("waiting", ""), ("quarantined", imap.STAYS),
        ]  # fmt: skip
        assert "wrong password" in imap.fetch_unseen(replace(box.mailbox, password="x")).error
    assert imap.fetch_unseen(box.mailbox).error, "nobody listens any more"


def test_a_mail_that_cannot_be_fetched_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imap, "MAIL_SECONDS", 3.0)
    with mailbox() as box:
        box.mails = {uid: mail("x" * 300, Message_ID=f"<{uid}@x.example>") for uid in (2, 3, 5, 9)}
        box.refuses, box.dribbles = 2, 5
        run = imap.fetch_unseen(box.mailbox)
        assert (run.mails, box.fetched, box.seen) == (3, [2, 3, 5, 9, 5], {3, 5, 9})
        assert run.error.startswith("UID 2: NO damaged - that is all; UID 5: ")
        rows = [(each.message_id, bytes(each.octets or b""), each.reason) for each in Arrival.objects.order_by("id")]
        headers = box.mails[5].partition(b"\n\n")[0]
        assert rows == [
            ("<3@x.example>", box.mails[3], ""), ("<9@x.example>", box.mails[9], ""), ("<5@x.example>", headers, imap.TOO_SLOW),
        ]  # fmt: skip
        box.mails[2], box.refuses = mail("mended", Message_ID="<2@x.example>"), 0
        assert imap.fetch_unseen(box.mailbox) == imap.MailboxFetchResult(1)


def test_large_mails_are_fetched_after_all_others_the_smallest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imap, "LARGE", 1000)
    sizes = {2: 5000, 3: 3000, 4: 200, 7: 100}
    with mailbox() as box:
        box.mails = {uid: mail("x" * size, Message_ID=f"<{uid}@x.example>") for uid, size in sizes.items()}
        assert imap.fetch_unseen(box.mailbox) == imap.MailboxFetchResult(4)
    assert box.fetched == [4, 7, 3, 2] and [len(octets) > 1000 for *_envelope, octets in list_stored()] == [False, False, True, True]


def test_a_refusal_with_a_character_that_the_database_cannot_hold_is_recorded() -> None:
    with mailbox() as box:
        box.refusal = "NO such\0folder"
        run = imap.fetch_unseen(replace(box.mailbox, folder="Elsewhere"))
    record_mailbox_run(place=str(box.mailbox), error=run.error, now=timezone.now())
    assert "such\N{REPLACEMENT CHARACTER}folder" in Mailbox.objects.get().error
