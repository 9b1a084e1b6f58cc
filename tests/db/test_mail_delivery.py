"""The outbox against a real SMTP server that fails in the usual ways."""

import os
import signal
import ssl
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from subprocess import Popen

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as how
from hypothesis import strategies as st

from apps.mail import circuit_breaker
from apps.mail.delivery import (
    GIVE_UP,
    LEASE,
    LEAST_TRIES,
    DeliveryResult,
    claim_mail,
    compute_pause,
    deliver_due_mails,
    list_due_mails,
    record_outcome,
)
from apps.mail.handover import HandoverOutcome, HandoverStatus
from apps.mail.models import Message, ServerAway
from apps.mail.services import put_in_outbox
from apps.mail.smtp import STARTTLS, TLS, SmtpConnection, SmtpServer
from apps.mail.transport import FileMailTransport
from tests.example_counts import count_examples
from tests.fake_smtp import Post, SmtpWay, post
from tests.whole.system import wait_for

ROOT = Path(__file__).parents[2]
FUTURE = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def server() -> Iterator[Post]:
    with post() as box:
        yield box


@pytest.fixture
def box(db: None, server: Post) -> Post:
    """The server in its initial state."""
    server.ways.clear()
    server.taken.clear()
    server.readers.clear()
    server.connections = 0
    server.go_on.clear()
    server.hangs.clear()
    return server


def mail(to: str = "selin@lindenhof.example", **changes: object) -> Message:
    given = {"to": to, "language": "de", "subject": "Grüße", "text": "Schöne Grüße\n", "sender": "Netzwart <netzwart@lindenhof.example>"}
    made = put_in_outbox(Message(**(given | changes)))
    assert made
    return made


def run(box: Post, after: timedelta = timedelta(0)) -> DeliveryResult:
    """Deliver once, at a time that much later."""
    return deliver_due_mails(SmtpConnection(box.server), lambda: timezone.now() + after)


def at(moment: datetime) -> Callable[[], datetime]:
    """Return a clock that stands still at this moment."""
    return lambda: moment


def states() -> list[tuple[str, int]]:
    return list(Message.objects.order_by("id").values_list("state", "tries"))


def test_many_mails_leave_over_one_connection_the_urgent_first_and_read_as_written(box: Post) -> None:
    for number in range(20):
        mail(
            f"m{number}@lindenhof.example",
            html="<p>Schöne Grüße</p>",
            in_reply_to="<a@b.example>",
            references="<r@b.example> <a@b.example>",
        )
    mail("ines@münchen.example", urgent=True, automatic=False)
    assert run(box) == DeliveryResult(sent=21)
    assert box.connections == 1
    assert (box.readers[0], box.readers[1:]) == ("ines@xn--mnchen-3ya.example", [f"m{number}@lindenhof.example" for number in range(20)])
    first, second = box.taken[:2]
    assert (first["Auto-Submitted"], second["Auto-Submitted"]) == (None, "auto-generated")
    assert (second["Subject"], second["In-Reply-To"], second["References"]) == ("Grüße", "<a@b.example>", "<r@b.example> <a@b.example>")
    assert second["From"] == "Netzwart <netzwart@lindenhof.example>"
    assert [part.get_content_type() for part in second.iter_parts()] == ["text/plain", "text/html"]
    assert [part.get_content() for part in second.iter_parts()] == ["Schöne Grüße\r\n", "<p>Schöne Grüße</p>\r\n"]
    assert set(states()) == {("sent", 1)}
    assert run(box) == DeliveryResult()
    assert box.connections == 1, "where nothing is due, nobody connects"


def test_bulk_mail_leaves_after_all_others_however_long_it_waits(box: Post) -> None:
    mail("bulk@lindenhof.example", bulk=True)
    mail("usual@lindenhof.example")
    mail("urgent@lindenhof.example", urgent=True)
    assert [each.to.partition("@")[0] for each in list_due_mails(FUTURE)] == ["urgent", "usual", "bulk"]
    assert run(box) == DeliveryResult(sent=3)
    assert [each.partition("@")[0] for each in box.readers] == ["urgent", "usual", "bulk"]


