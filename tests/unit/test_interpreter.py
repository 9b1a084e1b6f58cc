"""What a process that holds a large network tells its interpreter: when to look for garbage, and when threads take turns."""

import gc
import sys
import weakref
from collections.abc import Iterator
from threading import Barrier, Thread

import pytest

from apps.lib.interpreter import LARGE, PASS_SECONDS, SWITCH_SECONDS, GarbageCollectorPause, shorten_switch_interval


class Circle:
    """An object that only the collector frees."""

    def __init__(self) -> None:
        self.itself = self


class SettableClock:
    """Seconds that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Iterator[SettableClock]:
    yield SettableClock()
    gc.unfreeze()


def build_large_state() -> list[list[int]]:
    return [[number] for number in range(2 * LARGE)]


def test_nothing_is_looked_for_while_something_is_built(clock: SettableClock) -> None:
    passes = list[str]()
    gc.callbacks.append(lambda phase, _info: passes.append(phase))
    try:
        with GarbageCollectorPause(clock)():
            assert build_large_state()
        built = list(passes)
    finally:
        gc.callbacks.pop()
    assert built == []
    assert gc.isenabled()


def test_a_large_state_is_not_looked_at_any_more_and_is_freed_like_any_other(clock: SettableClock) -> None:
    before = gc.get_freeze_count()
    with GarbageCollectorPause(clock)():
        state = build_large_state()
    frozen, size = gc.get_freeze_count(), len(state)
    state.clear()
    assert frozen - before >= size
    assert frozen - gc.get_freeze_count() >= size


def test_a_small_state_is_left_to_the_collector(clock: SettableClock) -> None:
    gc.collect()
    before = gc.get_freeze_count()
    with GarbageCollectorPause(clock)():
        state = [[number] for number in range(100)]
    assert (gc.get_freeze_count(), len(state)) == (before, 100)


def test_circles_that_were_set_aside_are_found_within_an_hour(clock: SettableClock) -> None:
    pause = GarbageCollectorPause(clock)
    with pause():
        circle = weakref.ref(Circle())
        first = build_large_state()
    gc.collect()
    assert circle() is not None
    clock.now = PASS_SECONDS
    with pause():
        second = build_large_state()
    assert circle() is None
    assert len(first) == len(second)


def test_an_error_ends_the_pause(clock: SettableClock) -> None:
    with pytest.raises(KeyError), GarbageCollectorPause(clock)():
        raise KeyError
    assert gc.isenabled()


def test_the_last_of_several_threads_ends_the_pause(clock: SettableClock) -> None:
    pause, begun, ended = GarbageCollectorPause(clock), Barrier(2), Barrier(2)

    def build() -> None:
        with pause():
            begun.wait()
            ended.wait()

    other = Thread(target=build)
    other.start()
    with pause():
        begun.wait()
    assert not gc.isenabled()
    ended.wait()
    other.join()
    assert gc.isenabled()


def test_a_thread_that_computes_lets_others_go_on_ten_times_as_often() -> None:
    before = sys.getswitchinterval()
    try:
        shorten_switch_interval()
        assert sys.getswitchinterval() == pytest.approx(SWITCH_SECONDS)
    finally:
        sys.setswitchinterval(before)
