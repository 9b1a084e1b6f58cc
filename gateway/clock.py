"""The time by which elements end: Unix seconds that nobody's `date -s` on the gateway moves.

The machine's clock is asked once, at the start; from then on CLOCK_MONOTONIC counts, as it does for the kernel's own timeouts.
The portal's time comes with its messages and wins, because its clock is the one that said when a ban ends.
"""

from collections.abc import Callable

_ROUNDING = 0.001  # two floats that should make up a whole second may fall short of it
TOLERANCE = 1  # seconds: whole ones are sent, and a message takes some time


class Clock:
    """Unix seconds. `wall` is the machine's own clock, `steady` seconds that only go forward."""

    def __init__(self, wall: Callable[[], float], steady: Callable[[], float]) -> None:
        self._steady = steady
        self._offset = wall() - steady()

    def __call__(self) -> int:
        return int(self._steady() + self._offset + _ROUNDING)

    def follow(self, now: int) -> None:
        """It is `now` at the portal; 0 says nothing."""
        if now > 0 and abs(now - self()) > TOLERANCE:
            self._offset = now - self._steady()
