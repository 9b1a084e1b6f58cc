"""Exponential back-off: the pause doubles after each failure, up to a limit. Pure: the time is passed in."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

FIRST_PAUSE = timedelta(seconds=0.5)
LONGEST_PAUSE = timedelta(seconds=20)  # shorter than the interval of the schedule, so that each scheduled run tries


@dataclass(slots=True)
class Backoff:
    """Back-off state of one gateway. `first` of zero: no pauses."""

    first: timedelta = FIRST_PAUSE
    most: timedelta = LONGEST_PAUSE
    _pause: timedelta = timedelta(0)
    _since: datetime | None = None
    _until: datetime | None = None
    _reason: str = ""

    def record_failure(self, reason: str, now: datetime) -> None:
        """Record a failed attempt."""
        self._since = self._since or now
        self._pause = min(self._pause * 2, self.most) if self._pause else self.first
        self._until, self._reason = now + self._pause, reason

    def reset(self) -> None:
        """Reset: an attempt succeeded, or a person asks for one now."""
        self._pause, self._since, self._until = timedelta(0), None, None

    def explain_pause(self, now: datetime) -> str:
        """Return why no attempt is made now, with the times of the first failure and of the next attempt; "" when one may be made."""
        if self._since is None or self._until is None or now >= self._until:
            return ""
        return f"{self._reason} (so since {_format_time(self._since)}, the next try is at {_format_time(self._until)})"


def _format_time(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%H:%M:%S}"
