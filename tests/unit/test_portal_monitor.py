"""The monitor of a portal: when it tells that the portal is dead, and when that it is back."""

from hypothesis import given
from hypothesis import strategies as st

from apps.alarms.dead_man.monitor import MonitorEvent, MonitorState, advance, choose_message, describe_report, record_taken

type Told = tuple[MonitorEvent, str]


def run(looks: list[str], after: int = 3, targets: tuple[str, ...] = ("phone",), refused: tuple[set[str], ...] = ()) -> list[list[Told]]:
    """Return, by look, what each target took. refused: by look, the targets that take nothing then."""
    state, taken = MonitorState(), []
    for number, fault in enumerate(looks):
        state = advance(state, fault)
        event, due = choose_message(state, targets, after)
        took = [each for each in due if number >= len(refused) or each not in refused[number]]
        state = record_taken(state, event, took)
        taken.append([(event, each) for each in took])
    return taken


DOWN, UP = (MonitorEvent.DOWN, "phone"), (MonitorEvent.UP, "phone")


def test_it_tells_after_some_failures_in_a_row_and_once() -> None:
    assert run(["x", "x", "", "x", "x", "x", "x"]) == [[], [], [], [], [], [DOWN], []]


def test_it_tells_that_the_portal_is_back_if_it_told_that_it_was_dead() -> None:
    assert run(["x", "x", "x", "", ""]) == [[], [], [DOWN], [UP], []]


def test_what_was_not_taken_is_told_at_the_next_look() -> None:
    away = {"phone"}
    assert run(["x", "x", "x", "", "", ""], after=1, refused=(away, away, set(), away)) == [[], [], [DOWN], [], [UP], []]


def test_only_those_that_were_told_that_it_is_dead_are_told_that_it_is_back() -> None:
    told = run(["x", "x", ""], after=1, targets=("phone", "room"), refused=({"room"}, {"room"}))
    assert told == [[DOWN], [], [UP]]


def test_whoever_was_not_told_that_it_is_back_is_not_told_again_that_it_is_dead() -> None:
    assert run(["x", "", "x", ""], after=1, refused=(set(), {"phone"})) == [[DOWN], [], [], [UP]]


@given(st.lists(st.sampled_from(["", "x"])), st.integers(1, 5), st.lists(st.sampled_from([set(), {"phone"}])))
def test_deaths_and_returns_take_turns(looks: list[str], after: int, refused: list[set[str]]) -> None:
    told = [event for look in run(looks, after, refused=tuple(refused)) for event, _target in look]
    assert told == [MonitorEvent.DOWN if at % 2 == 0 else MonitorEvent.UP for at in range(len(told))]


def test_a_report_of_health_is_put_in_words_and_anything_else_is_its_status() -> None:
    report = b'{"database": true, "roles": {"worker": {"fault": "silent"}, "mailer": {"fault": null}}}'
    assert describe_report(503, report) == "worker is silent"
    assert describe_report(503, b'{"database": false, "roles": {}}') == "the database does not answer"
    assert [describe_report(502, body) for body in (b"<html>", b"[]", b"null", b"{}")] == ["it answered 502"] * 4
