"""Limits how many runs of one task work at the same time in this process, so that other tasks of its queue find a free thread."""

from collections.abc import Callable
from threading import Semaphore


class RunLimit:
    """At most so many runs at once. For a task whose run does all that is due: more of them would only take threads."""

    def __init__(self, most: int = 1) -> None:
        self._free = Semaphore(most)
        self._is_asked_again = False

    def run(self, work: Callable[[], bool]) -> bool:
        """Do the work, which returns whether there is more of it. Return whether the task has to be queued again.

        While as many runs work already, do nothing: one of those has the task queued again, as what was asked for may have come after it
        looked. If they fail, the schedule does.
        """
        self._is_asked_again = True
        if not self._free.acquire(blocking=False):
            return False
        self._is_asked_again = False
        try:
            more = work()
        finally:
            self._free.release()
        return more or self._is_asked_again