def test_a_mail_is_not_urgent_and_bulk_at_once(db: None) -> None:
    with pytest.raises(IntegrityError, match="mail_urgent_is_not_bulk"), transaction.atomic():
        mail(urgent=True, bulk=True)


@pytest.mark.parametrize(
    ("way", "becomes", "said"),
    [
        (SmtpWay.GREYLISTED, "waiting", "450 4.2.0 Greylisted"),
        (SmtpWay.CLOSING, "waiting", "421 4.3.2 Going down"),
        (SmtpWay.BUSY, "waiting", "451 4.3.0 Try again"),
        (SmtpWay.DROP_IN_DATA, "waiting", "may have been taken"),
        (SmtpWay.DROP_UNTAKEN, "waiting", "may have been taken"),
        (SmtpWay.UNKNOWN_READER, "failed", "550 5.1.1 Nobody of this name"),
        (SmtpWay.REFUSE, "failed", "554 5.7.1 This looks like spam"),
    ],
)
def test_what_one_mail_meets_holds_up_no_other_and_is_tried_again_unless_it_is_for_good(
    box: Post, way: SmtpWay, becomes: str, said: str
) -> None:
    unlucky, lucky = mail(), mail("ines@lindenhof.example")
    box.ways.append(way)
    done = run(box)
    unlucky.refresh_from_db()
    assert (done.sent, done.failed + done.put_off, unlucky.state, unlucky.tries) == (1, 1, becomes, 1)
    assert said in unlucky.error
    assert (unlucky.ended is None) is (becomes == "waiting")
    assert not ServerAway.objects.exists()
    assert run(box, timedelta(seconds=50)) == DeliveryResult()
    run(box, timedelta(minutes=2))
    unlucky.refresh_from_db()
    assert (unlucky.state, unlucky.error) == (("sent", "") if becomes == "waiting" else ("failed", unlucky.error))
    assert box.times()[lucky.message_id] == 1


def test_who_may_not_write_at_all_waits_without_counting_tries(box: Post) -> None:
    mail(), mail()
    box.ways.append(SmtpWay.NO_SENDER)
    assert run(box) == DeliveryResult(put_off=1)
    assert states() == [("waiting", 0), ("waiting", 0)]
    assert "You do not write from here" in ServerAway.objects.get().error
    assert run(box) == DeliveryResult(), "not before the pause is over"
    assert run(box, timedelta(seconds=10)) == DeliveryResult(sent=2)
    assert not ServerAway.objects.exists()


def test_a_server_that_drops_everything_is_left_alone_after_three(box: Post) -> None:
    for _number in range(5):
        mail()
    box.ways.extend([SmtpWay.DROP_UNTAKEN] * 3)
    run(box)
    assert states() == [("waiting", 1)] * 3 + [("waiting", 0)] * 2
    assert ServerAway.objects.get().failures == 1
    assert run(box, timedelta(minutes=2)) == DeliveryResult(sent=5)


def nobody_listens() -> SmtpServer:
    with post() as gone:
        return gone.server


def test_mail_from_while_the_clock_was_ahead_leaves_when_it_is_right_again(box: Post) -> None:
    mail(), mail()
    ahead = timezone.now() + timedelta(hours=2)
    assert deliver_due_mails(SmtpConnection(nobody_listens()), at(ahead)) == DeliveryResult()
    Message.objects.update(written=ahead, due=ahead)
    assert run(box) == DeliveryResult(sent=2)


