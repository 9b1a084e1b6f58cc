"""Members that a full uplink limits: only above the share, no more than allowed, heaviest first, deterministic, without flapping."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.traffic.fairshare.fair_share_policy import (
    CongestionState,
    FairShareRules,
    UplinkDirectionLoad,
    UplinkTalker,
    advance_state,
    choose_heaviest,
)

NOW = datetime(2050, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
RULES = FairShareRules(0.9, 0.75, 5 * MINUTE, 3)
rules = st.builds(
    lambda end, more, calm, most: FairShareRules(end + more, end, calm * MINUTE, most),
    st.floats(0.01, 0.9), st.floats(0.01, 0.1), st.integers(0, 60), st.integers(1, 20),
)  # fmt: skip
shares = st.floats(0, 3)
talkers = st.dictionaries(st.integers(1, 40), st.integers(0, 10**12), max_size=40).map(
    lambda found: [UplinkTalker(member, octets) for member, octets in found.items()]
)


def make_direction(share: float, rate: float = 5.0, capacity: float = 1000.0) -> UplinkDirectionLoad:
    return UplinkDirectionLoad(share * capacity, capacity, rate)


def choose_members(of: FairShareRules, share: float, found: list[UplinkTalker], limited: set[int]) -> list[int]:
    return choose_heaviest(of, make_direction(share), found, sum(each.octets for each in found), limited)


@given(rules, shares, talkers, st.sets(st.integers(1, 40), max_size=10))
def test_nobody_is_limited_below_the_share_nobody_twice_and_never_more_than_may_be(
    of: FairShareRules, share: float, found: list[UplinkTalker], limited: set[int]
) -> None:
    more = choose_members(of, share, found, limited)
    assert not more or make_direction(share).share >= of.start
    assert len(more) == len(set(more) - limited)
    assert len(more) + len(limited) <= max(of.most, len(limited))


@given(rules, shares, talkers, st.randoms(use_true_random=False))
def test_the_heaviest_are_chosen_and_the_same_whatever_the_order(
    of: FairShareRules, share: float, found: list[UplinkTalker], random: object
) -> None:
    more = choose_members(of, share, found, set())
    octets = dict(found)
    rest = [number for member, number in octets.items() if member not in more]
    assert not more or not rest or min(octets[member] for member in more) >= max(rest)
    random.shuffle(found)  # type: ignore[attr-defined]  # hypothesis says object, it is a random.Random
    assert choose_members(of, share, found, set()) == more


@given(rules, shares, talkers)
def test_no_more_are_limited_than_are_needed(of: FairShareRules, share: float, found: list[UplinkTalker]) -> None:
    more = choose_members(of, share, found, set())
    line, total = make_direction(share), sum(each.octets for each in found)
    freed = sum(line.carried * dict(found)[member] / total - line.rate for member in more[:-1])
    assert not more or freed < line.carried - of.end * line.capacity


def test_equal_members_are_limited_by_number_and_stay_so() -> None:
    equal = [UplinkTalker(member, 1000) for member in (5, 3, 9, 1, 7)]
    assert choose_members(RULES, 1.0, equal, set()) == [1, 3]
    assert choose_members(RULES, 0.8, equal, {1, 3}) == []
    assert choose_members(RULES, 1.0, equal, {1, 3}) == [5], "it is still full, so one more, and nobody else instead"


def test_who_takes_no_more_than_the_rate_is_left_alone() -> None:
    assert choose_heaviest(RULES, make_direction(1.0, rate=600), [UplinkTalker(1, 60), UplinkTalker(2, 40)], 100, set()) == []
    assert choose_heaviest(RULES, make_direction(1.0, rate=500), [UplinkTalker(1, 60), UplinkTalker(2, 40)], 100, set()) == [1]


@given(rules, st.lists(shares, max_size=60))
def test_between_two_changes_of_its_mind_lies_a_while(of: FairShareRules, seen: list[float]) -> None:
    state, ended = CongestionState(), None
    for minute, share in enumerate(seen):
        now = NOW + minute * MINUTE
        after = advance_state(of, state, [make_direction(share)], now)
        if after.is_full and not state.is_full:
            assert share >= of.start
        if state.is_full and not after.is_full:
            assert state.since is not None
            assert share < of.end
            assert now - state.since >= of.calm
            ended = minute
        state = after
    assert ended is None or all(share < of.end for share in seen[max(0, ended - int(of.calm / MINUTE)) : ended + 1])


@given(st.lists(st.floats(RULES.end, RULES.start, exclude_max=True), max_size=60), st.booleans())
def test_what_goes_up_and_down_between_the_two_shares_changes_nothing(seen: list[float], full: bool) -> None:
    begun = state = CongestionState(NOW) if full else CongestionState()
    for minute, share in enumerate(seen):
        state = advance_state(RULES, state, [make_direction(share)], NOW + minute * MINUTE)
    assert state == begun


def test_the_fuller_direction_counts_and_without_any_all_stays() -> None:
    assert advance_state(RULES, CongestionState(), [make_direction(0.1), make_direction(0.95)], NOW).is_full
    for state in (CongestionState(), CongestionState(NOW), CongestionState(NOW, NOW)):
        assert advance_state(RULES, state, [], NOW + timedelta(days=1)) == state


def test_an_uplink_that_calmed_down_while_the_clock_was_ahead_is_not_full_for_longer() -> None:
    state = CongestionState(NOW, NOW + timedelta(hours=2))
    state = advance_state(RULES, state, [make_direction(0.1)], NOW)
    assert state == CongestionState(NOW, NOW)
    assert not advance_state(RULES, state, [make_direction(0.1)], NOW + RULES.calm).is_full


@pytest.mark.parametrize("change", [{"start": 0.5}, {"end": 0.0}, {"most": 0}, {"calm": -MINUTE}])
def test_rules_that_would_flap_are_none(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not valid rules for fair share"):
        replace(RULES, **change)
