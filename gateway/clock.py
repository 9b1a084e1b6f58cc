"""The agent's clock for expiry times: Unix seconds that `date -s` on the gateway does not change.

The machine's clock is read once, at the start. From then on CLOCK_MONOTONIC counts, as it does for the kernel's own timeouts. The
portal's clock wins, because the portal decided when a ban ends. The delay of a message, on its way or waiting here, is not known,
so the clock is moved only as far as a bound is certain: now is not earlier than when the portal sent a message (`follow`), and an
answer did not leave here later than it arrived at the portal (`limit`).
"""

from collections.abc import Callable
from time import gmtime, strftime

_ROUNDING = 0.001  # two floats that should make up a whole second may fall short of it
TOLERANCE = 1.0  # seconds: some times are sent in whole seconds


class GatewayClock:
    """Unix seconds. `wall` is the machine's own clock; `steady` gives seconds that only increase."""

    def __init__(self, wall: Callable[[], float], steady: Callable[[], float]) -> None:
        self._steady = steady
        self._offset = wall() - steady()

    def __call__(self) -> float:
        return self._steady() + self._offset + _ROUNDING

    @property
    def ahead(self) -> float:
        """Seconds by which it is ahead of CLOCK_MONOTONIC."""
        return self._offset

    def format(self) -> str:
        """Return the time for people, in UTC."""
        return strftime("%Y-%m-%d %H:%M:%S UTC", gmtime(self()))

    def follow(self, sent: float) -> bool:
        """Put the clock forward if it is before `sent`, the portal's time when it wrote a message (0: unknown). True if it was moved."""
        return self._move_if(sent > self() + TOLERANCE, sent - self._steady())

    def limit(self, steady: float, latest: float) -> bool:
        """Put the clock back if at `steady` it was after `latest`, the portal's latest possible time at that moment.

        True if it was moved.
        """
        return self._move_if(steady + self._offset > latest + TOLERANCE, latest - steady)

    def _move_if(self, wrong: bool, offset: float) -> bool:
        if wrong:
            self._offset = offset
        return wrong
