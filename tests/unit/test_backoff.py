"""Pauses between attempts to reach a gateway that does not answer."""

from datetime import UTC, datetime, timedelta

from apps.deployments.rollouts.backoff import LONGEST_PAUSE, Backoff

NOW = datetime(2026, 11, 21, 13, 2, 11, tzinfo=UTC)


def pauses(backoff: Backoff, count: int) -> list[float]:
    """Return the pause in seconds after each of this many failures, each one right after the previous pause."""
    found, now = [], NOW
    for _ in range(count):
        backoff.record_failure("refused", now)
        pause = next(half for half in range(1, 100) if not backoff.explain_pause(now + timedelta(seconds=half / 2))) / 2
        found.append(pause)
        now += timedelta(seconds=pause)
    return found


def test_each_pause_is_twice_as_long_up_to_a_limit() -> None:
    assert pauses(Backoff(), 8) == [0.5, 1, 2, 4, 8, 16, LONGEST_PAUSE.total_seconds(), LONGEST_PAUSE.total_seconds()]


def test_meanwhile_it_says_why_since_when_and_when_it_tries_again() -> None:
    backoff = Backoff()
    backoff.record_failure("refused", NOW)
    backoff.record_failure("refused", NOW + timedelta(seconds=8))
    assert backoff.explain_pause(NOW + timedelta(seconds=8)) == "refused (so since 14:02:11, the next try is at 14:02:20)"


def test_after_success_or_at_a_persons_word_it_is_tried_at_once() -> None:
    backoff = Backoff()
    backoff.record_failure("refused", NOW)
    backoff.reset()
    assert backoff.explain_pause(NOW) == ""
    assert pauses(backoff, 1) == [0.5]


def test_where_there_are_no_pauses_it_is_always_tried() -> None:
    backoff = Backoff(first=timedelta(0))
    backoff.record_failure("refused", NOW)
    assert backoff.explain_pause(NOW) == ""
