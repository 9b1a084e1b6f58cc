"""Panel of a member's traffic: a chart, sums by IP version, a comparison with the window before, and the quota.

It is the same for the member and for staff; only the words differ.
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
from apps.lib.ui.charts.bars import BarChartDrawing
from apps.lib.ui.charts.drawing import Drawing
from apps.members.models import Member
from apps.traffic import usage_charts
from apps.traffic.months import MonthUsage, draw_months, list_months
from apps.traffic.quotas import QuotaUsage, find_quota_usage
from apps.traffic.selectors import (
    AllTimeUsage,
    OctetsByDirection,
    UsagePoint,
    build_member_series,
    compare_usage,
    find_last_reading,
    get_all_time_usage,
)
from apps.traffic.usage_charts import DirectionNames, ShownVersion, get_down_up
from apps.traffic.windows import LABELS, TimeWindow, WindowPreset, build_recent_window, parse_preset

VERSIONS: Final[dict[ShownVersion, Promise]] = {
    ShownVersion.BOTH: gettext_lazy("IPv4 and IPv6"),
    ShownVersion.FOUR: gettext_lazy("IPv4"),
    ShownVersion.SIX: gettext_lazy("IPv6"),
}
BEFORE: Final[dict[WindowPreset, Promise]] = {
    WindowPreset.HOUR: gettext_lazy("the hour before"),
    WindowPreset.DAY: gettext_lazy("the 24 hours before"),
    WindowPreset.WEEK: gettext_lazy("the 7 days before"),
    WindowPreset.MONTH: gettext_lazy("the 30 days before"),
    WindowPreset.YEAR: gettext_lazy("the year before"),
}


class ChoiceLink(NamedTuple):
    """A link to one choice. name: value of the query parameter; words: its label; current: it is chosen now."""

    name: str
    words: Promise
    current: bool


class VersionSum(NamedTuple):
    """Octets of one IP version or of both: down and up in the window, and both together in the window before."""

    words: Promise
    down: int
    up: int
    before: int

    @property
    def total(self) -> int:
        return self.down + self.up


@dataclass(frozen=True, slots=True)
class UsagePanel:
    """Content of templates/traffic/_usage.html. read_until: the last reading if it was more than usage_writer.PAUSE ago."""

    window: TimeWindow
    version: ShownVersion
    names: DirectionNames
    total: AllTimeUsage
    points: list[UsagePoint]
    octets: OctetsByDirection
    before: OctetsByDirection
    quota: QuotaUsage | None
    months: list[MonthUsage]
    read_until: datetime | None

    @property
    def windows(self) -> list[ChoiceLink]:
        return [ChoiceLink(each, words, each is self.window.preset) for each, words in LABELS.items()]

    @property
    def versions(self) -> list[ChoiceLink]:
        return [ChoiceLink(each, words, each is self.version) for each, words in VERSIONS.items()]

    @property
    def sums(self) -> list[VersionSum]:
        """Sums of IPv4, of IPv6, and of both together."""
        order = (ShownVersion.FOUR, ShownVersion.SIX, ShownVersion.BOTH)
        return [VersionSum(VERSIONS[each], *get_down_up(self.octets, each), sum(get_down_up(self.before, each))) for each in order]

    @property
    def shown_sum(self) -> VersionSum:
        """Sum of the IP version that the chart shows."""
        return next(each for each in self.sums if each.words is VERSIONS[self.version])

    @property
    def drawing(self) -> Drawing:
        return usage_charts.draw_usage(self.points, self.window, self.names, self.version)

    @property
    def bars(self) -> BarChartDrawing:
        return draw_months(self.months)

    @property
    def has_comparison(self) -> bool:
        """True if counting had begun when the window before began."""
        begun = self.window.since - (self.window.until - self.window.since)
        return self.total.since is not None and self.total.since < begun + self.window.unit

    @property
    def comparison_text(self) -> str:
        """Sentence that compares the usage with the window before."""
        if not self.has_comparison or self.window.preset is None:
            return _("Counting began on %(day)s; there is nothing to compare with yet.") % {"day": formats.format_day(self.total.since)}
        return describe_change(self.shown_sum.total, self.shown_sum.before, str(BEFORE[self.window.preset]))


def describe_change(now: int, before: int, when: str) -> str:
    """Return the change from `before` to `now` (octets) as a sentence. when: words like “the 7 days before”."""
    facts = {"when": when, "before": formats.format_volume(before)}
    if not before:
        return _("No traffic in %(when)s.") % facts
    change = round(100 * (now - before) / before)
    if change > 900:
        return _("More than ten times as much as in %(when)s (%(before)s).") % facts
    facts["percent"] = formats.format_percent(abs(change))
    if change == 0:
        return _("As much as in %(when)s (%(before)s).") % facts
    more = _("%(percent)s more than in %(when)s (%(before)s).")
    return (more if change > 0 else _("%(percent)s less than in %(when)s (%(before)s).")) % facts


def build_staff_direction_names() -> DirectionNames:
    return DirectionNames(_("down"), _("up"))


def build_member_direction_names() -> DirectionNames:
    return DirectionNames(_("received"), _("sent"))


def build_usage_panel(member: Member, asked: QueryDict, names: DirectionNames, *, now: datetime) -> UsagePanel:
    """Return the panel for the query parameters `window` and `family`; by default the last 24 hours of both IP versions."""
    window = build_recent_window(now, parse_preset(asked.get("window", "")))
    family = asked.get("family", "")
    version = ShownVersion(family) if family in ShownVersion else ShownVersion.BOTH
    octets, before = compare_usage(member, window.since, window.until, now=now)
    points = list_usage_points(member, window, now=now)
    read = find_last_reading(member, window.since, window.until)
    quota, by_month = find_quota_usage(member, now=now), list_months(member, now=now)
    return UsagePanel(window, version, names, get_all_time_usage(member), points, octets, before, quota, by_month, read)


def list_usage_points(member: Member, window: TimeWindow, *, now: datetime) -> list[UsagePoint]:
    """Return the member's usage in the window's buckets."""
    return build_member_series(member, window.since, window.until, window.unit, now=now)


def build_usage_csv_rows(points: Sequence[UsagePoint], window: TimeWindow) -> list[list[object]]:
    """Return the points as rows of CSV, without octets where no gateway was read."""
    return [
        [point.start.isoformat(), (point.start + window.unit).isoformat(), *_build_octet_cells(point), _describe_gap(point)]
        for point in points
    ]


def build_usage_csv_head() -> list[str]:
    """Return the header row of the CSV."""
    down, up = _("IPv%(family)d down, bytes"), _("IPv%(family)d up, bytes")
    return [_("Begins"), _("Ends"), *(each % {"family": family} for family in (4, 6) for each in (down, up)), _("Remark")]


def _build_octet_cells(point: UsagePoint) -> list[object]:
    octets = point.octets
    return [octets.down4, octets.up4, octets.down6, octets.up6] if octets else [""] * 4


def _describe_gap(point: UsagePoint) -> str:
    if point.octets is None:
        return _("no reading")
    return _("a part was not read") if point.lost else ""