def test_what_was_put_off_while_the_clock_was_ahead_is_put_off_for_its_pause(box: Post) -> None:
    mail()
    box.ways.extend([SmtpWay.BUSY, SmtpWay.BUSY])
    assert run(box, timedelta(hours=2)) == DeliveryResult(put_off=1)
    assert run(box) == DeliveryResult(put_off=1)
    assert run(box) == DeliveryResult(), "it has its pause"
    assert run(box, timedelta(minutes=3)) == DeliveryResult(sent=1)


def test_nothing_is_lost_while_the_server_is_away_and_it_is_tried_ever_more_seldom(box: Post) -> None:
    mail(), mail()
    clock, pauses, nobody = timezone.now(), [], nobody_listens()
    for failures in range(1, 7):
        assert deliver_due_mails(SmtpConnection(nobody), at(clock)) == DeliveryResult()
        there = ServerAway.objects.get()
        pauses.append((there.next_try - clock).total_seconds())
        assert deliver_due_mails(SmtpConnection(nobody), at(there.next_try - timedelta(seconds=1))) == DeliveryResult()
        assert (ServerAway.objects.get().failures, "refused" in there.error) == (failures, True)
        clock = there.next_try
    assert pauses == [5, 10, 20, 40, 60, 60]
    assert deliver_due_mails(SmtpConnection(box.server), lambda: clock + timedelta(minutes=1)) == DeliveryResult(sent=2)
    assert states() == [("sent", 1)] * 2
    assert not ServerAway.objects.exists()


