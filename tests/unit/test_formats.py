"""Formats of values on pages, in English and German."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from ipaddress import ip_interface, ip_network

import pytest
from django.utils import timezone, translation

from apps.lib.ui import formats

NOW = datetime(2026, 11, 12, 20, 16, 40, tzinfo=UTC)  # 21:16:40 CET


@pytest.fixture(autouse=True)
def berlin() -> Iterator[None]:
    with translation.override("en"), timezone.override("Europe/Berlin"):
        yield


def plain(text: str) -> str:
    return text.replace(formats.SPACE, " ")


@pytest.mark.parametrize(
    ("octets", "english", "german"),
    [
        (0, "0 B", "0 B"),
        (512, "512 B", "512 B"),
        (999, "999 B", "999 B"),
        (1000, "1.00 kB", "1,00 kB"),
        (14_200_000_000, "14.2 GB", "14,2 GB"),
        (147e9, "147 GB", "147 GB"),
        (999_600_000_000, "1.00 TB", "1,00 TB"),
        (1.12e12, "1.12 TB", "1,12 TB"),
        (-61e9, "\u221261.0 GB", "\u221261,0 GB"),
        (None, "unknown", "unbekannt"),
    ],
)
def test_volumes_have_three_digits_and_si_units(octets: float | None, english: str, german: str) -> None:
    assert plain(formats.format_volume(octets)) == english
    with translation.override("de"):
        assert plain(formats.format_volume(octets)) == german


def test_the_space_before_a_unit_is_narrow_and_never_breaks() -> None:
    assert formats.format_volume(512) == "512\u202fB"
    assert formats.format_percent(20) == "20\u202f%"


def test_rates_are_bits_and_packets_are_counted() -> None:
    assert plain(formats.format_rate(418e6)) == "418 Mbit/s"
    assert plain(formats.format_rate(1.84e9)) == "1.84 Gbit/s"
    assert plain(formats.format_packets(212_000)) == "212 k/s"
    assert plain(formats.format_packets(7)) == "7 /s"


def test_numbers_group_by_language_and_carry_a_true_minus() -> None:
    assert formats.format_number(2418) == "2,418"
    assert formats.format_number(-1650) == "\u22121,650"
    assert plain(formats.format_percent(25.3)) == "25.3 %"
    with translation.override("de"):
        assert formats.format_number(2418) == "2.418"
        assert plain(formats.format_percent(25.3)) == "25,3 %"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 ms"), (0.0013, "1.3 ms"), (0.003, "3.0 ms"), (0.05, "50 ms"), (0.38, "0.38 s"), (1.08, "1.08 s"), (3, "3 s"), (17, "17 s"),
     (600, "10 min"), (7200, "2 h"), (172_800, "2 days")],
)  # fmt: skip
def test_durations_are_read_at_a_glance(seconds: float, text: str) -> None:
    assert plain(formats.format_duration(seconds)) == text


def test_a_time_says_as_much_of_the_day_as_is_needed() -> None:
    assert formats.format_moment(datetime(2026, 11, 12, 20, 13, 40, tzinfo=UTC), NOW) == "21:13:40"
    assert formats.format_moment(datetime(2026, 11, 12, 20, 13, 40, tzinfo=UTC), NOW, with_seconds=False, with_zone=True) == "21:13 CET"
    assert formats.format_moment(datetime(2026, 11, 10, 17, 2, tzinfo=UTC), NOW) == "Tue 10 Nov, 18:02"
    assert formats.format_moment(datetime(2025, 1, 1, 12, 0, tzinfo=UTC), NOW) == "1 Jan 2025, 13:00"


def test_a_text_that_is_read_later_says_the_day_of_today_too() -> None:
    assert formats.format_moment(NOW, NOW, with_seconds=False, with_day=True) == "Thu 12 Nov, 21:16"
    with translation.override("de"):
        assert formats.format_moment(NOW, NOW, with_zone=True, with_day=True) == "Do, 12.11., 21:16 Uhr MEZ"


def test_a_time_that_the_clock_shows_twice_always_names_its_zone() -> None:
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert [formats.format_moment(at, at, with_seconds=False) for at in (first, first + timedelta(hours=1))] == ["02:30 CEST", "02:30 CET"]
    assert formats.format_moment(first + timedelta(hours=1), NOW, with_seconds=False) == "Sun 25 Oct, 02:30 CET"
    assert formats.format_moment(first + timedelta(hours=2), NOW, with_seconds=False) == "Sun 25 Oct, 03:30"


def test_a_time_in_another_zone_than_now_always_names_it() -> None:
    assert formats.format_moment(datetime(2025, 5, 3, 0, 14, tzinfo=UTC), NOW) == "3 May 2025, 02:14 CEST"


def test_today_is_the_day_of_the_site_not_of_utc() -> None:
    late = datetime(2026, 11, 12, 23, 30, tzinfo=UTC)  # 00:30 of the 13th in Berlin
    assert formats.format_moment(late, NOW) == "Fri 13 Nov, 00:30"


def test_german_times_say_uhr_and_mez() -> None:
    with translation.override("de"):
        assert formats.format_full_time(NOW) == "Do, 12.11.2026, 21:16 Uhr MEZ"
        assert formats.format_moment(datetime(2026, 11, 10, 17, 2, tzinfo=UTC), NOW) == "Di, 10.11., 18:02"
        assert formats.format_moment(datetime(2025, 5, 3, 0, 14, tzinfo=UTC), NOW) == "03.05.2025, 02:14 Uhr MESZ"
        assert formats.format_day(date(2026, 12, 31)) == "31.12.2026"
        assert plain(formats.format_ago(NOW - timedelta(seconds=3), NOW)) == "vor 3 s"


def test_relative_time_never_runs_ahead() -> None:
    assert plain(formats.format_ago(NOW - timedelta(seconds=3), NOW)) == "3 s ago"
    assert formats.format_ago(NOW + timedelta(seconds=3), NOW) == "just now"


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),  # one group of zeros is not shortened
        ("2001:0db8::0001", "2001:db8::1"),
        ("::ffff:c633:6407", "::ffff:198.51.100.7"),
        ("2001:db8:a0:2214::/64", "2001:db8:a0:2214::/64"),
        ("192.0.2.128/26", "192.0.2.128/26"),
        (ip_interface("10.12.34.56/32"), "10.12.34.56"),
        (ip_interface("10.12.34.56/24"), "10.12.34.56/24"),
        (ip_network("192.0.2.7/32"), "192.0.2.7/32"),
        ("not an address", "not an address"),
    ],
)
def test_addresses_are_canonical(given: str, canonical: str) -> None:
    assert formats.format_address(given) == canonical


def test_a_port_follows_a_colon_and_ipv6_stands_in_brackets() -> None:
    assert formats.format_address("198.51.100.7", 8443) == "198.51.100.7:8443"
    assert formats.format_address("2001:db8::1", 443) == "[2001:db8::1]:443"
