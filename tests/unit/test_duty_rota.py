"""Who is on duty when: overlaps, gaps, and nights in which the clock changes; and who is told of an alarm."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.alarms.duty.escalation import AlarmTold, DutyRule, choose_readers, should_escalate
from apps.alarms.duty.rota import DutyTurn, ShiftSpan, find_handover, list_gaps, resolve_turns

BERLIN = ZoneInfo("Europe/Berlin")
BEGIN = datetime(2026, 10, 24, 22, tzinfo=UTC)  # the day on which the clock goes back
END = BEGIN + timedelta(days=3)
HOUR = timedelta(hours=1)
MARA, JONAS, TOM = 1, 2, 3


def shift(pk: int, person: int, begins: float, ends: float, *, is_entered: bool = True) -> ShiftSpan:
    return ShiftSpan(pk, person, BEGIN + begins * HOUR, BEGIN + ends * HOUR, is_entered)


def hours(turns: list[DutyTurn]) -> list[tuple[float, float, int | None]]:
    return [((each.begins - BEGIN) / HOUR, (each.ends - BEGIN) / HOUR, each.person) for each in turns]


def test_what_a_person_entered_counts_before_a_calendar_and_then_the_newer() -> None:
    found = [shift(1, MARA, 0, 24), shift(2, JONAS, 0, 48, is_entered=False), shift(3, TOM, 6, 12)]
    assert hours(resolve_turns(found, BEGIN, END)) == [(0, 6, MARA), (6, 12, TOM), (12, 24, MARA), (24, 48, JONAS), (48, 72, None)]


def test_a_shift_of_local_hours_lasts_as_long_as_the_night() -> None:
    local = [datetime(2026, 10, day, hour, tzinfo=BERLIN) for day, hour in ((24, 22), (25, 6))]
    [turn, *_gap] = resolve_turns([ShiftSpan(1, MARA, local[0], local[1], is_entered=True)], BEGIN - 2 * HOUR, END)
    assert turn.ends - turn.begins == 9 * HOUR


def test_a_shift_between_two_times_at_which_the_clock_shows_the_same_lasts_an_hour() -> None:
    twice = [datetime(2026, 10, 25, 2, tzinfo=BERLIN, fold=fold) for fold in (0, 1)]
    turns = resolve_turns([ShiftSpan(1, MARA, twice[0], twice[1], is_entered=True)], BEGIN.astimezone(BERLIN), END.astimezone(BERLIN))
    assert hours(turns) == [(0, 2, None), (2, 3, MARA), (3, 72, None)]


def test_the_handover_is_when_another_person_comes_not_another_shift() -> None:
    found = [shift(1, MARA, 0, 8), shift(2, MARA, 8, 16), shift(3, JONAS, 16, 24)]
    turns = resolve_turns(found, BEGIN + HOUR, END)
    assert find_handover(turns) == BEGIN + 16 * HOUR
    assert find_handover(resolve_turns(found[:1], BEGIN, BEGIN + HOUR)) is None


def test_without_shifts_all_is_one_gap() -> None:
    assert list_gaps(resolve_turns([], BEGIN, END)) == [DutyTurn(BEGIN, END, None)]


SHIFTS = st.lists(
    st.builds(
        lambda pk, person, begins, length, is_entered: shift(pk, person, begins / 4, (begins + length) / 4, is_entered=is_entered),
        st.integers(1, 10_000), st.integers(1, 4), st.integers(-40, 320), st.integers(1, 160), st.booleans(),
    ),
    max_size=8, unique_by=lambda each: each.pk,
)  # fmt: skip


@given(SHIFTS, st.integers(0, 71))
def test_turns_fill_the_time_without_holes_and_say_at_each_moment_who_counts(shifts: list[ShiftSpan], hour: int) -> None:
    turns = resolve_turns(shifts, BEGIN, END)
    assert (turns[0].begins, turns[-1].ends) == (BEGIN, END)
    assert all(one.ends == other.begins and one.shift != other.shift for one, other in pairwise(turns))
    assert all(each.begins < each.ends for each in turns)
    at = BEGIN + hour * HOUR + timedelta(minutes=7)
    [turn] = [each for each in turns if each.begins <= at < each.ends]
    covering = [each for each in shifts if each.begins <= at < each.ends]
    assert turn.shift == max(covering, key=lambda each: (each.is_entered, each.pk), default=None)


@given(SHIFTS, st.randoms())
def test_the_order_of_the_rows_and_the_zone_of_their_times_do_not_matter(shifts: list[ShiftSpan], random: object) -> None:
    local = [
        ShiftSpan(each.pk, each.person, each.begins.astimezone(BERLIN), each.ends.astimezone(BERLIN), each.is_entered) for each in shifts
    ]
    random.shuffle(local)  # type: ignore[attr-defined]  # a random.Random
    assert hours(resolve_turns(local, BEGIN, END)) == hours(resolve_turns(shifts, BEGIN, END))


# --- Who is told

EVERYBODY = (MARA, JONAS, TOM)
RULE = DutyRule(MARA, 10)
MINUTE = timedelta(minutes=1)


def tell(reported: datetime | None = None, *to: int, is_due: bool = False, **changes: datetime) -> AlarmTold:
    facts: dict[str, datetime | None] = {"gone": None, "seen": None, "escalated": None, **changes}
    return AlarmTold(is_due, reported, told_to=frozenset(to), **facts)


@pytest.mark.parametrize(
    ("alarm", "rule", "who"),
    [
        (tell(is_due=True), RULE, {MARA}),
        (tell(), RULE, set()),
        (tell(is_due=True), DutyRule(None, 10), set(EVERYBODY)),
        (tell(is_due=True), DutyRule(99, 10), set(EVERYBODY)),
        (tell(BEGIN - 9 * MINUTE, MARA), RULE, set()),
        (tell(BEGIN - 10 * MINUTE, MARA), RULE, {JONAS, TOM}),
        (tell(BEGIN - 10 * MINUTE, MARA, seen=BEGIN), RULE, set()),
        (tell(BEGIN - 10 * MINUTE, MARA, gone=BEGIN), RULE, set()),
        (tell(BEGIN - 10 * MINUTE, *EVERYBODY, escalated=BEGIN), RULE, set()),
        (tell(BEGIN - 5 * MINUTE, JONAS), RULE, {MARA}),
        (tell(BEGIN - 5 * MINUTE, JONAS, seen=BEGIN), RULE, {MARA}),
        (tell(BEGIN - 5 * MINUTE, JONAS, gone=BEGIN), RULE, set()),
        (tell(BEGIN - 5 * MINUTE, JONAS), DutyRule(None, 10), set()),
    ],
)
def test_the_person_on_duty_is_told_first_and_the_others_if_nobody_has_seen_it(alarm: AlarmTold, rule: DutyRule, who: set[int]) -> None:
    assert choose_readers(alarm, EVERYBODY, rule, BEGIN) == who


def test_an_alarm_is_escalated_once() -> None:
    assert should_escalate(tell(BEGIN - 10 * MINUTE, MARA), RULE, BEGIN)
    assert not should_escalate(tell(BEGIN - HOUR, MARA, escalated=BEGIN), RULE, BEGIN)