def test_a_server_without_starttls_or_with_another_certificate_gets_nothing(box: Post, tmp_path: Path) -> None:
    mail()
    assert deliver_due_mails(SmtpConnection(replace(box.server, tls=STARTTLS))) == DeliveryResult()
    assert "STARTTLS" in ServerAway.objects.get().error
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-days", "2"]
    files = ["-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "certificate"), "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate", tmp_path / "key")
    with post(context, tls=STARTTLS) as encrypted:
        assert run(encrypted, timedelta(minutes=2)) == DeliveryResult()
        assert "certificate verify failed" in ServerAway.objects.get().error
        trusting = replace(encrypted.server, tls=STARTTLS)
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("SSL_CERT_FILE", str(tmp_path / "certificate"))
            assert deliver_due_mails(SmtpConnection(trusting), lambda: timezone.now() + timedelta(minutes=5)) == DeliveryResult(sent=1)
        assert encrypted.times() == {Message.objects.get().message_id: 1}
    mail()
    assert deliver_due_mails(SmtpConnection(replace(box.server, tls=TLS, answer_within=2, ready_within=2))) == DeliveryResult()
    assert (box.taken, states()[-1]) == ([], ("waiting", 0))


@pytest.mark.parametrize("way", [SmtpWay.DRIBBLE, SmtpWay.HANG])
def test_a_slow_server_holds_a_mail_only_so_long(box: Post, way: SmtpWay) -> None:
    mail()
    box.ways.append(way)
    assert deliver_due_mails(SmtpConnection(replace(box.server, mail_within=3, answer_within=60))) == DeliveryResult(put_off=1)
    row = Message.objects.get()
    assert "no end within 3 s" in row.error
    assert ("may have been taken" in row.error) is (way is SmtpWay.HANG)


def test_after_five_days_in_vain_it_fails_with_what_was_said_last(box: Post) -> None:
    row = mail()
    Message.objects.update(written=timezone.now() - GIVE_UP, tries=LEAST_TRIES - 1)
    box.ways.append(SmtpWay.GREYLISTED)
    assert run(box) == DeliveryResult(failed=1)
    row.refresh_from_db()
    assert (row.state, row.error) == ("failed", "450 4.2.0 Greylisted, come back later")
    assert [compute_pause(tries) for tries in (1, 2, 6, 7, 8, 10**6)] == [timedelta(minutes=each) for each in (1, 2, 32, 60, 60, 60)]


def test_after_an_outage_of_more_than_five_days_a_greylisted_mail_is_tried_again(box: Post) -> None:
    mail()
    Message.objects.update(written=timezone.now() - 2 * GIVE_UP)
    box.ways.append(SmtpWay.GREYLISTED)
    assert run(box) == DeliveryResult(put_off=1)
    assert run(box, timedelta(minutes=2)) == DeliveryResult(sent=1)


def test_what_cannot_be_written_down_fails_alone(box: Post) -> None:
    Message.objects.bulk_create([row_of("jürgen@lindenhof.example"), row_of("ada@☃.example"), row_of("a@b.example")])
    assert run(box) == DeliveryResult(sent=1, failed=2)
    assert all("is not a valid mail address" in each.error for each in Message.objects.exclude(to="a@b.example"))


def test_a_domain_with_a_sharp_s_is_not_the_one_with_two_letters(box: Post) -> None:
    mail("anna@straße.example"), mail("bert@strasse.example")
    assert run(box) == DeliveryResult(sent=2)
    assert box.readers == ["anna@xn--strae-oqa.example", "bert@strasse.example"]


def row_of(to: str) -> Message:
    now = timezone.now()
    return Message(to=to, language="en", subject="s", text="t", sender="n@l.example", message_id=f"<{to}>", due=now, written=now)


def test_two_workers_never_have_the_same_mail_in_hand_and_one_that_slept_changes_nothing(box: Post) -> None:
    mail()
    now = timezone.now()
    first = claim_mail(now)
    assert first and claim_mail(now) is None and claim_mail(now + LEASE - timedelta(seconds=1)) is None
    second = claim_mail(now + LEASE)
    assert second and (second.pk, second.tries, "may have accepted the mail" in second.error) == (first.pk, 2, True)
    record_outcome(first, HandoverOutcome(HandoverStatus.LATER, "too late"), now + LEASE)
    assert claim_mail(now + LEASE) is None, "it is still the second's"
    record_outcome(second, HandoverOutcome(HandoverStatus.TAKEN), now + LEASE)
    record_outcome(first, HandoverOutcome(HandoverStatus.LATER, "too late"), now + LEASE)
    assert states() == [("sent", 2)]


@pytest.mark.parametrize("there", [0, 1, 2, 50])
def test_a_claim_takes_one_mail_whatever_plan_the_database_makes(box: Post, there: int) -> None:
    """A plan that runs the search for the next mail once for each row of the table claims several, and only one is sent."""
    for _each in range(there):
        mail()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE mail_message")  # the planner goes on believing that there are so many
    for _each in range(5):
        mail()
    for claims in range(1, there + 6):
        assert claim_mail(timezone.now())
        assert Message.objects.exclude(claimed_until=None).count() == claims


def test_a_mail_that_kills_its_workers_waits_longer_each_time(box: Post) -> None:
    mail()
    now = timezone.now()
    assert claim_mail(now) and claim_mail(now + LEASE)
    assert claim_mail(now + 2 * LEASE) is None
    assert list_due_mails(now + 2 * LEASE + compute_pause(2)).count() == 1


def test_without_a_server_mails_become_files(db: None, tmp_path: Path) -> None:
    mail(), mail()
    assert deliver_due_mails(FileMailTransport(tmp_path / "mail")) == DeliveryResult(sent=2)
    assert [b"Message-ID: " in file.read_bytes() for file in sorted((tmp_path / "mail").iterdir())] == [True, True]


class Killed(BaseException):
    """Exception that no code catches."""


class Mortal(SmtpConnection):
    """Connection whose worker dies after a mail was handed over and before that is recorded."""

    def __init__(self, server: SmtpServer, dies: Callable[[], bool]) -> None:
        super().__init__(server)
        self._dies = dies

    def hand_over(self, sender: str, to: str, content: bytes) -> HandoverOutcome:
        outcome = super().hand_over(sender, to, content)
        if self._dies():
            raise Killed
        return outcome


REFUSING = (SmtpWay.UNKNOWN_READER, SmtpWay.REFUSE)


@how(max_examples=count_examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.integers(1, 5),
    st.lists(st.sampled_from([each for each in SmtpWay if each not in (SmtpWay.HANG, SmtpWay.DRIBBLE)]), max_size=12),
    st.lists(st.booleans(), max_size=8),
)
def test_every_mail_arrives_at_least_once_and_exactly_once_where_nobody_died(
    box: Post, number: int, ways: list[SmtpWay], deaths: list[bool]
) -> None:
    Message.objects.all().delete()
    circuit_breaker.record_success()
    box.ways.clear()
    box.taken.clear()
    box.ways.extend(ways)
    die = iter(deaths)
    rows, clock, died = [mail() for _each in range(number)], timezone.now(), 0
    for _round in range(100):
        clock += timedelta(hours=1)
        try:
            deliver_due_mails(Mortal(box.server, lambda: next(die, False)), at(clock))
        except Killed:
            died += 1
        if not Message.objects.filter(state="waiting").exists():
            break
    times, ended = box.times(), dict(Message.objects.values_list("message_id", "state"))
    assert set(times) <= {row.message_id for row in rows}
    assert set(ended.values()) <= {"sent", "failed"}
    assert all(times[each] >= 1 for each, state in ended.items() if state == "sent")
    assert all(state == "sent" or any(way in REFUSING for way in ways) for state in ended.values())
    twice = sum(times.values()) - len(times)
    assert twice <= died + ways.count(SmtpWay.DROP_TAKEN), "no more than there were moments of which nobody knows"


@pytest.mark.django_db(transaction=True)
def test_a_worker_killed_between_the_servers_yes_and_writing_it_down_sends_that_one_mail_twice_and_no_other(server: Post) -> None:
    server.ways.clear()
    server.taken.clear()
    server.hangs.clear()
    server.go_on.clear()
    rows = [mail(f"m{number}@lindenhof.example") for number in range(4)]
    server.ways.extend([SmtpWay.TAKE, SmtpWay.HANG])
    kill_sender_in_second_mail(server)
    server.go_on.set()
    assert states() == [("sent", 1), ("waiting", 1), ("waiting", 0), ("waiting", 0)]
    assert run(server) == DeliveryResult(sent=2), "what nobody had in hand goes on at once"
    assert run(server, LEASE) == DeliveryResult(sent=1)
    assert server.times() == Counter({rows[1].message_id: 2} | {row.message_id: 1 for row in rows if row is not rows[1]})
    first, second = (bytes(each) for each in server.taken if each["Message-ID"] == rows[1].message_id)
    assert first == second


def kill_sender_in_second_mail(server: Post) -> None:
    """Kill the sending process while the server has the second mail and has not answered. One that ran out of time before is repeated."""
    command, said = [sys.executable, "manage.py", "send_mail"], []
    for _run in range(20):
        with Popen(command, cwd=ROOT, env=environment(server.server), stdout=subprocess.PIPE, text=True) as sender:
            wait_for(partial(hangs_or_ended, server, sender))
            sender.send_signal(signal.SIGKILL)
            said.append(sender.communicate()[0])
        if server.hangs.is_set():
            return
    pytest.fail(f"No process came to the second mail. They said:\n{'\n'.join(said)}")


def hangs_or_ended(server: Post, sender: Popen[str]) -> bool:
    return server.hangs.is_set() or sender.poll() is not None


def environment(server: SmtpServer) -> dict[str, str]:
    """Return the environment of a process that uses the test's database."""
    database = connection.settings_dict
    names = {"dbname": database["NAME"], "user": database["USER"], "host": database["HOST"], "port": database["PORT"]}
    url = " ".join(f"{name}={value}" for name, value in names.items() if value)
    return {**os.environ, "NETZWART_DATABASE_URL": url, "NETZWART_MAIL_SERVER": str(server)}
