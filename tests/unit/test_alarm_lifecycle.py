"""When an alarm is reported and when it is over, as functions of times."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from apps.alarms import lifecycle
from apps.alarms.models import Severity

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
SECONDS = st.integers(0, 100_000).map(lambda seconds: timedelta(seconds=seconds))


@given(lasted=SECONDS, earlier=st.integers(0, 10))
def test_an_alarm_is_due_once_it_has_lasted_and_what_comes_back_often_later(lasted: timedelta, earlier: int) -> None:
    due = lifecycle.is_report_due(since=NOON - lasted, gone=None, reported=None, earlier=earlier, now=NOON)
    assert due == (lasted >= (timedelta(minutes=15) if earlier >= 3 else timedelta(seconds=15)))


@given(lasted=SECONDS, earlier=st.integers(0, 10))
def test_nothing_is_due_that_was_reported_or_is_gone(lasted: timedelta, earlier: int) -> None:
    began = NOON - lasted
    assert not lifecycle.is_report_due(since=began, gone=None, reported=NOON, earlier=earlier, now=NOON)
    assert not lifecycle.is_report_due(since=began, gone=NOON, reported=None, earlier=earlier, now=NOON)


@given(gone=SECONDS)
def test_an_alarm_is_over_when_its_condition_has_been_gone_for_two_minutes(gone: timedelta) -> None:
    assert lifecycle.is_over(NOON - gone, NOON) == (gone >= timedelta(minutes=2))
    assert not lifecycle.is_over(None, NOON)


@given(new=st.sampled_from(Severity), old=st.sampled_from(Severity))
def test_of_two_severities_one_is_worse_or_both_are_the_same(new: Severity, old: Severity) -> None:
    assert lifecycle.is_worse(new, old) + lifecycle.is_worse(old, new) == (new != old)
    assert lifecycle.is_worse(Severity.CRITICAL, Severity.DECISION)
