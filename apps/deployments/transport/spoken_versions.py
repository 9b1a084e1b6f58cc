"""Versions of the protocol in which agents answered lately, of this process: a new session with an older agent begins with its own.

Nothing depends on them: a channel whose version is unknown or wrong begins with the newest, and an older agent says which it speaks.
"""

import time
from collections.abc import Callable
from threading import Lock

from apps.deployments.transport.relay_program import RelayProgram

REMEMBERED = 600.0  # seconds after which a new session tries the newest version again


class SpokenVersions:
    """Versions of older agents by the way to them, each for a while. Safe for threads."""

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady = steady
        self._known: dict[RelayProgram, tuple[int, float]] = {}
        self._lock = Lock()

    def remember(self, way: RelayProgram, version: int) -> None:
        """Remember the version that an older agent speaks."""
        with self._lock:
            self._known[way] = version, self._steady() + REMEMBERED

    def recall(self, way: RelayProgram) -> int | None:
        """Return the version; None if it is not known, or was learned too long ago."""
        with self._lock:
            version, until = self._known.get(way, (None, 0.0))
            return version if self._steady() < until else None

    def forget(self, way: RelayProgram) -> None:
        """Forget the version: the agent may have been replaced."""
        with self._lock:
            self._known.pop(way, None)


SPOKEN_VERSIONS = SpokenVersions()
