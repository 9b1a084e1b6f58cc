"""Time marks below a chart: quarters of an hour, hours, days, weeks or months, in the site's time zone."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo

from django.utils.dateformat import format as format_date
from django.utils.timezone import get_current_timezone
from django.utils.translation import pgettext

QUARTERS, HOURS, DAYS, WEEKS = timedelta(hours=2), timedelta(hours=36), timedelta(days=9), timedelta(days=70)
QUARTER = timedelta(minutes=15)


def list_time_marks(begin: datetime, end: datetime) -> list[tuple[datetime, str]]:
    """Return the times and texts of the marks."""
    zone = get_current_timezone()
    first, last = begin.astimezone(zone), end.astimezone(zone)
    if end - begin <= QUARTERS:
        moments, words = _iter_quarters(begin, end, zone), pgettext("time of day", "H:i")
    elif end - begin <= HOURS:
        moments, words = _iter_hours(first, last), pgettext("time of day", "H:i")
    elif end - begin <= DAYS:
        moments, words = _iter_days(first, last), pgettext("day below a chart", "D j")
    elif end - begin <= WEEKS:
        moments, words = (day for day in _iter_days(first, last) if day.weekday() == 0), pgettext("week below a chart", "j M")
    else:
        moments, words = (day for day in _iter_days(first, last) if day.day == 1), pgettext("month below a chart", "M")
    room = first + (last - first) * 0.97  # marks are centred: one at the very end would be cut off
    return [(moment, format_date(moment, words)) for moment in moments if first <= moment <= room]


def _iter_quarters(begin: datetime, end: datetime, zone: tzinfo) -> Iterator[datetime]:
    """Yield every quarter of an hour, including those around a clock change."""
    at = begin + (datetime.min.replace(tzinfo=UTC) - begin) % QUARTER
    while at < end:
        yield at.astimezone(zone)
        at += QUARTER


def _iter_hours(first: datetime, last: datetime) -> Iterator[datetime]:
    """Yield every sixth hour of local time."""
    for day in _iter_days(first, last):
        for hour in (0, 6, 12, 18):
            yield day.replace(hour=hour)


def _iter_days(first: datetime, last: datetime) -> Iterator[datetime]:
    """Yield every local midnight, also of days with 23 or 25 hours."""
    day = first.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    while day < last:
        yield day
        day += timedelta(days=1)  # in local time: the zone's offset is computed again
