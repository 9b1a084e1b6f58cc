"""Inbound mail: stored first, parsed in a child process that may die, handled once, or put into quarantine with a reason."""

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.conf import LazySettings
from django.db import OperationalError, connection
from django.utils import timezone
from django.utils.translation import gettext, override

from apps.accounts.models import User
from apps.inbound_mail import dispatcher, imap, parse_limits, retention_sweep, services
from apps.inbound_mail.dispatcher import LEASE, ArrivalClaimLost, DispatchCounts, MailRefused, claim_arrival, receive_mail
from apps.inbound_mail.message import ReceivedMail
from apps.inbound_mail.models import Arrival
from apps.inbound_mail.parse_limits import (
    DIED,
    TOO_BUSY,
    TOO_DEEP,
    TOO_LARGE,
    TOO_MANY_ADDRESSES,
    TOO_SLOW,
    OutOfTime,
    ParseLimits,
    Unreadable,
)
from apps.inbound_mail.parser_process import MAILS, MailReader
from apps.lib.errors import Conflict
from tests import factories
from tests.db.page_client import queries, signed_in, text
from tests.fake_imap import mailbox
from tests.frozen_process import freeze
from tests.malformed_mail import BREAKING, GROWING, deep, mail
from workers import inbound_mail
from workers.operations import forget

PATIENT = ParseLimits(seconds=60)  # generous, for busy machines; tests of slow mails use less
LMTP = Arrival.Way.LMTP


@pytest.fixture(scope="module")
def reader() -> Iterator[MailReader]:
    with MailReader(PATIENT) as made:
        yield made


def arrive(octets: bytes | None = None, **given: object) -> Arrival:
    about = {"way": LMTP, "sender": "selin@lindenhof.example", "recipients": ["support@lindenhof.example"]} | given
    return services.store_arrival(octets=mail() if octets is None else octets, **about)  # type: ignore[arg-type]


class TicketDesk:
    """Mail handler of these tests, in place of that of tickets."""

    def __init__(self) -> None:
        self.got: list[tuple[int, ReceivedMail]] = []

    def __call__(self, arrival: Arrival, received: ReceivedMail) -> None:
        if received.subject == "no":
            raise MailRefused("Nobody of this name.")
        if received.subject == "fault":
            raise KeyError("x\0y")
        if received.subject == "away":
            raise OperationalError("the database went away")
        self.got.append((arrival.pk, received))


def states() -> list[tuple[str, str]]:
    return list(Arrival.objects.order_by("id").values_list("state", "reason"))


@pytest.mark.django_db
def test_mail_is_stored_as_it_came_and_taken_once_with_its_envelope(reader: MailReader) -> None:
    octets = mail("Hello\r\n\0", To="public@lindenhof.example")
    row, desk = arrive(octets), TicketDesk()
    row.refresh_from_db()
    assert (bytes(row.octets or b""), row.size, row.message_id, row.state) == (octets, len(octets), "<one@lindenhof.example>", "waiting")
    assert receive_mail(desk, reader) == DispatchCounts(taken=1)
    ((pk, got),) = desk.got
    assert (pk, got.text, [each.address for each in got.recipients]) == (
        row.pk, "Hello", ["support@lindenhof.example", "public@lindenhof.example"],
    )  # fmt: skip
    assert (states(), receive_mail(desk, reader)) == ([("taken", "")], DispatchCounts())


@pytest.mark.django_db
def test_the_same_mail_twice_is_one_arrival_for_all_its_recipients(reader: MailReader) -> None:
    first = arrive()
    assert arrive(recipients=["abuse@lindenhof.example"]).pk == first.pk
    first.refresh_from_db()
    assert (first.times, first.recipients) == (2, ["support@lindenhof.example", "abuse@lindenhof.example"])
    assert arrive(mail("other words")).pk != first.pk, "a Message-ID alone proves nothing"
    assert receive_mail(TicketDesk(), reader) == DispatchCounts(taken=2)
    assert arrive().pk == first.pk and not Arrival.objects.filter(state="waiting").exists()
    anonymous = mail(Message_ID="")
    assert arrive(anonymous).pk != arrive(anonymous).pk, "without a Message-ID, a machine may well say the same twice"
    assert arrive(anonymous, place="imap/7").pk == arrive(anonymous, place="imap/7").pk


