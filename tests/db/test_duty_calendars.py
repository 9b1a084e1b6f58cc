"""Shifts of calendars: uploaded, or fetched from an address, which may fail, change, or lead where nobody may ask."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.accounts.models import User
from apps.alarms.duty import calendar_reading, calendar_services
from apps.alarms.duty.address_encryption import decrypt_address, reencrypt_addresses
from apps.alarms.duty.calendar_parser import parse_calendar
from apps.alarms.duty.calendar_reading import READ_EVERY, read_calendar, read_due_calendars
from apps.alarms.duty.calendar_services import CalendarFacts
from apps.alarms.duty.calendar_texts import explain_error, iter_unmatched
from apps.alarms.duty.models import DutyCalendar, DutyShift
from apps.alarms.duty.services import remove_shift, take_over
from apps.lib.errors import Conflict, Problem
from tests import factories
from tests.db.page_client import signed_in, text
from tests.fake_http import FakeAnswer, serving

HOUR = timedelta(hours=1)


@pytest.fixture
def mara(db: None) -> User:
    return factories.user("mara")


def write(*events: tuple[str, datetime, datetime]) -> bytes:
    """Return a calendar of these events: summary, begin and end."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//"]
    for summary, begins, ends in events:
        times = [f"{name}:{at:%Y%m%dT%H%M%SZ}" for name, at in (("DTSTART", begins), ("DTEND", ends))]
        lines += ["BEGIN:VEVENT", f"UID:{summary}", f"SUMMARY:{summary}", *times, "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""]).encode()


def upload(by: User, content: bytes, name: str = "Netzdienst") -> DutyCalendar:
    return calendar_services.add_calendar(facts=CalendarFacts(name, content=content, file_name="shifts.ics"), by=by)


def read(calendar: DutyCalendar, now: datetime | None = None) -> DutyCalendar:
    DutyCalendar.objects.filter(pk=calendar.pk).update(due=timezone.now() - HOUR)
    assert read_calendar(calendar.pk, now or timezone.now())
    return DutyCalendar.objects.get(pk=calendar.pk)


def noon(days: int = 1) -> datetime:
    return timezone.now().replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(days=days)


def test_a_file_becomes_shifts_and_what_is_nobodys_is_told_with_the_reason(mara: User) -> None:
    factories.user("jonas")
    found = read(
        upload(mara, write(("mara", noon(), noon() + HOUR), ("mara and jonas", noon(), noon() + HOUR), ("Party", noon(), noon() + HOUR)))
    )
    [shift] = DutyShift.objects.all()
    assert (shift.person, shift.begins, shift.ends, shift.by) == (mara, noon(), noon() + HOUR, None)
    whys = {each.summary: each.why for each in iter_unmatched(found.unmatched)}
    assert whys["mara and jonas"] == "names several: Jonas Lindqvist, Mara Lindqvist" and whys["Party"].startswith("names nobody")
    page = text(signed_in(mara).get("/alarms/duty/"))
    assert "Nobody’s shift in Netzdienst" in page and "Party" in page and "Works" in page


def test_reading_again_changes_only_what_changed(mara: User) -> None:
    jonas = factories.user("jonas")
    calendar = read(upload(mara, write(("mara", noon(), noon() + HOUR), ("jonas", noon(2), noon(2) + HOUR))))
    kept = DutyShift.objects.get(person=mara).pk
    assert kept in read(calendar).shifts.values_list("pk", flat=True)
    changed = calendar_services.change_calendar(
        calendar=calendar,
        version=calendar.version,
        facts=CalendarFacts("Netzdienst", content=write(("mara", noon(), noon() + 2 * HOUR)), file_name="new.ics"),
        by=mara,
    )
    read(changed)
    assert list(DutyShift.objects.values_list("pk", "person", "ends")) == [(kept, mara.pk, noon() + 2 * HOUR)]
    assert not DutyShift.objects.filter(person=jonas).exists()


def test_what_is_past_stays_when_it_leaves_the_calendar(mara: User) -> None:
    calendar = read(upload(mara, write(("mara", noon(), noon() + HOUR))))
    now = noon() + timedelta(days=2)
    DutyCalendar.objects.update(content=write(), due=now - HOUR)
    read_due_calendars(now)
    assert calendar.shifts.count() == 1


def test_a_taken_over_shift_of_a_calendar_stays_taken_when_it_is_read_again(mara: User) -> None:
    jonas = factories.user("jonas")
    calendar = read(upload(mara, write(("mara", noon(), noon() + HOUR))))
    shift = DutyShift.objects.get()
    take_over(shift=shift, by=jonas)
    read(calendar)
    assert DutyShift.objects.filter(person=jonas, calendar=None).count() == 1
    with pytest.raises(Conflict):
        remove_shift(shift=shift, by=mara)


def add_address(settings: LazySettings, by: User, url: str) -> DutyCalendar:
    settings.FEED_PRIVATE = True
    return calendar_services.add_calendar(facts=CalendarFacts("Shared", address=url), by=by)


def test_an_address_is_fetched_and_not_shown_and_asked_only_for_news(settings: LazySettings, mara: User) -> None:
    def answer(_path: str, headers: Any) -> FakeAnswer:
        return FakeAnswer(304) if headers.get("If-None-Match") == '"1"' else FakeAnswer(200, content, {"ETag": '"1"'})

    content = write(("mara", noon(), noon() + HOUR))
    with serving(answer) as server:
        calendar = add_address(settings, mara, server.url("/private-1234/basic.ics"))
        assert "private-1234" not in calendar.shown + calendar.target and decrypt_address(calendar).endswith("/private-1234/basic.ics")
        found = read(calendar)
        assert (found.error, DutyShift.objects.count()) == ([], 1)
        DutyShift.objects.all().delete()
        assert read(found).read and DutyShift.objects.count() == 1
        assert len(server.asked) == 2
    assert "private-1234" not in text(signed_in(mara).get("/alarms/duty/"))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (FakeAnswer(503, b"later"), "The server answered 503"),
        (FakeAnswer(200, b"x" * ((1 << 20) + 1)), "larger than 1 MiB"),
        (FakeAnswer(200, b"no calendar"), "not an iCalendar file"),
        (FakeAnswer(302, b"", {"Location": "ftp://127.0.0.1/secret-5678"}), "neither http nor https"),
    ],
)
def test_what_fails_is_said_and_leaves_the_shifts_of_before(settings: LazySettings, mara: User, answer: FakeAnswer, words: str) -> None:
    said: list[FakeAnswer] = [FakeAnswer(200, write(("mara", noon(), noon() + HOUR)))]
    reply: Callable[[str, Any], FakeAnswer] = lambda _path, _headers: said[-1]  # noqa: E731
    with serving(reply) as server:
        calendar = read(add_address(settings, mara, server.url("/private-1234.ics")))
        said.append(answer)
        failed = read(calendar)
        assert words in explain_error(failed) and failed.error_since and DutyShift.objects.count() == 1
        assert words in text(signed_in(mara).get("/alarms/duty/"))
        since = failed.error_since
        assert read(failed).error_since == since
        said.pop()
        assert read(failed).error_since is None
    assert "secret" not in str(failed.error) and "private" not in str(failed.error)


