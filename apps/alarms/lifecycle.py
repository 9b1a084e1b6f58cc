"""Life of an alarm, as pure functions of times: when it is reported, and when it is over.

What comes and goes is told seldom: an alarm has to last before a mail is written, longer if the condition has come back again and
again, and has to be gone for some time before it is over.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from apps.alarms.models import Severity

REPORT_AFTER: Final = timedelta(seconds=15)
OVER_AFTER: Final = timedelta(seconds=120)
FLAPPING_TIMES: Final = 3
FLAPPING_WITHIN: Final = timedelta(hours=2)
FLAPPING_REPORT_AFTER: Final = timedelta(minutes=15)
_ORDER: Final = (Severity.DECISION, Severity.WARNING, Severity.CRITICAL)


def compute_report_delay(earlier: int) -> timedelta:
    """Return how long an alarm has to last before it is reported. earlier: alarms of the same key that began within FLAPPING_WITHIN
    before it; if it has become worse: how often it did so within FLAPPING_WITHIN before.
    """
    return FLAPPING_REPORT_AFTER if earlier >= FLAPPING_TIMES else REPORT_AFTER


def is_report_due(*, since: datetime, gone: datetime | None, reported: datetime | None, earlier: int, now: datetime) -> bool:
    """True if the mail about this open alarm is to be written now. since: when it became as urgent as it is."""
    return reported is None and has_lasted(since=since, gone=gone, earlier=earlier, now=now)


def has_lasted(*, since: datetime, gone: datetime | None, earlier: int, now: datetime) -> bool:
    """True if this open alarm has lasted long enough to be reported."""
    return gone is None and now - since >= compute_report_delay(earlier)


def keep_recent(worsenings: Iterable[datetime], since: datetime) -> list[datetime]:
    """Return those times that count as shortly before an alarm that has become worse since then."""
    return [each for each in worsenings if since - FLAPPING_WITHIN <= each < since]


def is_over(gone: datetime | None, now: datetime) -> bool:
    """True if the condition has been gone for long enough."""
    return gone is not None and now - gone >= OVER_AFTER


def is_worse(new: Severity, old: Severity) -> bool:
    """True if an alarm has become more urgent, so that it is reported again."""
    return _ORDER.index(new) > _ORDER.index(old)
