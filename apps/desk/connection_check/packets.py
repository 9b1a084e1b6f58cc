"""Findings about packets: whether they pass the gateways that carry the member's address families, as probes have shown."""

from collections.abc import Collection, Iterator
from datetime import datetime

from django.utils.translation import gettext as _

from apps.desk.connection_check.finding import FaultOrigin, Finding
from apps.gateways.packet_probes.judgement import FRESH, compute_figures
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.packet_probes.selectors import list_probe_statuses
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind
from apps.network.models import Gateway
from apps.status.availability.carriers import judge_carriers, judge_lost_families
from apps.status.availability.models import ServiceLevel


def check_packets(families: Collection[int], groups: Collection[int], now: datetime) -> Iterator[Finding]:
    """Yield a finding for each family that the member uses, and each gateway of these groups that carries it, or one if none does."""
    probed = {(each.gateway_id, each.family): each for each in list_probe_statuses()}
    for family in sorted(families):
        lost = judge_lost_families(family, now)
        if any(lost.get(group) is ServiceLevel.DOWN for group in groups):
            yield _build_lost_finding(family)
        for gateway, level in judge_carriers(family, now).items():
            if gateway.group_id in groups:
                yield _build_finding(gateway, family, level, probed.get((gateway.pk, family)), now)


def _build_lost_finding(family: int) -> Finding:
    given = {"family": family}
    title, words = _("IPv%(family)d packets") % given, _("No gateway carries IPv%(family)d.") % given
    short = _("no gateway carries IPv%(family)d packets") % given
    return Finding("packets", StateKind.BAD, title, words, FaultOrigin.NETWORK, short)


def _build_finding(gateway: Gateway, family: int, level: ServiceLevel, status: ProbeStatus | None, now: datetime) -> Finding:
    given = {"family": family, "gateway": gateway}
    title = _("IPv%(family)d packets through %(gateway)s") % given
    match level:
        case ServiceLevel.DOWN:
            short = _("no IPv%(family)d packet comes back from the internet") % given
            return Finding("packets", StateKind.BAD, title, _("None comes back from the internet."), FaultOrigin.NETWORK, short)
        case ServiceLevel.DEGRADED:
            short = _("IPv%(family)d packets are lost, or take long") % given
            words = _("Some are lost, or take long: %(figures)s.") % {"figures": _describe_figures(status)}
            return Finding("packets", StateKind.WARN, title, words, FaultOrigin.NETWORK, short)
        case ServiceLevel.FINE:
            return Finding("packets", StateKind.OK, title, _("They come back: %(figures)s.") % {"figures": _describe_figures(status)})
    return Finding("packets", StateKind.PLAIN, title, _describe_unknown(status, now))


def _describe_figures(status: ProbeStatus | None) -> str:
    if status is None:
        return _("not probed")
    figures = compute_figures(status)
    counts = {"lost": formats.format_number(figures.lost), "n": formats.format_number(figures.sent)}
    lost = _("%(lost)s of the last %(n)s packets lost") % counts
    if figures.median_ms is None:
        return lost
    return _("median %(time)s, %(lost)s") % {"time": formats.format_duration(figures.median_ms / 1000), "lost": lost}


def _describe_unknown(status: ProbeStatus | None, now: datetime) -> str:
    if status is None:
        return _("It is not tried whether they pass.")
    if now - status.at > FRESH:
        return _("Not known: last tried %(time)s.") % {"time": formats.format_moment(status.at, now, with_zone=True, with_seconds=False)}
    return _("Not known at present: the test itself does not work.")
