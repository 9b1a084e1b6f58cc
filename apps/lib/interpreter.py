"""Python's interpreter in agents and workers, where changes wait while something large is computed on another thread.

**Garbage.** CPython frees an object when the last reference to it goes. Its collector looks for those that refer to each other in a
circle: it stops all threads and follows every object that it watches, again whenever there are a quarter more. That takes 0.2 s for the
ruleset of 100,000 members and 2 s for that of a million, several times while one is built, and finds nothing: rulesets have no circles.

**Threads.** One thread runs at a time. One that has waited, for the database or a gateway, gets its turn when the thread that computes
has had it for the switch interval. With the usual 5 ms, a change that waits forty times loses 200 ms.
"""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import Final

SWITCH_SECONDS: Final = 0.0005
"""A tenth of Python's own. Two threads that compute take about two hundredths longer with it."""
LARGE: Final = 50_000
"""Objects from which on what was built is set aside."""
PASS_SECONDS: Final = 3600.0
"""How long circles may stay that were set aside with the rest."""


def shorten_switch_interval() -> None:
    """Let threads of this process wait less for one that computes."""
    sys.setswitchinterval(SWITCH_SECONDS)


class GarbageCollectorPause:
    """A pause of this process's collector, from several threads. steady: seconds of CLOCK_MONOTONIC."""

    def __init__(self, steady: Callable[[], float] = monotonic) -> None:
        self._steady = steady
        self._lock = Lock()
        self._depth = 0
        self._passed = steady()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Look for no circles in this block. If it leaves a large state behind, the collector does not look at that from then on."""
        with self._lock:
            self._depth += 1
            gc.disable()
        try:
            yield
        finally:
            with self._lock:
                self._depth -= 1
                if not self._depth:
                    self._set_aside()
                    gc.enable()

    def _set_aside(self) -> None:
        made, _, _ = gc.get_count()
        if made < LARGE:
            return
        if self._steady() - self._passed >= PASS_SECONDS:
            gc.unfreeze()
            gc.collect()
            self._passed = self._steady()
        gc.freeze()


pause_garbage_collector: Final = GarbageCollectorPause()
