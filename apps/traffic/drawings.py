"""From points of usage and of throughput to charts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from django.utils.translation import gettext as _

from apps.lib.charts import RATE, VOLUME, Chart, Line, Unit
from apps.lib.charts.drawing import Drawing, drawn
from apps.lib.formats import PACKETS
from apps.network.models import Gateway
from apps.traffic.coverage import Covered, covered
from apps.traffic.selectors import Carried, Octets, Point, starts, throughput
from apps.traffic.windows import FIVE_MINUTES, TITLES, Window, begin

LATE: Final = timedelta(minutes=1)  # until then hardly anything of five minutes was read
FAMILIES: Final = (4, 6)


class Shown(StrEnum):
    """Of which IP version a chart is."""

    BOTH = ""
    FOUR = "4"
    SIX = "6"


class Measure(StrEnum):
    """What of the throughput is shown."""

    BITS = "bits"
    PACKETS = "packets"


class Names(NamedTuple):
    """What the two directions are called: staff look at a member, members at themselves."""

    down: str
    up: str


def down_up(octets: Octets, shown: Shown) -> tuple[int, int]:
    """Of one IP version, or of both."""
    if shown is Shown.BOTH:
        return octets.down, octets.up
    return (octets.down4, octets.up4) if shown is Shown.FOUR else (octets.down6, octets.up6)


def usage(points: Sequence[Point], window: Window, names: Names, shown: Shown = Shown.BOTH) -> Drawing:
    """A member's usage, down and up; what nobody read is a gap. Five minutes that have only just begun are left out."""
    known = until_last_reading([point for point in points if window.unit > FIVE_MINUTES or window.until - point.start >= LATE])
    pairs = [point.octets and down_up(point.octets, shown) for point in known]
    lines = [Line(name, [pair and pair[at] for pair in pairs]) for at, name in enumerate(names)]
    title = _("Traffic of %(time)s") % {"time": TITLES[window.preset]} if window.preset else _("Traffic")
    end = known[-1].start + window.unit if known else window.until
    return drawn(Chart("usage", title, [point.start for point in known], end, lines, VOLUME))


def until_last_reading(points: Sequence[Point]) -> Sequence[Point]:
    """Without the last one if nothing of it was read yet: what is not known yet is neither zero nor a gap."""
    return points[:-1] if points and points[-1].octets is None else points


class Step(NamedTuple):
    """What a gateway carried of one IP version in one bucket, a second; None where nobody read it. Bits and packets, down and up."""

    start: datetime
    bits: tuple[float, float] | None
    packets: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Way:
    """One gateway and IP version over the window."""

    gateway: Gateway
    family: int
    unit: timedelta
    end: datetime
    steps: list[Step]

    @property
    def octets(self) -> tuple[float, float]:
        """Down and up, all of it."""
        known = [step.bits for step in self.steps if step.bits]
        down, up = (sum(pair[at] for pair in known) * self.unit.total_seconds() / 8 for at in (0, 1))
        return down, up

    @property
    def silent(self) -> bool:
        """Was the gateway read, and carried nothing of this version?"""
        return any(step.bits for step in self.steps) and not any(self.octets)

    @property
    def gaps(self) -> bool:
        """Was it not read at some time?"""
        return not all(step.bits for step in self.steps)

    def drawing(self, measure: Measure) -> Drawing:
        pairs = [step.bits if measure is Measure.BITS else step.packets for step in self.steps]
        lines = [Line(name, [pair and round(pair[at], 1) for pair in pairs]) for at, name in enumerate((_("down"), _("up")))]
        title = _("IPv%(family)d through %(gateway)s") % {"family": self.family, "gateway": self.gateway}
        unit = RATE if measure is Measure.BITS else Unit(PACKETS)
        return drawn(Chart(f"way-{self.gateway.pk}-{self.family}", title, [step.start for step in self.steps], self.end, lines, unit))


def ways(gateways: Sequence[Gateway], window: Window) -> list[Way]:
    """Each gateway by IPv4 and IPv6, in buckets that are over."""
    until = begin(window.until, window.unit)
    keys = [gateway.pk for gateway in gateways]
    read = dict(zip(keys, covered(keys, window.since, until).gateways, strict=True))
    known = {(each.gateway, each.family, each.start): each for each in throughput(keys, window.since, until, window.unit)}
    moments = list(starts(window.since, until, window.unit))

    def way(gateway: Gateway, family: int) -> Way:
        of = Covered([read[gateway.pk]])
        steps = [_step(start, window.unit, known.get((gateway.pk, family, start)), of) for start in moments]
        if steps and of.ends_within(steps[-1].start, steps[-1].start + window.unit):
            steps.pop()
        end = steps[-1].start + window.unit if steps else until
        return Way(gateway, family, window.unit, end, steps)

    return [way(gateway, family) for gateway in gateways for family in FAMILIES]


def _step(start: datetime, unit: timedelta, carried: Carried | None, read: Covered) -> Step:
    if carried is None:
        nothing = None if read.gap(start, start + unit) else (0.0, 0.0)
        return Step(start, nothing, nothing)
    seconds = unit.total_seconds()
    (up, down), (packets_up, packets_down) = carried.octets, carried.packets
    return Step(start, (8 * down / seconds, 8 * up / seconds), (packets_down / seconds, packets_up / seconds))
