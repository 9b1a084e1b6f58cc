"""Days and times that are too far in the future or the past are refused with a sentence."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.alarms.duty import calendar_services
from apps.alarms.duty.calendar_reading import read_calendar
from apps.alarms.duty.calendar_services import CalendarFacts
from apps.announcements.models import Announcement
from apps.audit.models import Enquiry
from apps.bans import allow_list, services, undo
from apps.bans.blocks.services import block_member
from apps.lib.errors import Problem
from apps.members import payment_import
from apps.members.departures import plan_departure
from apps.members.models import Departure, Member
from apps.nat.moving.services import plan_member_move as plan_member_move
from apps.nat.pinholes.models import Pinhole
from apps.operations.portal_health.models import BackupNote
from apps.status.incidents.models import Incident
from apps.traffic.rates.services import limit_member
from tests import factories
from tests.db.page_client import confirm_preview, signed_in, text

FAR = datetime(9999, 12, 31, 12, tzinfo=UTC)
WORDS = "That is too far away. Choose a time before the year 2200, or none."
LONG_AGO = "That is too long ago. Choose a time from the year 1900 on."
FIRST_DAYS = ["0001-01-01T00:00", "0001-01-02T00:00", "1899-12-31T23:00"]
FAULT: dict[str, Any] = {
    "title_en": "Slow", "services": ["ipv4"], "impact": "degraded", "public": "on", "stage": "looking", "text_en": "We are looking.",
}  # fmt: skip
WORK: dict[str, Any] = FAULT | {"stage": "planned", "planned_end": "2026-11-01T00:00"}
NOTICE: dict[str, Any] = {"title_en": "Water off", "text_en": "From 9 to 11.", "shown_until": "2190-01-01T00:00"}
MEMBER: dict[str, Any] = {"name": "Selin Kaya", "since": "2025-10-01"}


def make_script(network: factories.Network) -> Client:
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def check_that_pages_are_there(client: Client, *more: str) -> None:
    pages = (
        "/",
        "/status/",
        "/status/atom.xml",
        "/status/calendar.ics",
        "/status/status.json",
        "/announcements/",
        "/incidents/",
        "/history/",
        *more,
    )
    assert {page: client.get(page).status_code for page in pages} == dict.fromkeys(pages, 200)


def read_refusal(do: Any) -> tuple[str, str]:
    with pytest.raises(Problem) as caught:
        do()
    return str(caught.value), caught.value.fieldname


def test_no_ban_block_or_limit_ends_in_the_year_9999(network: factories.Network) -> None:
    admin, member = network.admin, network.residents["m1"].member
    own = services.create_list(name="Own", by=admin)
    assert read_refusal(lambda: services.ban_prefix(list=own, prefix="203.0.113.66", expires=FAR, author=admin)) == (WORDS, "expires")
    assert read_refusal(lambda: allow_list.allow_prefix(prefix="203.0.113.66", expires=FAR, author=admin)) == (WORDS, "expires")
    assert read_refusal(lambda: undo.set_ban_ends(bans=[], expires=FAR, by=admin)) == (WORDS, "until")
    assert read_refusal(lambda: block_member(member=member, reason="other", until=FAR, by=admin)) == (WORDS, "until")
    assert read_refusal(lambda: limit_member(member=member, up_kbit=100, down_kbit=100, reason="other", until=FAR, by=admin)) == (
        WORDS,
        "until",
    )


def test_nobody_leaves_or_moves_in_the_year_9999(network: factories.Network) -> None:
    admin, member, room = network.admin, network.residents["m1"].member, None
    assert read_refusal(lambda: plan_departure(member=member, on=date(9999, 12, 31), by=admin)) == (WORDS, "on")
    pool = network.private
    assert read_refusal(lambda: plan_member_move(member=member, on=FAR.date(), room=room, pool=pool, follow=True, by=admin)) == (
        WORDS,
        "on",
    )


def test_the_page_of_leaving_says_so_and_the_member_s_page_is_there(network: factories.Network) -> None:
    mara, path = signed_in(network.admin), f"/members/{network.residents['m1'].member.pk}/"
    answer = mara.post(f"{path}leave/", {"on": "9999-12-31"})
    assert (answer.status_code, WORDS in text(answer)) == (422, True)
    assert not Departure.objects.exists()
    assert mara.get(path).status_code == 200


def test_a_pinhole_ends_before_that(network: factories.Network) -> None:
    mara, path = signed_in(network.admin), f"/members/{network.residents['m1'].member.pk}/pinholes/add/"
    given = {"pinhole-protocol": "tcp", "pinhole-port": "443", "pinhole-address": "::10", "pinhole-until": "9999-12-31"}
    answer = mara.post(path, given)
    assert (answer.status_code, WORDS in text(answer)) == (422, True)
    assert not Pinhole.objects.exists()


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00", "1899-12-31T23:59:59"])
def test_who_had_an_address_before_there_were_any_is_no_question(network: factories.Network, at: str) -> None:
    mara = signed_in(network.admin)
    answer = mara.post("/addresses/held/", {"address": "198.51.100.7", "at": at, "reason": "a slip of the pen"})
    assert (answer.status_code, "No address was assigned before the year 1970. Choose a later time." in text(answer)) == (422, True)
    assert "a slip of the pen" not in text(mara.get("/history/enquiries/"))


def test_a_file_s_bans_do_not_end_there_either(network: factories.Network) -> None:
    own = services.create_list(name="Own", by=network.admin)
    answer = signed_in(network.admin).post(f"/bans/{own.pk}/import/", {"term": "at", "until": f"{timezone.now().year + 7000}-01-01T00:00"})
    assert WORDS in text(answer)


@pytest.mark.parametrize("at", FIRST_DAYS)
@pytest.mark.parametrize(
    ("path", "given", "field"),
    [
        ("/incidents/add/fault/", FAULT, "began"),
        ("/incidents/add/maintenance/", WORK, "began"),
        ("/announcements/add/", NOTICE, "shown_from"),
        ("/announcements/add/", NOTICE | {"shown_until": "0001-01-03T00:00"}, "shown_from"),
    ],
)
def test_nothing_begins_before_the_year_1900_and_all_pages_stay_there(
    network: factories.Network, path: str, given: dict[str, Any], field: str, at: str
) -> None:
    mara = signed_in(network.admin)
    answer = mara.post(path, given | {field: at})
    assert (answer.status_code, LONG_AGO in text(answer)) == (422, True)
    assert not Incident.objects.exists() and not Announcement.objects.exists()
    check_that_pages_are_there(mara)


def test_a_fault_since_1900_breaks_no_page(network: factories.Network) -> None:
    mara = signed_in(network.admin)
    assert mara.post("/incidents/add/fault/", FAULT | {"began": "1900-01-02T00:00"}).status_code == 302
    own = f"/incidents/{Incident.objects.get().pk}/"
    check_that_pages_are_there(mara, own, f"{own}report/", f"{own}edit/")


@pytest.mark.parametrize("at", ["0001-01-01T00:53:28+00:53:28", "0001-01-02T00:00:00Z", "1899-12-31T23:59:59Z"])
@pytest.mark.parametrize(
    ("path", "given", "field"),
    [
        ("status/incidents", {"services": ["ipv4"], "title_en": "Slow", "first": {"stage": "looking", "text_en": "We look."}}, "began"),
        ("announcements/announcements", NOTICE | {"shown_until": "2190-01-01T00:00:00Z"}, "shown_from"),
        ("announcements/announcements", NOTICE, "shown_until"),
        ("members/members", MEMBER, "since"),
        ("members/members", MEMBER, "paid_until"),
        ("audit/enquiries", {"address": "198.51.100.7", "reason": "abuse 4711"}, "at"),
        ("bans/bans", {"prefix": "203.0.113.66"}, "until"),
        ("bans/allowed", {"prefix": "203.0.113.66"}, "until"),
        ("bans/blocks", {"reason": "other"}, "until"),
        ("traffic/ratelimits", {"up_kbit": 100, "down_kbit": 100, "reason": "other"}, "until"),
        ("nat/pinholes", {"protocol": "tcp", "port": 443, "ports": 1}, "until"),
        ("alarms/silences", {"key": "", "reason": "work"}, "until"),
        ("alarms/shifts", {}, "begins"),
        ("members/departures", {}, "on"),
        ("nat/moves", {}, "on"),
    ],
)
def test_the_api_stores_no_time_of_long_ago(network: factories.Network, path: str, given: dict[str, Any], field: str, at: str) -> None:
    member, prefix = network.residents["m1"].member, network.residents["m1"].prefix
    rows: dict[str, dict[str, Any]] = {
        "members/members": {"tariff": member.tariff_id},
        "bans/bans": {"list": services.create_list(name="Own", by=network.admin).pk},
        "alarms/shifts": {"person": network.admin.pk, "ends": (timezone.now() + timedelta(days=1)).isoformat()},
        "nat/pinholes": {"holding": prefix.pk, "address": str(prefix.prefix[16])},
        "nat/moves": {"member": member.pk, "pool": network.private.pk, "follow": True},
        **{each: {"member": member.pk} for each in ("bans/blocks", "traffic/ratelimits", "members/departures")},
    }
    when = at[:10] if field in ("since", "paid_until", "on") else at
    body = given | rows.get(path, {}) | {field: when}
    answer = make_script(network).post(f"/api/{path}/", body, content_type="application/json")
    refused = "ends" if path == "alarms/shifts" else field  # it lasts too long
    assert (answer.status_code, f'"field":"{refused}"' in text(answer)) == (400, True), text(answer)


def test_a_member_is_not_paid_until_a_day_of_long_ago(network: factories.Network) -> None:
    mara, member = signed_in(network.admin), network.residents["m1"].member
    answer = confirm_preview(mara, "/members/bulk/", {"do": "extend", "pick": str(member.pk), "until": "0001-01-01"})
    assert (answer.status_code, LONG_AGO in text(answer)) == (422, True)
    preview = payment_import.read_payments(f"{member.number};0001-01-01\n{member.number};01.01.2200")
    assert [fault.why[:34] for fault in preview.faults] == ["The second cell is not a date. Wri"] * 2
    assert Member.objects.get(pk=member.pk).paid_until is None


@pytest.mark.parametrize("at", ["9999-12-31T12:00:00Z", "2200-01-01T00:00:00Z"])
def test_nobody_looks_up_or_promises_what_is_in_the_year_9999(network: factories.Network, at: str) -> None:
    script, mara = make_script(network), signed_in(network.admin)
    asked = {"address": "198.51.100.7", "reason": "abuse 4711", "at": at}
    answer = script.post("/api/audit/enquiries/", asked, content_type="application/json")
    assert (answer.status_code, WORDS in text(answer), Enquiry.objects.exists()) == (400, True, False)
    mara.post("/incidents/add/fault/", FAULT | {"began": timezone.localtime().strftime("%Y-%m-%dT00:00")})
    told = {"stage": "looking", "text_en": "We look.", "next_update": at}
    path = f"/api/status/incidents/{Incident.objects.get().pk}/tell/"
    answer = script.post(path, told, content_type="application/json")
    assert (answer.status_code, WORDS in text(answer)) == (400, True)
    check_that_pages_are_there(mara, "/history/enquiries/")


@pytest.mark.parametrize("begins", ["99991231T235959Z", "22000101T000000Z", "00010101T000000Z"])
def test_an_event_that_is_nobody_s_shift_breaks_no_page_by_its_time(network: factories.Network, begins: str) -> None:
    event = ["BEGIN:VEVENT", "UID:1", "SUMMARY:Never", f"DTSTART:{begins}", "RRULE:FREQ=DAILY;BYHOUR=1,2,3,4,5", "END:VEVENT"]
    content = "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//", *event, "END:VCALENDAR", ""]).encode()
    row = calendar_services.add_calendar(facts=CalendarFacts("Netzdienst", content=content, file_name="shifts.ics"), by=network.admin)
    read_calendar(row.pk, timezone.now())
    row.refresh_from_db()
    assert [(each["summary"], each["begins"]) for each in row.unmatched] == [("Never", None)]
    assert signed_in(network.admin).get("/alarms/duty/").status_code == 200


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+01:00", "0001-01-02T00:00:00+00:00"])
def test_no_backup_was_made_long_ago(network: factories.Network, at: str) -> None:
    with pytest.raises(CommandError, match="too long ago"):
        call_command("note_backup", "nas:/backup", size=1, at=at)
    with pytest.raises(CommandError, match="is not a past time"):
        call_command("restore", hold=at)
    assert not BackupNote.objects.exists()
