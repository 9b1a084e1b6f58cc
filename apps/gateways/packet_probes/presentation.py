"""Lines of the gateway page about its probes: whether packets pass, since when, and how long they take."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.gateways.packet_probes.judgement import LossFigures, ProbeVerdict, compute_figures, judge_status
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.packet_probes.selectors import list_probe_statuses
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.network.models import Gateway


@dataclass(frozen=True)
class ProbeLine:
    """One address family: its state, a sentence with figures, and the prober's own sentence if something is wrong."""

    family: str
    state: StateLabel
    figures: str
    text: str
    at: datetime


def list_probe_lines(gateway: Gateway, now: datetime) -> list[ProbeLine]:
    """Return a line for each family that is probed, IPv4 first."""
    return [_build_line(each, now) for each in list_probe_statuses() if each.gateway_id == gateway.pk]


def _build_line(status: ProbeStatus, now: datetime) -> ProbeLine:
    verdict = judge_status(status, now)
    state = {
        ProbeVerdict.PASSES: StateLabel(StateKind.OK, _("packets pass")),
        ProbeVerdict.LOSSY: StateLabel(StateKind.WARN, _("loses packets")),
        ProbeVerdict.LOST: StateLabel(StateKind.BAD, _("no packet comes back")),
        ProbeVerdict.NOT_PROBED: StateLabel(StateKind.WARN, _("cannot be probed")),
        ProbeVerdict.STALE: StateLabel(StateKind.PLAIN, _("not probed lately")),
    }[verdict]
    text = status.text if verdict in (ProbeVerdict.LOST, ProbeVerdict.NOT_PROBED) else ""
    return ProbeLine(f"IPv{status.family}", state, _describe_figures(compute_figures(status.recent)), text, status.at)


def _describe_figures(figures: LossFigures) -> str:
    """Return text such as “median 1.2 ms, slowest 3.4 ms, 0 of 30 lost”; "" before the first probe."""
    if not figures.sent:
        return ""
    lost = ngettext("%(lost)d of the last %(n)d lost", "%(lost)d of the last %(n)d lost", figures.lost)
    parts = [lost % {"lost": figures.lost, "n": figures.sent}]
    if figures.median_ms is not None and figures.slowest_ms is not None:
        times = {"median": formats.format_duration(figures.median_ms / 1000), "slowest": formats.format_duration(figures.slowest_ms / 1000)}
        parts.insert(0, _("median %(median)s, slowest %(slowest)s") % times)
    return ", ".join(parts)
