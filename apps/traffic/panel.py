"""What the panel of a member's traffic shows: a chart, sums by IP version, how much it was before, and the quota.

The same for the member and for staff; only the words differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.lib.ui import formats
from apps.lib.ui.charts.bars import Bars
from apps.lib.ui.charts.drawing import Drawing
from apps.members.models import Member
from apps.traffic import usage_charts
from apps.traffic.months import Month, drawing, months
from apps.traffic.quotas import Filling, filling
from apps.traffic.selectors import Octets, Point, Total, against_before, read_until, series, total_of
from apps.traffic.usage_charts import Names, Shown, down_up
from apps.traffic.windows import LABELS, Preset, Window, ending, preset_of

VERSIONS: Final[dict[Shown, Promise]] = {
    Shown.BOTH: gettext_lazy("IPv4 and IPv6"),
    Shown.FOUR: gettext_lazy("IPv4"),
    Shown.SIX: gettext_lazy("IPv6"),
}
BEFORE: Final[dict[Preset, Promise]] = {
    Preset.HOUR: gettext_lazy("the hour before"),
    Preset.DAY: gettext_lazy("the 24 hours before"),
    Preset.WEEK: gettext_lazy("the 7 days before"),
    Preset.MONTH: gettext_lazy("the 30 days before"),
    Preset.YEAR: gettext_lazy("the year before"),
}


class Choice(NamedTuple):
    """A link: what it shows, its words, and whether that is shown now."""

    name: str
    words: Promise
    current: bool


class Sum(NamedTuple):
    """Octets of one IP version, or of both, in the window and in the one before."""

    words: Promise
    down: int
    up: int
    before: int

    @property
    def both(self) -> int:
        return self.down + self.up


@dataclass(frozen=True, slots=True)
class Panel:
    """All that templates/traffic/_usage.html shows. read_until: the last reading, if it is longer ago than two readings are apart."""

    window: Window
    version: Shown
    names: Names
    total: Total
    points: list[Point]
    octets: Octets
    before: Octets
    quota: Filling | None
    months: list[Month]
    read_until: datetime | None

    @property
    def windows(self) -> list[Choice]:
        return [Choice(each, words, each is self.window.preset) for each, words in LABELS.items()]

    @property
    def versions(self) -> list[Choice]:
        return [Choice(each, words, each is self.version) for each, words in VERSIONS.items()]

    @property
    def sums(self) -> list[Sum]:
        """IPv4, IPv6, and both together."""
        order = (Shown.FOUR, Shown.SIX, Shown.BOTH)
        return [Sum(VERSIONS[each], *down_up(self.octets, each), sum(down_up(self.before, each))) for each in order]

    @property
    def shown(self) -> Sum:
        """Of what the chart shows."""
        return next(each for each in self.sums if each.words is VERSIONS[self.version])

    @property
    def drawing(self) -> Drawing:
        return usage_charts.usage(self.points, self.window, self.names, self.version)

    @property
    def bars(self) -> Bars:
        return drawing(self.months)

    @property
    def compares(self) -> bool:
        """Was already counted when the window before began?"""
        begun = self.window.since - (self.window.until - self.window.since)
        return self.total.since is not None and self.total.since < begun + self.window.unit

    @property
    def compared(self) -> str:
        """How much it is against the window before."""
        if not self.compares or self.window.preset is None:
            return _("Counting began on %(day)s; there is nothing to compare with yet.") % {"day": formats.day(self.total.since)}
        return against(self.shown.both, self.shown.before, str(BEFORE[self.window.preset]))


def against(now: int, before: int, when: str) -> str:
    """In words. when: "the 7 days before"."""
    facts = {"when": when, "before": formats.volume(before)}
    if not before:
        return _("In %(when)s there was nothing.") % facts
    change = round(100 * (now - before) / before)
    if change > 900:
        return _("More than ten times as much as in %(when)s (%(before)s).") % facts
    facts["percent"] = formats.percent(abs(change))
    if change == 0:
        return _("As much as in %(when)s (%(before)s).") % facts
    more = _("%(percent)s more than in %(when)s (%(before)s).")
    return (more if change > 0 else _("%(percent)s less than in %(when)s (%(before)s).")) % facts


def for_staff() -> Names:
    return Names(_("down"), _("up"))


def for_members() -> Names:
    return Names(_("received"), _("sent"))


def panel(member: Member, asked: QueryDict, names: Names, *, now: datetime) -> Panel:
    """What the address asks for; without anything the last 24 hours."""
    window = ending(now, preset_of(asked.get("window", "")))
    family = asked.get("family", "")
    version = Shown(family) if family in Shown else Shown.BOTH
    octets, before = against_before(member, window.since, window.until, now=now)
    points = points_of(member, window, now=now)
    read = read_until(member, window.since, window.until)
    quota, by_month = filling(member, now=now), months(member, now=now)
    return Panel(window, version, names, total_of(member), points, octets, before, quota, by_month, read)


def points_of(member: Member, window: Window, *, now: datetime) -> list[Point]:
    """The member's usage in the window's buckets."""
    return series(member, window.since, window.until, window.unit, now=now)


def rows(points: Sequence[Point], window: Window) -> list[list[object]]:
    """The points as cells of a CSV, without octets where nobody read."""
    return [[point.start.isoformat(), (point.start + window.unit).isoformat(), *_octets(point), _note(point)] for point in points]


def head() -> list[str]:
    """What stands above them."""
    down, up = _("IPv%(family)d down, bytes"), _("IPv%(family)d up, bytes")
    return [_("Begins"), _("Ends"), *(each % {"family": family} for family in (4, 6) for each in (down, up)), _("Remark")]


def _octets(point: Point) -> list[object]:
    octets = point.octets
    return [octets.down4, octets.up4, octets.down6, octets.up6] if octets else [""] * 4


def _note(point: Point) -> str:
    if point.octets is None:
        return _("no reading")
    return _("a part was not read") if point.lost else ""
