"""Renews expiring elements: adds them again with their present remaining time, after a slow load or when the clock was moved.

The kernel counts a remaining time from when it accepts an element, so a time written earlier ends too late by the difference. A
few elements at a time are deleted and added again in one transaction, so no packet sees the set without them.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TypeAlias

from firewall.diff import ElementChange
from firewall.ruleset import PLAIN, Element, Elements, Set
from gateway.load_plan import TIMED_AT_ONCE, iter_element_batches

LATE = 0.25  # seconds by which elements may expire too late without being renewed
FEWEST = 64  # elements that are renewed together on the slowest machine
ENDING = 2.0  # seconds before its expiry in which an element is left alone

UnixClock: TypeAlias = Callable[[], float]  # Unix seconds
CommitElements: TypeAlias = Callable[[Mapping[str, ElementChange], float], None]  # one transaction, as it is at that time
ReadElements: TypeAlias = Callable[[Set, Iterable[bytes], float], Elements]  # those of a set that are there, at that time
KeepCounts: TypeAlias = Callable[[int], AbstractContextManager[None]]  # keeps the counts of this many deleted elements


class ExpiryCorrection:
    """Commits and renews elements of the table.

    lateness: seconds by which some may still expire too late, because the machine is too slow even for FEWEST.
    """

    def __init__(self, commit: CommitElements, read: ReadElements, counted: KeepCounts) -> None:
        self._commit, self._read, self._counted = commit, read, counted
        self.lateness = 0.0

    def commit_with_exact_expiry(self, changes: Mapping[str, ElementChange], clock: UnixClock) -> None:
        """Commit the changes, and renew their elements if that took long. Raises TableError."""
        written = clock()
        self._commit(changes, written)
        self.renew_if_late(changes, written, clock)

    def renew_if_late(self, changes: Mapping[str, ElementChange], written: float, clock: UnixClock) -> None:
        """Renew what was just committed with the remaining time as of `written`, if that is more than LATE ago. Raises TableError."""
        if clock() - written > LATE:
            self.renew(changes, clock)

    def renew(self, changes: Mapping[str, ElementChange], clock: UnixClock) -> None:
        """Renew those of the added elements that exist and expire. Raises TableError."""
        for name, change in changes.items():
            timed = {key: element for key, element in change.added.items() if element.expires} if change.of.timeout else {}
            for some in iter_element_batches(timed, TIMED_AT_ONCE):
                self._renew_in_time(name, change.of, some, clock)

    def _renew_in_time(self, name: str, of: Set, wanted: dict[bytes, Element], clock: UnixClock) -> None:
        """Renew the elements; if the transaction was too slow, again in halves, down to FEWEST.

        Record the lateness if even that is too slow.
        """
        late = self._renew_some(name, of, wanted, clock)
        if late <= LATE:
            return
        if len(wanted) > FEWEST:
            for some in iter_element_batches(wanted, len(wanted) // 2):
                self._renew_in_time(name, of, some, clock)
        else:
            self.lateness = max(self.lateness, late)

    def _renew_some(self, name: str, of: Set, wanted: Elements, clock: UnixClock) -> float:
        """Renew elements in one transaction, and return by how many seconds they may expire too late.

        Elements that expire within ENDING are left to the kernel: they might be gone before the transaction.
        """
        there = self._read(of, wanted, clock())
        staying = {key: wanted[key] for key, element in there.items() if element.expires > clock() + ENDING}
        removed = dict.fromkeys(staying, PLAIN)
        with self._counted(len(removed) if of.counter else 0):
            written = clock()
            self._commit({name: ElementChange(of, removed, staying)}, written)
            return clock() - written
