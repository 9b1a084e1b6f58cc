"""Quiet hours of channels: which times lie in them, and when they end."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from apps.alarms.channels.quiet_hours import find_quiet_end, is_quiet

BERLIN = ZoneInfo("Europe/Berlin")
MINUTES = st.integers(0, 24 * 60 - 1).map(lambda minutes: time(minutes // 60, minutes % 60))


def at(hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 7, 1, hour, minute, tzinfo=BERLIN)


def test_the_night_spans_midnight() -> None:
    quiet = [hour for hour in range(24) if is_quiet(time(23), time(7), at(hour))]
    assert quiet == [0, 1, 2, 3, 4, 5, 6, 23]


def test_hours_of_a_day_begin_with_the_first_and_end_before_the_last() -> None:
    assert [hour for hour in range(24) if is_quiet(time(12), time(14), at(hour))] == [12, 13]
    assert is_quiet(time(12), time(14), at(13, 59))


def test_without_quiet_hours_no_time_is_quiet() -> None:
    assert not any(is_quiet(None, None, at(hour)) for hour in range(24))


@given(MINUTES, MINUTES, MINUTES)
def test_every_quiet_time_ends_within_a_day_when_it_is_quiet_no_more(begin: time, end: time, now: time) -> None:
    moment = datetime(2026, 7, 1, now.hour, now.minute, tzinfo=BERLIN)
    if begin != end and is_quiet(begin, end, moment):
        over = find_quiet_end(end, moment)
        assert moment < over <= moment + timedelta(days=1)
        assert not is_quiet(begin, end, over)
        assert is_quiet(begin, end, over - timedelta(minutes=1))