@pytest.mark.django_db
def test_what_cannot_be_read_or_filed_is_set_aside_with_its_reason_and_the_next_mail_is_read(reader: MailReader) -> None:
    for octets in (deep(100), mail(Subject="no"), mail(Subject="fault"), BREAKING["addresses"](3000), mail()):
        arrive(octets)
    desk = TicketDesk()
    assert receive_mail(desk, reader) == DispatchCounts(taken=1, quarantined=4)
    assert states() == [
        ("quarantined", TOO_DEEP), ("quarantined", "Nobody of this name."), ("quarantined", dispatcher.NOT_TAKEN),
        ("quarantined", TOO_MANY_ADDRESSES), ("taken", ""),
    ]  # fmt: skip
    assert "KeyError" in Arrival.objects.get(reason=dispatcher.NOT_TAKEN).detail


@pytest.mark.django_db
def test_a_mail_that_is_too_large_is_not_stored(settings: LazySettings) -> None:
    settings.MAIL_IN_OCTETS = 100
    with pytest.raises(services.TooLarge):
        arrive(b"a" * 101)
    assert not Arrival.objects.exists()


@pytest.mark.django_db
def test_a_database_that_goes_away_leaves_mail_waiting_and_kills_nothing(reader: MailReader) -> None:
    arrive(mail(Subject="away"))
    with pytest.raises(OperationalError):
        receive_mail(TicketDesk(), reader)
    assert states() == [("waiting", "")]
    assert receive_mail(TicketDesk(), reader) == DispatchCounts(), "until the lease of whoever had it is over"


@pytest.mark.django_db
def test_a_worker_that_dies_leaves_its_mail_to_the_next_and_a_mail_that_kills_three_is_set_aside(reader: MailReader) -> None:
    row, now, desk = arrive(), timezone.now(), TicketDesk()
    for died in range(3):
        late = claim_arrival(now + died * 2 * LEASE)
        assert late and late.tries == died + 1 and claim_arrival(now + died * 2 * LEASE) is None
    assert receive_mail(desk, reader, lambda: now + 6 * LEASE) == DispatchCounts(quarantined=1)
    assert (states(), desk.got) == ([("quarantined", DIED)], [])
    assert late
    with pytest.raises(ArrivalClaimLost):
        dispatcher.mark_arrival_taken(late)
    user = User.objects.create_user("mara")
    services.retry_arrival(arrival=row, by=user)
    assert receive_mail(desk, reader) == DispatchCounts(taken=1)
    with pytest.raises(Conflict):
        services.retry_arrival(arrival=row, by=user)
    with pytest.raises(Conflict):
        services.erase_arrival_content(arrival=row, by=user)


class OvertakenReader(MailReader):
    """Reader that is overtaken: another worker has handled each mail before this one has read it."""

    def read(self, octets: bytes, sender: str | None, recipients: list[str]) -> ReceivedMail:
        other = claim_arrival(timezone.now() + LEASE)
        assert other
        dispatcher.mark_arrival_taken(other)
        if b"nothing" in octets:
            raise Unreadable(TOO_SLOW)
        return super().read(octets, sender, recipients)


