"""Windows of time that pages show: five presets that end now, or a chosen start and end."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.traffic.rollup import EPOCH

FIVE_MINUTES: Final = timedelta(minutes=5)
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)


class WindowPreset(StrEnum):
    """Windows that end now."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


LABELS: Final[dict[WindowPreset, Promise]] = {
    WindowPreset.HOUR: _("1 h"),
    WindowPreset.DAY: _("24 h"),
    WindowPreset.WEEK: _("7 days"),
    WindowPreset.MONTH: _("30 days"),
    WindowPreset.YEAR: _("A year"),
}
TITLES: Final[dict[WindowPreset, Promise]] = {
    WindowPreset.HOUR: _("the last hour"),
    WindowPreset.DAY: _("the last 24 hours"),
    WindowPreset.WEEK: _("the last 7 days"),
    WindowPreset.MONTH: _("the last 30 days"),
    WindowPreset.YEAR: _("the last year"),
}
USAGE: Final = {
    WindowPreset.HOUR: (FIVE_MINUTES, 12),
    WindowPreset.DAY: (FIVE_MINUTES, 288),
    WindowPreset.WEEK: (HOUR, 168),
    WindowPreset.MONTH: (DAY, 30),
    WindowPreset.YEAR: (DAY, 365),
}
RATES: Final = USAGE | {WindowPreset.MONTH: (4 * HOUR, 180)}  # an average over whole days would hide the peaks of a rate
LISTS: Final = USAGE | {WindowPreset.DAY: (HOUR, 24), WindowPreset.WEEK: (DAY, 7)}  # for all members: coarser, so fewer rows
EACH: Final[dict[timedelta, Promise]] = {
    FIVE_MINUTES: _("per 5 minutes"),
    HOUR: _("per hour"),
    DAY: _("per day, from 00:00 UTC"),
}


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A half open window [since, until). unit: length of a chart's buckets. preset: None where start and end were chosen."""

    since: datetime
    until: datetime
    unit: timedelta
    preset: WindowPreset | None = None

    @property
    def bucket_label(self) -> Promise:
        """Words for the time of one point of its chart."""
        return EACH[self.unit]

    @property
    def shows_current_bucket(self) -> bool:
        """True if its chart shows the bucket that is under way: part of a day is long enough not to look like a day without traffic."""
        return self.unit >= DAY


def parse_preset(text: str, otherwise: WindowPreset = WindowPreset.DAY) -> WindowPreset:
    """Return the preset that a query parameter names, or `otherwise`."""
    return WindowPreset(text) if text in WindowPreset else otherwise


def align_down(at: datetime, unit: timedelta) -> datetime:
    """Return the start of the bucket that contains this moment; buckets begin in UTC."""
    return at - (at - EPOCH) % unit


def build_recent_window(now: datetime, preset: WindowPreset, units: dict[WindowPreset, tuple[timedelta, int]] = USAGE) -> TimeWindow:
    """Return the preset's window that ends now; its last bucket is under way."""
    unit, count = units[preset]
    return TimeWindow(align_down(now, unit) - unit * (count - 1), now, unit, preset)


def build_window(since: datetime, until: datetime) -> TimeWindow:
    """Return a window with chosen ends, and buckets of a length that makes a readable chart."""
    length = until - since
    unit = FIVE_MINUTES if length <= 2 * DAY else HOUR if length <= 14 * DAY else DAY
    return TimeWindow(since, until, unit)
