"""Charts of usage and throughput."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

from django.utils.translation import gettext as _

from apps.lib.ui.charts import RATE, VOLUME, Chart, ChartLine, ChartUnit
from apps.lib.ui.charts.drawing import Drawing, draw_chart
from apps.lib.ui.formats import PACKETS
from apps.network.models import Gateway
from apps.traffic.coverage import ReadingCoverage, get_coverage
from apps.traffic.selectors import OctetsByDirection, ThroughputBucket, UsagePoint, iter_bucket_starts, list_throughput
from apps.traffic.windows import FIVE_MINUTES, TITLES, TimeWindow, align_down

FAMILIES: Final = (4, 6)


class ShownVersion(StrEnum):
    """IP version that a chart shows."""

    BOTH = ""
    FOUR = "4"
    SIX = "6"


class ThroughputMeasure(StrEnum):
    """Measure of throughput that a chart shows."""

    BITS = "bits"
    PACKETS = "packets"


class DirectionNames(NamedTuple):
    """Names of the two directions, which differ between staff and the member."""

    down: str
    up: str


def get_down_up(octets: OctetsByDirection, shown: ShownVersion) -> tuple[int, int]:
    """Return octets down and up, of one IP version or of both."""
    if shown is ShownVersion.BOTH:
        return octets.down, octets.up
    return (octets.down4, octets.up4) if shown is ShownVersion.FOUR else (octets.down6, octets.up6)


def draw_usage(points: Sequence[UsagePoint], window: TimeWindow, names: DirectionNames, shown: ShownVersion = ShownVersion.BOTH) -> Drawing:
    """Return a chart of a member's usage, down and up, with gaps where no gateway was read. A bucket under way is shown if it is a day."""
    over = [point for point in points if window.shows_current_bucket or point.start + window.unit <= window.until]
    known = drop_unread_end(over)
    if window.unit == FIVE_MINUTES:
        known = blank_half_read(known)
    pairs = [point.octets and get_down_up(point.octets, shown) for point in known]
    lines = [ChartLine(name, [pair and pair[at] for pair in pairs]) for at, name in enumerate(names)]
    title = _("Traffic of %(time)s") % {"time": TITLES[window.preset]} if window.preset else _("Traffic")
    end = known[-1].start + window.unit if known else window.until
    return draw_chart(Chart("usage", title, [point.start for point in known], end, lines, VOLUME))


def drop_unread_end(points: Sequence[UsagePoint]) -> Sequence[UsagePoint]:
    """Return the points without the last one if nothing of it was read yet: what is not known yet is neither zero nor a gap."""
    return points[:-1] if points and points[-1].octets is None else points


def blank_half_read(points: Sequence[UsagePoint]) -> Sequence[UsagePoint]:
    """Return the points with the last one before each gap blanked: the number of a partly read bucket would look like less traffic."""
    ends = {one.start for one, two in pairwise(points) if two.octets is None}
    return [point._replace(octets=None) if point.start in ends else point for point in points]


class ThroughputStep(NamedTuple):
    """Throughput of a gateway by one IP version in one bucket. bits, packets: a second, down and up; None where it was not read.

    whole: False for the bucket in which reading ended, if the gateway was not read in the next bucket either.
    """

    start: datetime
    bits: tuple[float, float] | None
    packets: tuple[float, float] | None
    whole: bool


@dataclass(frozen=True, slots=True)
class GatewayThroughput:
    """Throughput of one gateway by one IP version over a window. read_until: the last reading if it was more than PAUSE before its end."""

    gateway: Gateway
    family: int
    unit: timedelta
    end: datetime
    steps: list[ThroughputStep]
    read_until: datetime | None

    @property
    def octets(self) -> tuple[float, float]:
        """Octets down and up in the whole window."""
        known = [step.bits for step in self.steps if step.bits]
        down, up = (sum(pair[at] for pair in known) * self.unit.total_seconds() / 8 for at in (0, 1))
        return down, up

    @property
    def is_silent(self) -> bool:
        """True if the gateway was read and carried nothing of this IP version."""
        return any(step.bits for step in self.steps) and not any(self.octets)

    @property
    def has_gaps(self) -> bool:
        """True if the gateway was not read at some time."""
        return not all(step.bits and step.whole for step in self.steps)

    def draw(self, measure: ThroughputMeasure) -> Drawing:
        pairs = [(step.bits if measure is ThroughputMeasure.BITS else step.packets) if step.whole else None for step in self.steps]
        lines = [ChartLine(name, [pair and round(pair[at], 1) for pair in pairs]) for at, name in enumerate((_("down"), _("up")))]
        title = _("IPv%(family)d through %(gateway)s") % {"family": self.family, "gateway": self.gateway}
        unit = RATE if measure is ThroughputMeasure.BITS else ChartUnit(PACKETS)
        return draw_chart(Chart(f"way-{self.gateway.pk}-{self.family}", title, [step.start for step in self.steps], self.end, lines, unit))


def list_gateway_throughput(gateways: Sequence[Gateway], window: TimeWindow) -> list[GatewayThroughput]:
    """Return the throughput of each gateway by IPv4 and by IPv6, in buckets that are over."""
    until = align_down(window.until, window.unit)
    keys = [gateway.pk for gateway in gateways]
    read = dict(zip(keys, get_coverage(keys, window.since, window.until).gateways, strict=True))
    known = {(each.gateway, each.family, each.start): each for each in list_throughput(keys, window.since, until, window.unit)}
    moments = list(iter_bucket_starts(window.since, until, window.unit))

    def way(gateway: Gateway, family: int) -> GatewayThroughput:
        of = ReadingCoverage([read[gateway.pk]])
        steps = [_build_step(start, window.unit, known.get((gateway.pk, family, start)), of) for start in moments]
        if steps and not steps[-1].whole:
            steps.pop()  # the rest of this bucket is not known yet
        end = steps[-1].start + window.unit if steps else until
        return GatewayThroughput(gateway, family, window.unit, end, steps, of.find_last_reading(window.until))

    return [way(gateway, family) for gateway in gateways for family in FAMILIES]


def _build_step(start: datetime, unit: timedelta, carried: ThroughputBucket | None, read: ReadingCoverage) -> ThroughputStep:
    end = start + unit
    whole = not (read.has_stretch_end(start, end) and read.is_gap(end, end + unit))
    if carried is None:
        nothing = None if read.is_gap(start, end) else (0.0, 0.0)
        return ThroughputStep(start, nothing, nothing, whole)
    seconds = unit.total_seconds()
    (up, down), (packets_up, packets_down) = carried.octets, carried.packets
    return ThroughputStep(start, (8 * down / seconds, 8 * up / seconds), (packets_down / seconds, packets_up / seconds), whole)