@pytest.mark.django_db
def test_a_machine_that_is_too_busy_says_nothing_about_a_mail_which_is_read_again_by_itself() -> None:
    row, now, desk = arrive(mail("a b " * 100)), timezone.now(), TicketDesk()
    with MailReader(replace(PATIENT, clock=0.000_001)) as busy, MailReader(PATIENT) as rested:
        assert receive_mail(desk, busy, lambda: now) == DispatchCounts()
        assert (states(), receive_mail(desk, rested, lambda: now)) == ([("waiting", "")], DispatchCounts()), "until its lease is over"
        assert receive_mail(desk, rested, lambda: now + 2 * LEASE) == DispatchCounts(taken=1)
        Arrival.objects.filter(pk=row.pk).update(state="waiting", ended=None, tries=0)
        for late in (4, 6, 8):
            claimed_at = now + late * LEASE
            done = receive_mail(desk, busy, lambda at=claimed_at: at)  # type: ignore[misc]  # a default argument
            assert done == DispatchCounts(quarantined=late // 8)
    assert states() == [("quarantined", TOO_BUSY)]


@pytest.mark.django_db
@pytest.mark.parametrize("words", ["Hello", "nothing"])
def test_who_was_slower_than_the_lease_takes_nothing_and_sets_nothing_aside(words: str) -> None:
    arrive(mail(words))
    desk = TicketDesk()
    with OvertakenReader(PATIENT) as slow:
        assert receive_mail(desk, slow) == DispatchCounts()
    assert (desk.got, states()) == ([], [("taken", "")])


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_take_each_mail_once() -> None:
    pks, desk, start = [arrive(mail(Message_ID=f"<{each}@x.example>")).pk for each in range(24)], TicketDesk(), Barrier(3)

    def work() -> None:
        with MailReader(PATIENT) as own:
            start.wait(60)
            receive_mail(desk, own)
        connection.close()

    workers = [Thread(target=work) for _each in range(3)]
    for each in workers:
        each.start()
    for each in workers:
        each.join(120)
    assert sorted(pk for pk, _mail in desk.got) == pks


@pytest.mark.django_db
def test_what_was_taken_is_erased_after_its_time_and_what_nobody_looked_at_stays(reader: MailReader) -> None:
    arrive()
    aside = arrive(deep(100))
    receive_mail(TicketDesk(), reader)
    now = timezone.now()
    assert retention_sweep.erase_old_octets(now - timedelta(days=1), 10) == 0
    assert (
        retention_sweep.erase_old_octets(now + timedelta(days=1), 10),
        retention_sweep.erase_old_octets(now + timedelta(days=1), 10),
    ) == (1, 0)
    services.erase_arrival_content(arrival=aside, by=User.objects.create_user("mara"))
    assert list(Arrival.objects.order_by("id").values_list("state", "octets")) == [("taken", None), ("deleted", None)]
    assert arrive().state == "taken", "it is known still when it comes again"


def test_a_child_is_killed_when_a_mail_takes_too_long_and_the_next_mail_is_read() -> None:
    large = mail(b"a b\n" * 400_000)
    with MailReader(ParseLimits(seconds=0.01)) as hasty, pytest.raises(Unreadable, match=TOO_SLOW):
        hasty.read(large, None, [])
    with MailReader(PATIENT) as patient:
        assert patient.read(mail(), None, []).text == "Hello"
        first = patient._child
        assert first
        os.kill(first._process.pid, signal.SIGKILL)
        first._process.wait()
        assert patient.read(mail(), None, []).text == "Hello", "one that died between two mails is nobody's fault"
        first = patient._child
        assert first
        freeze(first._process.pid)
        patient._limits = replace(PATIENT, clock=0.01)
        with pytest.raises(OutOfTime):
            patient.read(mail(), None, [])
        assert first._process.returncode == -signal.SIGKILL
        patient._limits = PATIENT
        assert patient.read(mail(), None, []).text == "Hello"


def test_a_mail_of_the_largest_size_is_read_within_the_memory_of_a_child_and_a_larger_one_is_refused() -> None:
    with MailReader(PATIENT) as reader:
        head = mail("", Content_Type="image/png", Content_Transfer_Encoding="base64")
        line = b"QUFB" * 19 + b"\n"
        largest = head + line * ((PATIENT.octets - len(head)) // len(line))
        (file,) = reader.read(largest, None, []).files
        assert len(file.octets) == 57 * ((PATIENT.octets - len(head)) // len(line))
        with pytest.raises(Unreadable, match=TOO_LARGE):
            reader.read(largest + line * 2, None, [])


def test_a_child_serves_many_mails_is_replaced_when_it_has_served_enough_and_knows_no_secrets(reader: MailReader) -> None:
    with MailReader(PATIENT) as own:
        own.read(mail(), None, [])
        first = own._child
        assert first
        environment = open(f"/proc/{first._process.pid}/environ", "rb").read()  # noqa: SIM115, PTH123 - a file of the kernel
        assert b"NETZWART" not in environment
        first._mails = MAILS - 1
        own.read(mail(), None, [])
        own.read(mail(), None, [])
        assert own._child is not first and first._process.returncode is not None


def test_every_malformed_mail_ends_and_none_takes_another_with_it(reader: MailReader) -> None:
    for letter in (*BREAKING.values(), *GROWING.values()):
        try:
            reader.read(letter(3000), "", ["support@lindenhof.example"])
        except Unreadable as why:
            assert why.reason not in (DIED, TOO_SLOW), why
    assert reader.read(mail(), None, []).text == "Hello"


@pytest.mark.django_db
def test_staff_see_what_is_in_quarantine_and_why_and_have_it_read_again_or_delete_it(reader: MailReader) -> None:
    mara = factories.user("mara", roles=["network_admin"])
    client, octets = signed_in(mara), deep(100)
    assert "Nothing in quarantine" in text(client.get("/mail/in/"))
    row = arrive(b"Subject: <script>alert(1)</script>\n" + octets)
    receive_mail(TicketDesk(), reader)
    assert "Its parts are nested too deeply." in text(client.get("/mail/in/")) and "1 mail could not be taken" in text(
        client.get("/mail/in/")
    )
    assert "No match" in text(client.get("/mail/in/?q=nobody"))
    page = client.get(f"/mail/in/{row.pk}/").content.decode()
    assert "Subject: &lt;script&gt;" in page and "<script>alert" not in page
    file = client.get(f"/mail/in/{row.pk}/mail.eml")
    assert (file.content[-len(octets) :], file["Content-Type"]) == (octets, "application/octet-stream")
    assert file["Content-Disposition"].startswith("attachment")
    assert signed_in(factories.user("otto", roles=["auditor"])).get(f"/mail/in/{row.pk}/mail.eml").status_code == 403
    client.post(f"/mail/in/{row.pk}/again/")
    row.refresh_from_db()
    assert (row.state, row.tries) == ("waiting", 0)
    receive_mail(TicketDesk(), reader)
    assert "erased for good" in text(client.get(f"/mail/in/{row.pk}/delete/"))
    client.post(f"/mail/in/{row.pk}/delete/")
    assert "Deleted by" in text(client.get(f"/mail/in/{row.pk}/")) and client.get(f"/mail/in/{row.pk}/mail.eml").status_code == 404
    arrive(mail(Message_ID="<3@x.example>"), recipients=[f"r{each}@lindenhof.example" for each in range(400)])
    assert "r0@lindenhof.example and 399 more" in text(client.get("/mail/in/?state=waiting"))
    few = queries(client, "/mail/in/?state=all")
    for number in range(5):
        arrive(mail(Message_ID=f"<more-{number}@x.example>"))
    assert queries(client, "/mail/in/?state=all") == few


def test_every_reason_of_the_reader_has_its_german_words() -> None:
    reasons = [each for name, each in vars(parse_limits).items() if name.isupper() and isinstance(each, str)]
    with override("de"):
        assert len(reasons) > 10 and all(gettext(each) != each for each in [*reasons, dispatcher.NOT_TAKEN, imap.STAYS, imap.TOO_SLOW])


@pytest.mark.django_db
def test_the_tasks_of_workers_fetch_read_and_erase(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = TicketDesk()
    monkeypatch.setattr(dispatcher, "_takers", [])
    arrive()
    inbound_mail.receive_mail()
    assert states() == [("waiting", "")], "while nobody takes mail, it waits"
    dispatcher.register_mail_handler(desk)
    with mailbox() as box:
        box.mails = {1: mail("from the mailbox", Message_ID="<2@x.example>")}
        settings.MAIL_IN_IMAP = f"imap://{box.mailbox.user}@{box.mailbox.host}:{box.mailbox.port}"
        settings.MAIL_IN_PASSWORD = box.mailbox.password
        inbound_mail.fetch_mail()
    with MailReader(PATIENT) as own:
        monkeypatch.setattr(inbound_mail._own, "reader", own)
        inbound_mail.receive_mail()
    assert [each.text for _pk, each in desk.got] == ["Hello", "from the mailbox"]
    settings.KEEP_MAIL_DAYS = 0
    forget()
    assert not Arrival.objects.filter(octets__isnull=False).exists()
