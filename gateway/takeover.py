"""Decides when connections that came back from the other gateway are cut again (gateway/returned_flows.py).

That is after each change of roles, as netzwart-failover writes them down, because the gateway that takes over has the states of the
other one, which may have missed changes. As long as this gateway carries a family it is also done from time to time, because the
other one may send old states when it is back; this takes at most a hundredth of a processor's time.
"""

from collections.abc import Callable
from math import inf
from typing import TypeVar

from gateway.failover_roles import FailoverRoles

T = TypeVar("T")  # Python 3.11 has no syntax for type parameters
EVERY, SHARE = 10.0, 100  # seconds between two times; and how many times as long as the work the pause lasts


class TakeoverWatch:
    """steady: returns seconds of CLOCK_MONOTONIC."""

    def __init__(self, roles: FailoverRoles, steady: Callable[[], float]) -> None:
        self._roles, self._steady = roles, steady
        self._marks: tuple[int, ...] = ()
        self._next = -inf

    def is_due(self) -> bool:
        """True if it is to be done now. May be called on another thread."""
        marks = self._roles.read_exchange_times()
        return bool(marks) and (marks != self._marks or self._steady() >= self._next)

    def run(self, work: Callable[[], T]) -> T:
        """Do the work, and return what it returns. What changes meanwhile is due again."""
        self._marks, begin = self._roles.read_exchange_times(), self._steady()
        try:
            return work()
        finally:
            end = self._steady()
            self._next = end + max(EVERY, SHARE * (end - begin))
