"""The page of remaining times: what a shorter timeout would save, and bars for each protocol and state."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.timeouts.savings import OpenConnections, TimeoutSaving, compute_savings
from apps.lib.ui import formats
from apps.network.models import Profile
from firewall import policy
from firewall.conntrack_timeouts import ANSWERED, TCP, TimeoutHistogram, TimeoutsAre

EDGES: Final = (0, 10, 30, 60, 300, 1800, 3600, 7200, 14_400, 43_200)
PROTOCOLS: Final = {1: "ICMP", 2: "IGMP", 6: "TCP", 17: "UDP", 47: "GRE", 50: "ESP", 58: "ICMPv6", 89: "OSPF", 112: "VRRP", 132: "SCTP"}
TCP_STATES: Final[dict[str, Promise]] = {
    "established": gettext_lazy("open"),
    "syn_sent": gettext_lazy("unanswered"),
    "syn_recv": gettext_lazy("being opened"),
    "fin_wait": gettext_lazy("one side has ended"),
    "close_wait": gettext_lazy("half-closed"),
    "last_ack": gettext_lazy("both are ending"),
    "time_wait": gettext_lazy("both have ended"),
    "close": gettext_lazy("reset"),
}


@dataclass(frozen=True)
class RemainingBar:
    """Connections whose remaining time lies within a range, in words."""

    range: str
    number: int


@dataclass(frozen=True)
class RemainingTimes:
    """Connections of one protocol and state. most: number of the longest bar."""

    title: str
    number: int
    most: int
    bars: Sequence[RemainingBar]


@dataclass(frozen=True)
class SavingLine:
    """A timeout, and what it would save. share: in percent of all connections; None if it is not known."""

    timeout: str
    gone: int | None
    share: float | None


@dataclass(frozen=True)
class TimeoutsView:
    """Everything that the page shows. headline: the largest saving in a sentence; present: the timeout in force, in words; seconds: that
    reading took.
    """

    headline: str
    present: str
    seconds: float
    answer: TimeoutsAre
    opened: OpenConnections
    lines: Sequence[SavingLine]
    groups: Sequence[RemainingTimes]


def find_present_timeout(profile: Profile) -> int:
    """Return the seconds after which an open TCP connection without a packet ends: the profile's, or what the ruleset sets without one."""
    return profile.tcp_established if profile.pk and profile.managed else policy.Profile().tcp_established


def build_timeouts_view(answer: TimeoutsAre, profile: Profile) -> TimeoutsView:
    """Build the view of one answer. profile: the group's, saved or not."""
    present = find_present_timeout(profile)
    opened = compute_savings(answer.histograms, present)
    groups = sorted((_build_group(each) for each in answer.histograms), key=lambda each: -each.number)
    lines = [_build_line(each, answer.connections) for each in opened.savings]
    headline = _describe_saving(opened, present, answer.connections)
    return TimeoutsView(headline, _format_timeout(present), answer.milliseconds / 1000, answer, opened, lines, groups)


def _describe_saving(opened: OpenConnections, present: int, connections: int) -> str:
    shortest = opened.savings[0]
    if shortest.gone is None:
        given = {"present": _format_timeout(present)}
        return _("Open TCP connections end after %(present)s without a packet: that is short already.") % given
    given = {
        "shorter": _format_timeout(shortest.timeout),
        "present": _format_timeout(present),
        "gone": formats.format_number(shortest.gone),
        "all": formats.format_number(connections),
    }
    return _("%(shorter)s instead of %(present)s would save %(gone)s of %(all)s connections.") % given


def _build_line(saving: TimeoutSaving, connections: int) -> SavingLine:
    share = 100 * saving.gone / connections if saving.gone is not None and connections else None
    return SavingLine(_format_timeout(saving.timeout), saving.gone, share)


def _build_group(histogram: TimeoutHistogram) -> RemainingTimes:
    numbers = [0] * len(EDGES)
    for start, number in zip(histogram.starts, histogram.counts, strict=True):
        numbers[bisect_right(EDGES, max(0, start)) - 1] += number
    bars = [RemainingBar(_describe_range(at), number) for at, number in enumerate(numbers) if number]
    return RemainingTimes(_name_group(histogram), sum(numbers), max(numbers), bars)


def _name_group(histogram: TimeoutHistogram) -> str:
    protocol = PROTOCOLS.get(histogram.protocol) or _("protocol %(number)s") % {"number": histogram.protocol}
    if histogram.protocol == TCP:
        return f"{protocol}, {TCP_STATES.get(histogram.state, histogram.state)}"
    words = _("both directions") if histogram.state == ANSWERED else _("one direction")
    return f"{protocol}, {words}"


def _describe_range(at: int) -> str:
    if at == len(EDGES) - 1:
        return _("%(from)s or more") % {"from": _format_timeout(EDGES[at])}
    if not EDGES[at]:
        return _("under %(to)s") % {"to": _format_timeout(EDGES[1])}
    return _("%(from)s to %(to)s") % {"from": _format_timeout(EDGES[at]), "to": _format_timeout(EDGES[at + 1])}


def _format_timeout(seconds: int) -> str:
    """Format as people choose timeouts: 30 s, 1 min, 2 h, 2 h 4 min."""
    hours, minutes = divmod(seconds // 60, 60)
    if seconds % 60 or not seconds:
        return formats.format_duration(seconds)
    parts = [(hours, "h"), (minutes, "min")]
    return " ".join(f"{formats.format_number(number)}\N{NARROW NO-BREAK SPACE}{unit}" for number, unit in parts if number)
