"""Remaining times of connections: their buckets, and what a shorter timeout would save."""

from collections import Counter
from struct import pack

import pytest
from django.utils.translation import override

from apps.gateways.timeouts.presentation import build_timeouts_view, find_present_timeout
from apps.gateways.timeouts.savings import CHOICES, TimeoutSaving, compute_savings
from apps.network.models import Profile
from firewall.conntrack_timeouts import ESTABLISHED, STATES, TCP, UDP, TimeoutHistogram, TimeoutsAre, find_bucket_start
from gateway.conntrack_timeouts import TimeoutCounts, build_answer, count_timeouts
from gateway.netlink_attributes import pack_attribute, pack_nested

HOUR = 3600


def make_histogram(*pairs: tuple[int, int], protocol: int = TCP, state: str = ESTABLISHED) -> TimeoutHistogram:
    """Build a histogram of pairs: first second of a bucket, and its number."""
    return TimeoutHistogram(protocol, state, tuple(start for start, _ in pairs), tuple(number for _, number in pairs))


def count_gone(histogram: TimeoutHistogram, present: int) -> list[int | None]:
    return [each.gone for each in compute_savings([histogram], present).savings]


def test_a_connection_is_gone_if_it_has_been_silent_for_longer_than_the_new_timeout() -> None:
    day = 24 * HOUR
    silent_for = {30 * 60: 1, 90 * 60: 10, 3 * HOUR: 100, 6 * HOUR: 1000, 20 * HOUR: 10_000}
    found = make_histogram(*sorted((day - idle, number) for idle, number in silent_for.items()))
    assert count_gone(found, day) == [11_110, 11_100, 11_000, 10_000]


def test_a_bucket_that_is_only_partly_silent_for_long_enough_does_not_count() -> None:
    assert count_gone(make_histogram((HOUR, 7)), 2 * HOUR + 59)[0] == 0
    assert count_gone(make_histogram((HOUR, 7)), 2 * HOUR + 60)[0] == 7


def test_a_timeout_that_is_not_shorter_saves_nobody_knows_what() -> None:
    assert count_gone(make_histogram((60, 5)), 7_440) == [5, 5, None, None]
    assert count_gone(make_histogram((60, 5)), HOUR) == [None] * len(CHOICES)


def test_connections_from_before_the_present_timeout_are_told_apart_and_never_counted_as_gone() -> None:
    found = compute_savings([make_histogram((60, 5), (400_000, 3))], 7_440)
    assert (found.number, found.older) == (8, 3)
    assert found.savings[0] == TimeoutSaving(HOUR, 5)


def test_only_open_tcp_connections_count() -> None:
    others = [make_histogram((0, 9), state="time_wait"), make_histogram((0, 9), protocol=UDP, state="answered")]
    assert compute_savings(others, 7_440).number == 0


@pytest.mark.parametrize(("seconds", "start"), [(0, 0), (9, 0), (10, 10), (119, 110), (120, 120), (179, 120), (432_000, 432_000)])
def test_buckets_are_ten_seconds_below_two_minutes_and_a_minute_above(seconds: int, start: int) -> None:
    assert find_bucket_start(seconds) == start


def build_body(remaining: int | None, *, state: str = "", status: int = 0) -> bytes:
    """Build a connection's attributes behind its tuples, as the kernel sends them."""
    info = pack_nested(4, pack_nested(1, pack_attribute(1, bytes((STATES.index(state),))))) if state else b""
    timeout = b"" if remaining is None else pack_attribute(7, pack(">I", remaining))
    return pack_attribute(3, pack(">I", status)) + timeout + info


def count(bodies: list[tuple[int, bytes]]) -> TimeoutCounts:
    found: TimeoutCounts = Counter()
    count_timeouts(bodies, found)
    return found


def test_connections_are_counted_by_protocol_state_and_remaining_time() -> None:
    bodies = [
        (TCP, build_body(7_000, state="established")),
        (TCP, build_body(7_010, state="established")),
        (TCP, build_body(42, state="time_wait")),
        (UDP, build_body(29, status=0b1010)),
        (UDP, build_body(29, status=0b1000)),
        (47, build_body(None)),
    ]
    answer = build_answer(count(bodies), is_whole=True, milliseconds=3)
    assert answer == TimeoutsAre(
        (
            make_histogram((6_960, 2)),
            make_histogram((40, 1), state="time_wait"),
            make_histogram((20, 1), protocol=UDP, state="answered"),
            make_histogram((20, 1), protocol=UDP, state="unanswered"),
        ),
        5,
        True,
        3,
    )


def test_the_timeout_in_force_is_the_profiles_only_if_one_was_saved_and_is_managed() -> None:
    assert find_present_timeout(Profile(tcp_established=600)) == 7_440
    assert find_present_timeout(Profile(pk=1, tcp_established=600, managed=False)) == 7_440
    assert find_present_timeout(Profile(pk=1, tcp_established=600, managed=True)) == 600


@pytest.mark.parametrize(
    ("language", "headline", "ranges"),
    [
        ("en", "1 h instead of 2 h 4 min would save 5 of 12 connections.", ["1 min to 5 min", "1 h to 2 h"]),
        ("de", "1 h statt 2 h 4 min würde 5 von 12 Verbindungen sparen.", ["1 min bis 5 min", "1 h bis 2 h"]),
    ],
)
def test_the_page_says_first_what_an_hour_would_save(language: str, headline: str, ranges: list[str]) -> None:
    answer = TimeoutsAre((make_histogram((60, 5), (7_000, 4)), make_histogram((0, 3), state="time_wait")), 12, True, 900)
    with override(language):
        shown = build_timeouts_view(answer, Profile())
    assert shown.headline.replace("\N{NARROW NO-BREAK SPACE}", " ") == headline
    assert [each.range.replace("\N{NARROW NO-BREAK SPACE}", " ") for each in shown.groups[0].bars] == ranges
    assert [(each.number, each.most) for each in shown.groups] == [(9, 5), (3, 3)]
