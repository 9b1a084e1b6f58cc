"""Times as clocks on walls show them, without an offset from UTC.

When the clock goes back, it shows an hour twice; when it goes forward, it skips one.
"""

from datetime import UTC, datetime, tzinfo


def list_meanings(shown: datetime, zone: tzinfo) -> list[datetime]:
    """Return when a clock in this zone shows this naive time: once; twice, the earlier first and in UTC; or never."""
    first, second = (shown.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    before, after = first.utcoffset(), second.utcoffset()
    if before is None or after is None or before == after:
        return [first]
    return [first.astimezone(UTC), second.astimezone(UTC)] if before > after else []  # Python compares times of one zone by the clock
