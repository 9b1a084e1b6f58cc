"""Adds elements that end once more, with the time that is left now: where loading them took long, and where the clock was moved.

The kernel counts a remaining time from when it takes an element, so what is written before that is too long by as much. Few elements at a
time are deleted and added again, each few in one transaction, so no packet meets the set without them.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TypeAlias

from firewall.diff import ElementChange
from firewall.ruleset import PLAIN, Element, Elements, Set
from gateway.load_plan import TIMED_AT_ONCE, iter_batches

LATE = 0.25  # seconds by which elements may end too late without being added again
FEWEST = 64  # elements that are added again together on the slowest machine
ENDING = 2.0  # seconds before its end in which an element is left alone

UnixClock: TypeAlias = Callable[[], float]  # Unix seconds
CommitElements: TypeAlias = Callable[[Mapping[str, ElementChange], float], None]  # one transaction, as it is at that time
ReadElements: TypeAlias = Callable[[Set, Iterable[bytes], float], Elements]  # those of a set that are there, at that time
KeepCounts: TypeAlias = Callable[[int], AbstractContextManager[None]]  # keeps what so many deleted elements had counted


class ElementRenewal:
    """lateness: seconds by which some may end too late all the same, because the machine is too slow even for FEWEST."""

    def __init__(self, commit: CommitElements, read: ReadElements, counted: KeepCounts) -> None:
        self._commit, self._read, self._counted = commit, read, counted
        self.lateness = 0.0

    def commit_in_time(self, changes: Mapping[str, ElementChange], clock: UnixClock) -> None:
        """Commit them, and renew them if that took long. Raises TableError."""
        written = clock()
        self._commit(changes, written)
        self.renew_if_late(changes, written, clock)

    def renew_if_late(self, changes: Mapping[str, ElementChange], written: float, clock: UnixClock) -> None:
        """Renew what was committed just now with the time that was left at `written`, if that is long ago. Raises TableError."""
        if clock() - written > LATE:
            self.renew(changes, clock)

    def renew(self, changes: Mapping[str, ElementChange], clock: UnixClock) -> None:
        """Renew those of the added elements that are there and have an end. Raises TableError."""
        for name, change in changes.items():
            timed = {key: element for key, element in change.added.items() if element.expires} if change.of.timeout else {}
            for some in iter_batches(timed, TIMED_AT_ONCE):
                self._renew_in_time(name, change.of, some, clock)

    def _renew_in_time(self, name: str, of: Set, wanted: dict[bytes, Element], clock: UnixClock) -> None:
        """Where a transaction is too slow, half as many elements are tried, down to FEWEST; what is too slow even then is known to be."""
        late = self._renew_some(name, of, wanted, clock)
        if late <= LATE:
            return
        if len(wanted) > FEWEST:
            for some in iter_batches(wanted, len(wanted) // 2):
                self._renew_in_time(name, of, some, clock)
        else:
            self.lateness = max(self.lateness, late)

    def _renew_some(self, name: str, of: Set, wanted: Elements, clock: UnixClock) -> float:
        """Seconds by which they may end too late. What the kernel ends by itself within ENDING is left to it: it might be gone before."""
        there = self._read(of, wanted, clock())
        staying = {key: wanted[key] for key, element in there.items() if element.expires > clock() + ENDING}
        removed = dict.fromkeys(staying, PLAIN)
        with self._counted(len(removed) if of.counter else 0):
            written = clock()
            self._commit({name: ElementChange(of, removed, staying)}, written)
            return clock() - written
