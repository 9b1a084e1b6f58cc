"""Quiet hours of a channel, as pure functions of local times."""

from datetime import datetime, time, timedelta


def is_quiet(begin: time | None, end: time | None, at: datetime) -> bool:
    """True if the local time lies in the quiet hours, which may span midnight. at: aware, in the zone that counts."""
    if begin is None or end is None:
        return False
    now = at.time()
    return begin <= now < end if begin < end else now >= begin or now < end


def find_quiet_end(end: time, at: datetime) -> datetime:
    """Return the next time after `at` at which the quiet hours end."""
    today = at.replace(hour=end.hour, minute=end.minute, second=end.second, microsecond=0)
    return today if today > at else today + timedelta(days=1)


def find_due_time(begin: time | None, end: time | None, at: datetime, *, is_urgent: bool) -> datetime:
    """Return when a message may be sent at the earliest: at `at`, or at the end of the quiet hours if it is not urgent."""
    return at if is_urgent or end is None or not is_quiet(begin, end, at) else find_quiet_end(end, at)
