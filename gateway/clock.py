"""The time by which elements end: Unix seconds that nobody's `date -s` on the gateway moves.

The machine's clock is asked once, at the start; from then on CLOCK_MONOTONIC counts, as it does for the kernel's own timeouts.
The portal's clock wins, because it is the one that said when a ban ends. How long a message was on its way, or waited here, is not known,
so the clock is moved only by what is certain whatever that was: it cannot be earlier than when a message was sent (`follow`), nor can it
have been later, when an answer left here, than when that answer had arrived (`limit`).
"""

from collections.abc import Callable

_ROUNDING = 0.001  # two floats that should make up a whole second may fall short of it
TOLERANCE = 1.0  # seconds: some times are sent as whole ones


class GatewayClock:
    """Unix seconds. `wall` is the machine's own clock, `steady` seconds that only go forward."""

    def __init__(self, wall: Callable[[], float], steady: Callable[[], float]) -> None:
        self._steady = steady
        self._offset = wall() - steady()

    def __call__(self) -> float:
        return self._steady() + self._offset + _ROUNDING

    def follow(self, sent: float) -> bool:
        """It was `sent` at the portal when it wrote a message; 0 says nothing. Was the clock put forward?"""
        return self._move_if(sent > self() + TOLERANCE, sent - self._steady())

    def limit(self, steady: float, latest: float) -> bool:
        """When `steady` stood there, it was `latest` at the portal or earlier. Was the clock put back?"""
        return self._move_if(steady + self._offset > latest + TOLERANCE, latest - steady)

    def _move_if(self, wrong: bool, offset: float) -> bool:
        if wrong:
            self._offset = offset
        return wrong
