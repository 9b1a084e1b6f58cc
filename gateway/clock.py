"""The time by which elements end: Unix seconds that nobody's `date -s` on the gateway moves.

The machine's clock is asked once, at the start; from then on CLOCK_MONOTONIC counts, as it does for the kernel's own timeouts.
The portal's time comes with its messages and wins, because its clock is the one that said when a ban ends.
"""

from collections.abc import Callable

_ROUNDING = 0.001  # two floats that should make up a whole second may fall short of it
BEHIND = 1  # seconds: whole ones are sent
AHEAD = 5  # seconds: what a message says was so when it was written, and reading a large network takes the portal some


class Clock:
    """Unix seconds. `wall` is the machine's own clock, `steady` seconds that only go forward."""

    def __init__(self, wall: Callable[[], float], steady: Callable[[], float]) -> None:
        self._steady = steady
        self._offset = wall() - steady()

    def __call__(self) -> int:
        return int(self._steady() + self._offset + _ROUNDING)

    def follow(self, now: int, *, prompt: bool = True) -> None:
        """It was `now` at the portal when this was said; 0 says nothing.

        A large message is long on its way, so unless it is prompt it only tells that it is no earlier than that. Setting the clock
        back moves the ends of what is in the kernel already, so that is done only when it is really wrong.
        """
        if now > self() + BEHIND or (prompt and 0 < now < self() - AHEAD):
            self._offset = now - self._steady()
