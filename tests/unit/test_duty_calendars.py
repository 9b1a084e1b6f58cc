"""Calendars of shifts are read as people mean them: repetitions, exceptions, zones and days; strangers' files cannot keep us busy."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from time import monotonic
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.alarms.duty.calendar_events import CalendarFault, CalendarNotRead, EventOccurrence, ParsedCalendar, SkipReason
from apps.alarms.duty.calendar_parser import parse_calendar
from apps.alarms.duty.matching import DutyCandidate, MatchFailure, MatchReason, match_person

BERLIN = ZoneInfo("Europe/Berlin")
SINCE = datetime(2026, 10, 1, tzinfo=UTC)
UNTIL = SINCE + timedelta(days=90)
MARA = DutyCandidate(1, "mara", "Mara Lindqvist", "Mara@lindenhof.example")
JONAS = DutyCandidate(2, "jonas", "Jonas Brandt", "jonas@lindenhof.example")
OWN_ZONE = (
    "BEGIN:VTIMEZONE", "TZID:House time",
    "BEGIN:STANDARD", "DTSTART:19701025T030000", "TZOFFSETFROM:+0200", "TZOFFSETTO:+0100", "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
    "END:STANDARD",
    "BEGIN:DAYLIGHT", "DTSTART:19700329T020000", "TZOFFSETFROM:+0100", "TZOFFSETTO:+0200", "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU",
    "END:DAYLIGHT", "END:VTIMEZONE",
)  # fmt: skip


def calendar(*events: Sequence[str], before: Sequence[str] = ()) -> bytes:
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//", *before]
    for number, event in enumerate(events):
        uid = () if any(line.startswith("UID") for line in event) else (f"UID:{number}",)
        lines += ["BEGIN:VEVENT", *uid, "DTSTAMP:20260101T000000Z", *event, "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""]).encode()


def read(*events: Sequence[str], before: Sequence[str] = ()) -> ParsedCalendar:
    return parse_calendar(calendar(*events, before=before), SINCE, UNTIL, BERLIN)


def spans(parsed: ParsedCalendar) -> list[tuple[str, str]]:
    return [(f"{each.begins:%d.%m. %H:%M}", f"{each.ends:%d.%m. %H:%M}") for each in parsed.occurrences]


def skips(parsed: ParsedCalendar) -> list[SkipReason]:
    return [each.reason for each in parsed.skipped]


def test_a_weekly_shift_keeps_its_hours_over_the_end_of_summer_time() -> None:
    zone = "TZID=Europe/Berlin"
    rule = "RRULE:FREQ=WEEKLY;COUNT=3"
    found = read((f"DTSTART;{zone}:20261018T200000", f"DTEND;{zone}:20261019T080000", rule, "SUMMARY:mara"))
    assert spans(found) == [
        ("18.10. 18:00", "19.10. 06:00"),
        ("25.10. 19:00", "26.10. 07:00"),
        ("01.11. 19:00", "02.11. 07:00"),
    ]


def test_a_night_in_which_the_clock_goes_back_is_an_hour_longer() -> None:
    zone = "TZID=Europe/Berlin"
    [night] = read((f"DTSTART;{zone}:20261024T200000", f"DTEND;{zone}:20261025T080000")).occurrences
    assert night.ends - night.begins == timedelta(hours=13)


def test_a_zone_that_the_file_describes_counts() -> None:
    event = ("DTSTART;TZID=House time:20261024T120000", "DTEND;TZID=House time:20261026T120000")
    assert spans(read(event, before=OWN_ZONE)) == [("24.10. 10:00", "26.10. 11:00")]


def test_a_zone_that_nobody_knows_is_told_and_not_guessed() -> None:
    assert skips(read(("DTSTART;TZID=Mars/Olympus:20261024T120000", "DTEND;TZID=Mars/Olympus:20261024T130000"))) == [
        SkipReason.UNKNOWN_ZONE
    ]


def test_days_and_times_without_a_zone_are_ours() -> None:
    found = read(
        ("DTSTART;VALUE=DATE:20261025", "DTEND;VALUE=DATE:20261026"),
        ("DTSTART;VALUE=DATE:20261027",),
        ("DTSTART:20261101T120000", "DURATION:PT1H"),
    )
    assert spans(found) == [("24.10. 22:00", "25.10. 23:00"), ("26.10. 23:00", "27.10. 23:00"), ("01.11. 11:00", "01.11. 12:00")]


def test_exceptions_moved_and_cancelled_occurrences_count() -> None:
    series = ("UID:s", "DTSTART:20261005T080000Z", "DTEND:20261005T160000Z", "RRULE:FREQ=DAILY;COUNT=4", "EXDATE:20261006T080000Z")
    moved = ("UID:s", "RECURRENCE-ID:20261007T080000Z", "DTSTART:20261007T120000Z", "DTEND:20261007T200000Z", "SUMMARY:jonas")
    cancelled = ("UID:s", "RECURRENCE-ID:20261008T080000Z", "DTSTART:20261008T080000Z", "DTEND:20261008T160000Z", "STATUS:CANCELLED")
    found = read(series, moved, cancelled)
    assert spans(found) == [("05.10. 08:00", "05.10. 16:00"), ("07.10. 12:00", "07.10. 20:00")]
    assert [each.summary for each in found.occurrences] == ["", "jonas"]


def test_the_same_file_gives_the_same_keys() -> None:
    event = ("DTSTART:20261005T080000Z", "DTEND:20261005T160000Z", "RRULE:FREQ=DAILY;COUNT=4")
    keys = [each.key for each in read(event).occurrences]
    assert keys == [each.key for each in read(event).occurrences] and len(set(keys)) == 4


def test_what_cannot_be_a_shift_is_told_with_the_reason_and_the_others_count() -> None:
    fine = ("DTSTART:20261005T080000Z", "DTEND:20261005T160000Z")
    found = read(
        fine,
        ("SUMMARY:no time",),
        ("DTSTART:20261005T080000Z",),
        ("DTSTART:20261005T080000Z", "DTEND:20261205T080000Z"),
        ("DTSTART:20261005T080000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;BYMINUTE=0,1,2,3,4"),
        ("DTSTART:19991005T080000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY"),
    )
    reasons = [SkipReason.NO_TIME, SkipReason.RULE, SkipReason.RULE, SkipReason.NO_DURATION, SkipReason.TOO_LONG]
    assert (len(found.occurrences), skips(found)) == (1, reasons)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"<html>sign in</html>", CalendarFault.NO_CALENDAR),
        (b"", CalendarFault.NO_CALENDAR),
        (b"\xff\xfe\x00", CalendarFault.NO_CALENDAR),
        (b"BEGIN:VCARD\r\nEND:VCARD\r\n", CalendarFault.NO_CALENDAR),
        (b"x" * (2 << 20), CalendarFault.TOO_BIG),
        (calendar(*[("DTSTART:20261005T080000Z",)] * 3001), CalendarFault.TOO_MANY),
        (calendar(*[("DTSTART:20261005T080000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY")] * 30), CalendarFault.TOO_MANY),
        (calendar(("DTSTART:19700101T000000Z", "DURATION:PT1S", "RRULE:FREQ=SEC\r\n ONDLY")), CalendarFault.TOO_FREQUENT),
        (calendar(before=[each.replace("YEARLY", "minutely") for each in OWN_ZONE]), CalendarFault.TOO_FREQUENT),
    ],
)
def test_a_file_that_is_no_calendar_or_would_keep_us_busy_is_refused_as_a_whole(content: bytes, fault: CalendarFault) -> None:
    begun = monotonic()
    with pytest.raises(CalendarNotRead) as refused:
        parse_calendar(content, SINCE, UNTIL, BERLIN)
    assert refused.value.fault is fault and monotonic() - begun < 30


PIECES = st.sampled_from(
    (
        *("DTSTART", "DTEND", "DURATION", "RRULE", "EXDATE", "RDATE", "RECURRENCE-ID", "UID", "SUMMARY", "STATUS", "ATTENDEE", "ORGANIZER"),
        *(
            "BEGIN:VEVENT",
            "END:VEVENT",
            "BEGIN:VTIMEZONE",
            "END:VCALENDAR",
            ";TZID=Europe/Berlin",
            ";TZID=",
            ";VALUE=DATE",
            ":",
            ";",
            "=",
            ",",
        ),
        *("20261005T080000Z", "20261005T080000", "20261005", "00010101", "99991231T235959Z", "PT1H", "-P1D", "P99999999D", "mailto:", "\0"),
        *("FREQ=DAILY", "FREQ=WEEKLY", "FREQ=NEVER", "COUNT=3", "UNTIL=1", "INTERVAL=0", "BYDAY=XX", "\r\n", "\r\n ", "ä", "\udcff"),
    )
)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.lists(PIECES, max_size=6).map("".join), max_size=8))
def test_whatever_a_stranger_writes_is_read_or_refused_with_a_reason(lines: list[str]) -> None:
    event = "\r\n".join(["BEGIN:VCALENDAR", "BEGIN:VEVENT", "UID:1", "DTSTART:20261005T080000Z", *lines, "END:VEVENT", "END:VCALENDAR", ""])
    try:
        found = parse_calendar(event.encode("utf-8", "surrogateescape"), SINCE, UNTIL, BERLIN)
    except CalendarNotRead as refused:
        assert refused.fault in CalendarFault
        return
    assert all(each.begins < each.ends and each.begins.tzinfo and "\0" not in each.summary for each in found.occurrences)


# --- Whose shift it is


def occurrence(summary: str = "", attendees: tuple[str, ...] = (), organizer: str = "") -> EventOccurrence:
    return EventOccurrence("k", summary, SINCE, UNTIL, attendees, organizer)


@pytest.mark.parametrize(
    ("event", "person"),
    [
        (occurrence(attendees=("mara@LINDENHOF.example",)), MARA),
        (occurrence("Netzdienst: Jonas Brandt"), JONAS),
        (occurrence("JONAS (night)"), JONAS),
        (occurrence("mara", organizer="jonas@lindenhof.example"), MARA),
        (occurrence("Duty", organizer="jonas@lindenhof.example"), JONAS),
        (occurrence("Jonas is away", attendees=("mara@lindenhof.example",)), MARA),
        (occurrence("Duty: jonas", attendees=("mara@lindenhof.example", "jonas@lindenhof.example")), JONAS),
    ],
)
def test_an_event_is_the_shift_of_the_one_person_whom_it_names(event: EventOccurrence, person: DutyCandidate) -> None:
    assert match_person(event, [MARA, JONAS]) == person


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (occurrence("Summer party"), MatchReason.NOBODY),
        (occurrence("Maratea and jonasberg"), MatchReason.NOBODY),
        (occurrence("mara or jonas"), MatchReason.SEVERAL),
        (occurrence("Duty", attendees=("mara@lindenhof.example", "jonas@lindenhof.example")), MatchReason.SEVERAL),
        (occurrence(attendees=("stranger@example.org", "")), MatchReason.NOBODY),
    ],
)
def test_an_event_that_names_nobody_or_several_is_nobodys(event: EventOccurrence, reason: MatchReason) -> None:
    found = match_person(event, [MARA, JONAS, DutyCandidate(3, "ghost", "Ghost", "")])
    assert isinstance(found, MatchFailure) and found.reason is reason


def test_who_declined_is_not_on_duty_and_addresses_are_read_in_each_form() -> None:
    [event] = read(
        (
            "DTSTART:20261005T080000Z",
            "DTEND:20261005T160000Z",
            "ATTENDEE;PARTSTAT=DECLINED:mailto:jonas@lindenhof.example",
            "ATTENDEE;CN=Mara:MAILTO:mara@lindenhof.example",
            "ATTENDEE;EMAIL=tom@lindenhof.example:urn:uuid:1",
            "ORGANIZER:mailto:board@lindenhof.example",
        )
    ).occurrences
    assert (event.attendees, event.organizer) == (("mara@lindenhof.example", "tom@lindenhof.example"), "board@lindenhof.example")
