"""The monitor of a portal: when it tells that the portal is dead, and when that it is back."""

from hypothesis import given
from hypothesis import strategies as st

from apps.alarms.dead_man.monitor import MonitorEvent, MonitorState, advance, describe_report


def run(looks: list[str], after: int = 3) -> list[MonitorEvent | None]:
    state, events = MonitorState(), []
    for fault in looks:
        state, event = advance(state, fault, after)
        events.append(event)
    return events


def test_it_tells_after_some_failures_in_a_row_and_once() -> None:
    assert run(["x", "x", "", "x", "x", "x", "x"]) == [None, None, None, None, None, MonitorEvent.DOWN, None]


def test_it_tells_that_the_portal_is_back_if_it_told_that_it_was_dead() -> None:
    assert run(["x", "x", "x", "", ""]) == [None, None, MonitorEvent.DOWN, MonitorEvent.UP, None]


@given(st.lists(st.sampled_from(["", "x"])), st.integers(1, 5))
def test_deaths_and_returns_take_turns(looks: list[str], after: int) -> None:
    told = [each for each in run(looks, after) if each]
    assert told == [MonitorEvent.DOWN if at % 2 == 0 else MonitorEvent.UP for at in range(len(told))]


def test_a_report_of_health_is_put_in_words_and_anything_else_is_its_status() -> None:
    report = b'{"database": true, "roles": {"worker": {"fault": "silent"}, "mailer": {"fault": null}}}'
    assert describe_report(503, report) == "worker is silent"
    assert describe_report(503, b'{"database": false, "roles": {}}') == "the database does not answer"
    assert [describe_report(502, body) for body in (b"<html>", b"[]", b"null", b"{}")] == ["it answered 502"] * 4
