"""Readings of counters add up to what passed, even when readings are lost or repeated and elements, tables or gateways are replaced."""

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from firewall import owners
from firewall.counters import Baseline, InvalidReadingError, compute_reading_advance
from firewall.wire import Counts, Reading
from tests.counter_factories import Element, Pair, counts, make_gone, reading
from tests.example_counts import count_examples

A, B = ("10.0.0.1", 1), ("10.0.0.1", 2)


def add_up(*readings: Reading) -> dict[int, int]:
    """Return the sum of octets by owner."""
    baseline, sums = Baseline(), dict[int, int]()
    for each in readings:
        step = compute_reading_advance(baseline, each)
        if step:
            baseline = step.baseline
            for passed in (one for some in step.passed.values() for one in some):
                sums[passed.owner] = sums.get(passed.owner, 0) + passed.octets
    return sums


def test_the_same_reading_twice_and_an_older_one_add_nothing() -> None:
    first, second = reading(1, up4={A: (1, 100)}), reading(2, up4={A: (3, 300)})
    assert add_up(first, second, second, first) == {1: 300}


def test_a_gateway_that_boots_and_passes_its_old_value_is_counted_whole() -> None:
    assert add_up(reading(1, up4={A: (1, 100)}), reading(2, boot="other", up4={A: (3, 300)})) == {1: 400}


def test_a_table_that_is_made_anew_and_passes_its_old_value_is_counted_whole() -> None:
    assert add_up(reading(1, up4={A: (1, 100)}), reading(2, table=2, up4={A: (3, 300)})) == {1: 400}


def test_an_address_that_changes_hands_bills_nobody_for_another() -> None:
    handed = make_gone(1, up4={A: (4, 400)})
    assert add_up(reading(1, up4={A: (1, 100)}), reading(2, handed, up4={B: (9, 900)})) == {1: 400, 2: 900}


def test_what_an_element_had_counted_in_the_end_is_counted_once_however_often_it_is_told() -> None:
    ended = make_gone(1, up4={A: (4, 400)})
    told = [reading(at, ended, up4={}) for at in (2, 3)]
    assert add_up(reading(1, up4={A: (1, 100)}), *told, reading(4, up4={A: (1, 50)})) == {1: 450}


def test_who_left_and_came_again_between_two_readings_is_counted_for_both_times() -> None:
    assert add_up(reading(1, up4={A: (1, 100)}), reading(2, make_gone(1, up4={A: (2, 200)}), up4={A: (5, 500)})) == {1: 700}


def test_who_came_and_left_between_two_readings_is_counted() -> None:
    assert add_up(reading(1, up4={}), reading(2, make_gone(1, up4={A: (2, 200)}))) == {1: 200}


def test_an_element_that_somebody_made_anew_by_hand_counts_from_zero_although_it_stood_at_zero_in_between() -> None:
    assert add_up(reading(1, up4={A: (1, 100)}), reading(2, up4={}), reading(3, up4={A: (2, 200)})) == {1: 300}


def test_ends_of_a_table_before_do_not_touch_what_the_present_one_counts() -> None:
    late = make_gone(1, table=1, up4={A: (4, 400)})
    assert add_up(reading(1, up4={A: (3, 300)}), reading(2, late, table=2, up4={A: (2, 200)})) == {1: 600}


def test_counters_from_before_anybody_noted_whose_life_they_are_go_on() -> None:
    before = Baseline(sets={"up4": counts({("10.0.0.1", 0): (1, 100)})})
    step = compute_reading_advance(before, reading(1, make_gone(1, up4={("10.0.0.1", 0): (2, 150)}), up4={A: (1, 30)}))
    assert step is not None
    assert [(each.owner, each.octets) for each in step.passed["up4"]] == [(0, 50), (1, 30)]
    assert not step.continues


@pytest.mark.parametrize(
    ("name", "spoiled", "words"),
    [
        ("up4", Counts(1, b"\1\2\3", b"\0" * 8, b"\0" * 8, b""), "do not fit"),
        ("up4", Counts(1, b"\1\2\3\4", b"\0" * 16, b"\0" * 8, b""), "do not fit"),
        ("up4", Counts(1, b"\1\2\3\4", b"\0" * 8, b"\0" * 8, b"\1"), "do not fit"),
        ("up6_64", Counts(1, b"\1\2\3\4", b"\0" * 8, b"\0" * 8, b""), "do not fit"),
        ("up4", Counts(1, b"\1\2\3\4", b"\0" * 8, b"\xff" * 8, b""), "so it was negative"),
        ("up4", Counts(2, b"\1\2\3\4" * 2, b"\0" * 16, b"\0" * 16, b""), "named twice"),
        ("snat4", Counts(0, b"", b"", b"", b""), "is not a set with counters"),
        ("x\ny", Counts(0, b"", b"", b"", b""), "is not a set with counters"),
    ],
)
def test_what_cannot_be_a_reading_is_refused_with_the_name_of_the_set(name: str, spoiled: Counts, words: str) -> None:
    with pytest.raises(InvalidReadingError, match=words):
        compute_reading_advance(Baseline(), Reading("boot", 1, "log", 1, 0, {name: spoiled}, (), {}))


