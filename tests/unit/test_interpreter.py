"""What a process that holds a large network tells its interpreter: when to look for garbage, and when threads take turns."""

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier, Thread

import pytest

from apps.lib.interpreter import LARGE, PASS_SECONDS, SWITCH_SECONDS, GarbageCollectorPause, shorten_switch_interval
from gateway.interpreter import MANY_OBJECTS, prepare_interpreter

ROOT = Path(__file__).resolve().parents[2]


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


@pytest.mark.parametrize("tell", [shorten_switch_interval, prepare_interpreter])
def test_a_thread_that_computes_lets_others_go_on_ten_times_as_often(tell: Callable[[], None]) -> None:
    before, thresholds = sys.getswitchinterval(), gc.get_threshold()
    try:
        sys.setswitchinterval(0.005)
        tell()
        assert sys.getswitchinterval() == pytest.approx(SWITCH_SECONDS)
    finally:
        sys.setswitchinterval(before)
        gc.set_threshold(*thresholds)


def test_workers_and_agents_tell_it_when_they_start() -> None:
    """Each in a process of its own; the agent ends at once, as its state directory cannot be there."""
    worker = "import sys, workers.app; print(sys.getswitchinterval())"
    agent = (
        "import atexit, gc, sys; from gateway.main import main;"
        "atexit.register(lambda: print(sys.getswitchinterval(), gc.get_threshold()[0]));"
        "main(['serve', '--name', 'nat-1', '--socket', '/dev/null/socket', '--state', '/dev/null/state', '--fake'])"
    )
    said = [
        subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()[-1]
        for program in (worker, agent)
    ]
    assert said == [f"{SWITCH_SECONDS}", f"{SWITCH_SECONDS} {MANY_OBJECTS}"]