def test_a_calendar_whose_validators_cannot_be_stored_is_read(settings: LazySettings, mara: User) -> None:
    content = write(("mara", noon(), noon() + HOUR))
    with serving(FakeAnswer(200, content, {"ETag": '"a\0b"', "Last-Modified": "Sat\0"})) as server:
        found = read(add_address(settings, mara, server.url("/basic.ics")))
    assert (found.error, found.etag, found.last_modified, DutyShift.objects.count()) == ([], "", "", 1)


def test_a_calendar_at_which_the_portal_fails_says_so_and_the_others_are_read(mara: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE alarms_dutyshift ADD CONSTRAINT short CHECK (ends - begins < interval '90 minutes') NOT VALID")
    bad = upload(mara, write(("mara", noon(), noon() + 2 * HOUR)), "Bad")
    good = upload(mara, write(("mara", noon(), noon() + HOUR)), "Good")
    assert read_due_calendars(timezone.now() + timedelta(seconds=1)) == 2
    for each in (bad, good):
        each.refresh_from_db()
    assert (bad.error, good.error, good.shifts.count()) == (["broken", "IntegrityError"], [], 1) and bad.error_since
    assert "The portal failed (IntegrityError)" in text(signed_in(mara).get("/alarms/duty/"))


def test_a_redirect_that_leads_nowhere_does_not_show_the_secret_in_its_path(settings: LazySettings, mara: User) -> None:
    with serving(lambda path, _headers: FakeAnswer(302, b"", {"Location": f"{path}x"})) as server:
        failed = read(add_address(settings, mara, server.url("/private-1234")))
        assert "Too many redirects" in explain_error(failed) and "private-1234" not in str(failed.error)


def test_nobody_has_the_portal_ask_machines_inside(settings: LazySettings, mara: User) -> None:
    with serving(FakeAnswer(200, write())) as server:
        calendar = add_address(settings, mara, server.url())
        settings.FEED_PRIVATE = False
        assert "is not on the public internet" in explain_error(read(calendar)) and not server.asked


@pytest.mark.parametrize("address", ["http://cal.example.org/x", "ftp://cal.example.org/x", "https://me:secret@cal.example.org/x", "cal"])
def test_an_address_without_https_or_with_a_password_is_refused(mara: User, address: str) -> None:
    with pytest.raises(Problem) as refused:
        calendar_services.add_calendar(facts=CalendarFacts("x", address=address), by=mara)
    assert refused.value.fieldname == "address" and not DutyCalendar.objects.exists()


def test_a_webcal_address_is_one_of_https(mara: User) -> None:
    made = calendar_services.add_calendar(facts=CalendarFacts("x", address="webcal://cal.example.org/s3cret"), by=mara)
    assert decrypt_address(made) == "https://cal.example.org/s3cret" and made.shown == "https://cal.example.org/…"


def test_a_calendar_is_read_when_it_is_due_and_by_one_worker(mara: User) -> None:
    calendar, now = upload(mara, write()), timezone.now() + timedelta(seconds=1)
    assert read_calendar(calendar.pk, now) and not read_calendar(calendar.pk, now)
    assert read_due_calendars(now + READ_EVERY - timedelta(seconds=1)) == 0
    assert read_due_calendars(now + READ_EVERY) == 1
    assert read_due_calendars(now - 2 * HOUR) == 1, "it was read while the clock was ahead"
    assert read_due_calendars(now - 2 * HOUR) == 0
    DutyCalendar.objects.update(active=False)
    assert read_due_calendars(now + 2 * READ_EVERY) == 0


def test_what_was_changed_while_it_was_read_is_not_overwritten(mara: User) -> None:
    calendar = upload(mara, write(("mara", noon(), noon() + HOUR)))
    before = DutyCalendar.objects.get(pk=calendar.pk)
    facts = CalendarFacts("Netzdienst", content=write(), file_name="new.ics")
    calendar_services.change_calendar(calendar=calendar, version=1, facts=facts, by=mara)
    parsed = parse_calendar(bytes(before.content), timezone.now(), noon(9), timezone.get_current_timezone())
    calendar_reading._store_shifts(before, {}, parsed, timezone.now())
    assert not DutyShift.objects.exists()
    with pytest.raises(Conflict):
        calendar_services.change_calendar(calendar=calendar, version=1, facts=facts, by=mara)


def test_shifts_of_a_calendar_that_is_switched_off_do_not_count_and_go_with_it(mara: User) -> None:
    now = timezone.now()
    calendar = read(upload(mara, write(("mara", now - HOUR, now + HOUR))))
    client = signed_in(mara)
    assert "Mara Lindqvist is on duty" in text(client.get("/alarms/duty/"))
    DutyCalendar.objects.update(active=False)
    assert "Nobody is on duty." in text(client.get("/alarms/duty/"))
    calendar_services.remove_calendar(calendar=calendar, by=mara)
    assert not DutyShift.objects.exists()


def test_addresses_are_encrypted_anew_with_a_new_key(settings: LazySettings, mara: User) -> None:
    made = calendar_services.add_calendar(facts=CalendarFacts("x", address="https://cal.example.org/s3cret"), by=mara)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another-key" * 6
    assert reencrypt_addresses() == 1
    settings.SECRET_KEY_FALLBACKS = []
    made.refresh_from_db()
    assert decrypt_address(made) == "https://cal.example.org/s3cret"
    settings.SECRET_KEY = "a-third-key" * 6
    assert "another NETZWART_SECRET_KEY" in explain_error(read(made))


# --- Pages and API


def test_a_calendar_is_added_changed_and_removed_on_the_page(mara: User) -> None:
    client = signed_in(mara)
    file = SimpleUploadedFile("shifts.ics", write(("mara", noon(), noon() + HOUR)))
    assert client.post("/alarms/duty/calendars/add/", {"name": "x", "active": "on"}).status_code == 422
    assert client.post("/alarms/duty/calendars/add/", {"name": "x", "active": "on", "file": file}).status_code == 302
    calendar = DutyCalendar.objects.get()
    path = f"/alarms/duty/calendars/{calendar.pk}/"
    assert (calendar.shown, "Not read yet" in text(client.get("/alarms/duty/"))) == ("shifts.ics", True)
    assert client.post(path, {"name": "y", "active": "on", "version": 1}).status_code == 302
    assert "This was changed since you read it" in text(client.post(path, {"name": "z", "active": "on", "version": 1}))
    calendar = read(DutyCalendar.objects.get())
    assert (calendar.name, calendar.shifts.count()) == ("y", 1)
    assert "being read" in text(client.post(f"{path}read/", follow=True))
    assert "1 coming shift is removed with it." in text(client.get(f"{path}remove/"))
    assert client.post(f"{path}remove/").status_code == 302 and not DutyCalendar.objects.exists()


def test_a_script_adds_a_calendar_reads_its_state_and_never_its_address(mara: User) -> None:
    _token, key = tokens.create_token(user=mara, name="script")
    api = Client(headers={"authorization": f"Bearer {key}"})
    given = {"name": "Shared", "address": "https://cal.example.org/s3cret"}
    made = api.post("/api/alarms/calendars/", given, content_type="application/json")
    assert made.status_code == 201 and "s3cret" not in made.content.decode() and made.json()["shown"] == "https://cal.example.org/…"
    path = f"/api/alarms/calendars/{made.json()['id']}/"
    changed = api.patch(path, {"active": False}, content_type="application/json")
    assert (changed.status_code, changed.json()["active"], changed.json()["name"]) == (200, False, "Shared")
    moved = api.patch(path, {"address": "https://duty.example.org/s3cret"}, content_type="application/json")
    assert (moved.status_code, moved.json()["shown"], moved.json()["active"]) == (200, "https://duty.example.org/…", False)
    assert api.post(f"{path}refresh/", content_type="application/json").status_code == 400
    assert api.post("/api/alarms/calendars/", {"name": "x"}, content_type="application/json").status_code == 400
    assert api.delete(path).status_code == 204