def test_ends_that_add_up_to_more_than_a_counter_holds_are_refused() -> None:
    most = (1 << 63) - 1
    with pytest.raises(InvalidReadingError, match="set up4: an element's ends add up to more"):
        compute_reading_advance(Baseline(), reading(1, *(make_gone(at, up4={A: (1, most)}) for at in (1, 2, 3))))


ELEMENTS = [A, B, ("10.0.0.2", 1)]


@dataclass
class Life:
    """An element from its creation to its removal: octets counted, and octets of them written to the database."""

    owner: int
    counted: int = 0
    written: int = 0


@dataclass
class Sent:
    """A reading in flight: its ticket, and the count of each element at that time."""

    ticket: int
    reading: Reading
    lives: list[tuple[Life, int]] = field(default_factory=list)


class CountingGateway(RuleBasedStateMachine):
    """A gateway with an agent whose answers may be repeated, late or lost."""

    def __init__(self) -> None:
        super().__init__()
        self.boots = self.table = 1
        self.logs, self.sequence, self.number, self.tickets, self.told = 1, 0, 0, 0, 0
        self.lives: dict[Element, Life] = {}
        self.all: list[Life] = []
        self.gone: list[tuple[int, str, int, Element, Life]] = []
        self.sent: list[Sent] = []
        self.baseline, self.sums = Baseline(), dict[int, int]()

    @rule(element=st.sampled_from(ELEMENTS))
    def come(self, element: Element) -> None:
        """Add an element. An address has one element at a time, so a new holder replaces the old one."""
        for other in [each for each in self.lives if each[0] == element[0] and each != element]:
            self.go(other)
        if element not in self.lives:
            self.lives[element] = Life(element[1])
            self.all.append(self.lives[element])

    @rule(element=st.sampled_from(ELEMENTS))
    def go(self, element: Element) -> None:
        life = self.lives.pop(element, None)
        if life and life.counted:
            self.number += 1
            self.gone.append((self.number, f"boot {self.boots}", self.table, element, life))

    @rule(element=st.sampled_from(ELEMENTS), octets=st.integers(1, 50))
    def pass_packets(self, element: Element, octets: int) -> None:
        if element in self.lives:
            self.lives[element].counted += octets

    @rule()
    def boot(self) -> None:
        """Reboot. Late readings of the previous kernel were requested before, so their tickets are older."""
        self.boots += 1
        self.lives = {}

    @rule()
    def make_the_table_anew(self) -> None:
        self.table += 1
        self.lives = {}

    @rule()
    def lose_the_state_directory(self) -> None:
        """Lose the state directory, but only if the portal has read everything in it; the rest would be lost without a trace."""
        if self.baseline.log != f"log {self.logs}" or any(each[0] > self.baseline.gone for each in self.gone):
            return
        self.logs += 1
        self.sequence, self.number, self.gone = 0, 0, []

    @rule()
    def acknowledge(self) -> None:
        if self.baseline.log == f"log {self.logs}":
            self.gone = [each for each in self.gone if each[0] > self.baseline.gone]

    @rule()
    def read(self) -> None:
        self.sequence, self.tickets = self.sequence + 1, self.tickets + 1
        sets = {each: (life.counted, life.counted) for each, life in self.lives.items() if life.counted}
        ended = [make_gone(at, boot=boot, table=table, up4={each: pair(life)}) for at, boot, table, each, life in self.gone]
        boot, log = f"boot {self.boots}", f"log {self.logs}"
        made = reading(self.sequence, *ended, boot=boot, table=self.table, log=log, up4=sets)
        lives = [(life, life.counted) for life in (*self.lives.values(), *(each[4] for each in self.gone))]
        self.sent.append(Sent(self.tickets, made, lives))

    @rule(which=st.integers(0, 5))
    def arrive(self, which: int) -> None:
        """Deliver any of the readings in flight, which may arrive again later."""
        if which >= len(self.sent):
            return
        sent = self.sent[-1 - which]
        step = compute_reading_advance(self.baseline, sent.reading) if sent.ticket > self.told else None
        if step is None:
            return
        self.told, self.baseline = sent.ticket, step.baseline
        for passed in (one for some in step.passed.values() for one in some):
            self.sums[passed.owner] = self.sums.get(passed.owner, 0) + passed.octets
        for life, counted in sent.lives:
            life.written = counted

    @invariant()
    def each_owner_has_what_was_read_of_his_elements_and_nothing_else(self) -> None:
        expected = {owner: sum(life.written for life in self.all if life.owner == owner) for owner in (1, 2)}
        assert {owner: number for owner, number in expected.items() if number} == self.sums


def pair(life: Life) -> Pair:
    return life.counted, life.counted


CountingGateway.TestCase.settings = settings(max_examples=count_examples(150), stateful_step_count=40, deadline=None)
TestSums = CountingGateway.TestCase


def test_owners_are_told_from_peoples_comments() -> None:
    assert owners.parse_owner(owners.format_comment(owners.encode_holding_id(4711))) == owners.encode_holding_id(4711)
    assert [owners.parse_owner(text) for text in ("", "holding 000000004711", "holding  x", "seen 4 times")] == [b""] * 4
