"""Slows a process down as a busy machine does: it runs a tenth of the time and is stopped for the rest."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

RUNS, RESTS = 0.02, 0.18  # seconds


@contextmanager
def slow_down(pid: int) -> Iterator[None]:
    """Slow the process down during the block."""
    over = Event()
    rhythm = Thread(target=_stop_and_go, args=(pid, over))
    rhythm.start()
    try:
        yield
    finally:
        over.set()
        rhythm.join()


def _stop_and_go(pid: int, over: Event) -> None:
    while not over.is_set():
        os.kill(pid, signal.SIGSTOP)
        over.wait(RESTS)
        os.kill(pid, signal.SIGCONT)
        over.wait(RUNS)
