"""Lines of the gateway page about its probes: whether packets pass, since when, and how long they take."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from apps.gateways.packet_probes.judgement import (
    InwardVerdict,
    LossFigures,
    ProbeVerdict,
    compute_figures,
    is_full_size_lost,
    judge_inward,
    judge_status,
)
from apps.gateways.packet_probes.models import NOT_SENT, ProbeStatus
from apps.gateways.packet_probes.selectors import list_probe_statuses
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.network.gateway_sentences import translate_about_gateway
from apps.network.models import Gateway
from firewall.probe_messages import FULL_SIZE


@dataclass(frozen=True)
class ProbeLine:
    """One address family: its state, a sentence with figures, and the prober's own sentence if something is wrong."""

    family: str
    state: StateLabel
    figures: str
    text: str
    at: datetime


def list_probe_lines(gateway: Gateway, now: datetime) -> list[ProbeLine]:
    """Return a line for each family that is probed, IPv4 first, and one for what comes in from outside, where that is known."""
    found = [each for each in list_probe_statuses() if each.gateway_id == gateway.pk]
    return [line for each in found for line in (_build_line(each, now), _build_inward_line(each, now)) if line]


def _build_inward_line(status: ProbeStatus, now: datetime) -> ProbeLine | None:
    verdict = judge_inward(status, now)
    if verdict is None or status.inward_at is None:
        return None
    state = {
        InwardVerdict.COMES_IN: StateLabel(StateKind.OK, _("connections come in")),
        InwardVerdict.BLOCKED: StateLabel(StateKind.WARN, _("no connection comes in")),
        InwardVerdict.NOT_ASKED: StateLabel(StateKind.WARN, _("responder does not answer")),
    }[verdict]
    name = _("IPv%(family)d, from outside") % {"family": status.family}
    is_of_the_last_try = verdict is not InwardVerdict.COMES_IN or not status.inward_failures
    return ProbeLine(name, state, "", translate_about_gateway(status.inward_text) if is_of_the_last_try else "", status.inward_at)


def _build_line(status: ProbeStatus, now: datetime) -> ProbeLine:
    verdict = judge_status(status, now)
    state = {
        ProbeVerdict.PASSES: StateLabel(StateKind.OK, _("packets pass")),
        ProbeVerdict.LOSSY: StateLabel(StateKind.WARN, _("loses packets")),
        ProbeVerdict.SMALL_ONLY: StateLabel(StateKind.WARN, _("only small packets pass")),
        ProbeVerdict.LOST: StateLabel(StateKind.BAD, _("no packet comes back")),
        ProbeVerdict.NOT_PROBED: StateLabel(StateKind.WARN, _("cannot be probed")),
        ProbeVerdict.STALE: StateLabel(StateKind.PLAIN, _("not probed lately")),
    }[verdict]
    is_fault = verdict in (ProbeVerdict.LOST, ProbeVerdict.NOT_PROBED)
    text = translate_about_gateway(status.text) if is_fault else describe_sizes(status, now)
    return ProbeLine(f"IPv{status.family}", state, _describe_figures(compute_figures(status)), text, status.at)


def describe_sizes(status: ProbeStatus, now: datetime) -> str:
    """Return a sentence about packets of full size that do not come back, or about what cannot be seen; "" if they come back."""
    if is_full_size_lost(status, now):
        return describe_lost_size(status.mtu)
    if status.lost_echoes and max(status.lost_echoes) == NOT_SENT == min(status.lost_echoes):
        return _("Light loss and packets of full size are not watched: the probe sends no echoes. Run netzwart-probe on the gateway again.")
    if status.lost_echoes and status.full_size_answered is None and not status.failures:
        return _("Whether packets of full size pass is not known: no echo of %(size)d octets has ever come back.") % {"size": FULL_SIZE}
    return ""


def describe_lost_size(mtu: int) -> str:
    """Return what is known of lost packets of full size. mtu: what a router on the way lets pass, 0 if none said."""
    said = [_("Packets of %(size)d octets do not come back, small ones do.") % {"size": FULL_SIZE}]
    if mtu:
        said.append(_("A router on the way passes at most %(mtu)d octets.") % {"mtu": mtu})
    return " ".join(said)


def _describe_figures(figures: LossFigures) -> str:
    """Return text such as “median 1.2 ms, 95 of 100 within 2 ms, slowest 3.4 ms, 0 of the last 750 packets lost”; "" without any."""
    if not figures.sent:
        return ""
    parts = [
        _("%(lost)s of the last %(n)s packets lost")
        % {"lost": formats.format_number(figures.lost), "n": formats.format_number(figures.sent)}
    ]
    if figures.median_ms is not None and figures.high_ms is not None and figures.slowest_ms is not None:
        median, high, slowest = (formats.format_duration(ms / 1000) for ms in (figures.median_ms, figures.high_ms, figures.slowest_ms))
        times = {"median": median, "high": high, "slowest": slowest}
        parts.insert(0, _("median %(median)s, 95 of 100 within %(high)s, slowest %(slowest)s") % times)
    return ", ".join(parts)
