"""Windows of time that pages show: five that end now, or any from one moment to another."""

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


class Preset(StrEnum):
    """The windows that end now."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


LABELS: Final[dict[Preset, Promise]] = {
    Preset.HOUR: _("1 h"),
    Preset.DAY: _("24 h"),
    Preset.WEEK: _("7 days"),
    Preset.MONTH: _("30 days"),
    Preset.YEAR: _("A year"),
}
TITLES: Final[dict[Preset, Promise]] = {
    Preset.HOUR: _("the last hour"),
    Preset.DAY: _("the last 24 hours"),
    Preset.WEEK: _("the last 7 days"),
    Preset.MONTH: _("the last 30 days"),
    Preset.YEAR: _("the last year"),
}
USAGE: Final = {
    Preset.HOUR: (FIVE_MINUTES, 12),
    Preset.DAY: (FIVE_MINUTES, 288),
    Preset.WEEK: (HOUR, 168),
    Preset.MONTH: (DAY, 30),
    Preset.YEAR: (DAY, 365),
}
RATES: Final = USAGE | {Preset.MONTH: (4 * HOUR, 180)}  # how fast it went would drown in whole days
LISTS: Final = USAGE | {Preset.DAY: (HOUR, 24), Preset.WEEK: (DAY, 7)}  # of everybody: they begin where the coarser level has fewer rows
EACH: Final[dict[timedelta, Promise]] = {
    FIVE_MINUTES: _("in each 5 minutes"),
    HOUR: _("in each hour"),
    DAY: _("on each day, from 00:00 UTC"),
}


@dataclass(frozen=True, slots=True)
class Window:
    """Half open. unit: the buckets that a chart of it has. preset: None where somebody chose both ends."""

    since: datetime
    until: datetime
    unit: timedelta
    preset: Preset | None = None

    @property
    def each(self) -> Promise:
        """What a point of a chart of it is of, in words."""
        return EACH[self.unit]

    @property
    def grows(self) -> bool:
        """Whether a chart of it shows the bucket that is under way: a day is long enough to be told from one on which nothing passed."""
        return self.unit >= DAY


def parse_preset(text: str, otherwise: Preset = Preset.DAY) -> Preset:
    """The preset of this name, as it stands in an address."""
    return Preset(text) if text in Preset else otherwise


def align_down(at: datetime, unit: timedelta) -> datetime:
    """When the bucket began that holds this moment; buckets begin in UTC."""
    return at - (at - EPOCH) % unit


def build_recent_window(now: datetime, preset: Preset, units: dict[Preset, tuple[timedelta, int]] = USAGE) -> Window:
    """The window that ends now; its last bucket is under way."""
    unit, count = units[preset]
    return Window(align_down(now, unit) - unit * (count - 1), now, unit, preset)


def build_window(since: datetime, until: datetime) -> Window:
    """The window that somebody chose, with buckets that make a readable chart of it."""
    length = until - since
    unit = FIVE_MINUTES if length <= 2 * DAY else HOUR if length <= 14 * DAY else DAY
    return Window(since, until, unit)
