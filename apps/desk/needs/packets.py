"""Needs that follow from probe packets: a gateway that passes none, loses some, or cannot be probed."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.shortcuts import resolve_url
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.desk.needs.affected import describe_affected
from apps.desk.needs.need import AttentionItem
from apps.gateways.packet_probes.judgement import ProbeVerdict, compute_figures, judge_status
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.packet_probes.presentation import describe_lost_size
from apps.gateways.packet_probes.selectors import list_probe_statuses
from apps.gateways.selectors import GatewayOverview
from apps.lib.ui.states import StateKind, StateLabel
from apps.network.gateway_sentences import translate_about_gateway


def iter_attention_items(gates: Sequence[GatewayOverview], now: datetime) -> Iterator[AttentionItem]:
    """Yield needs of gateways whose fresh probes failed. What all gateways of a group lost is one need, the network's."""
    by_gateway = {each.gateway.pk: each for each in gates}
    found = [(each, judge_status(each, now)) for each in list_probe_statuses() if each.gateway_id in by_gateway]
    lost = [each for each, verdict in found if verdict is ProbeVerdict.LOST]
    for group, family in dict.fromkeys((by_gateway[each.gateway_id].gateway.group_id, each.family) for each in lost):
        of_group = [each for each in gates if each.gateway.group_id == group]
        here = [each for each in lost if each.family == family and by_gateway[each.gateway_id] in of_group]
        if len(here) == len(of_group) > 1:
            yield _build_lost_everywhere(group, here)
        else:
            yield from (_build_lost(by_gateway[each.gateway_id], each) for each in here)
    small_only = [each for each, verdict in found if verdict is ProbeVerdict.SMALL_ONLY]
    for gateway in dict.fromkeys(each.gateway_id for each in small_only):
        yield _build_small_only(by_gateway[gateway], [each for each in small_only if each.gateway_id == gateway])
    for status, verdict in found:
        if verdict is ProbeVerdict.LOSSY:
            yield _build_lossy(by_gateway[status.gateway_id], status)
        elif verdict is ProbeVerdict.NOT_PROBED:
            yield _build_not_probed(by_gateway[status.gateway_id], status)


def _build_lost_everywhere(group: int, lost: Sequence[ProbeStatus]) -> AttentionItem:
    since = max(each.since for each in lost)
    what = _("No IPv%(family)d packet comes back through any gateway") % {"family": lost[0].family}
    why = _("The uplink or the probe’s target is the likely cause: the gateways share both.")
    text = " ".join([describe_affected(carries=True), why, translate_about_gateway(lost[0].text)])
    key, state = f"packets-{group}-{lost[0].family}", StateLabel(StateKind.BAD, _("No packets"))
    each_alone = frozenset(build_key(each.gateway_id, each.family) for each in lost)
    page, everywhere = resolve_url("gateways:list"), frozenset(each.gateway_id for each in lost)
    return AttentionItem(key, state, what, text, since, _("Open"), page, stands_for=each_alone, gateways=everywhere)


def _build_lost(of: GatewayOverview, status: ProbeStatus) -> AttentionItem:
    carries = status.family in of.carried
    what = _("No IPv%(family)d packet comes back through %(gateway)s") % {"family": status.family, "gateway": of.gateway}
    state = StateLabel(StateKind.BAD if carries else StateKind.WARN, _("No packets"))
    return _build_item(
        status, state, what, f"{describe_affected(carries=carries)} {translate_about_gateway(status.text)}", since=status.since
    )


def _build_lossy(of: GatewayOverview, status: ProbeStatus) -> AttentionItem:
    figures = compute_figures(status)
    what = _("%(gateway)s loses IPv%(family)d packets") % {"gateway": of.gateway, "family": status.family}
    text = ngettext(
        "%(lost)d of the last %(n)d probe packet did not come back.",
        "%(lost)d of the last %(n)d probe packets did not come back.",
        figures.sent,
    ) % {"lost": figures.lost, "n": figures.sent}
    return _build_item(status, StateLabel(StateKind.WARN, _("Loss")), what, text, since=None)


def _build_small_only(of: GatewayOverview, statuses: Sequence[ProbeStatus]) -> AttentionItem:
    """Build the need that packets of full size do not pass. If no router says so to the senders, their connections hang."""
    families = {each.family for each in statuses}
    hangs = not all(each.mtu for each in statuses) and bool(families & set(of.carried))
    what = _("Packets of full size do not pass %(gateway)s") % {"gateway": of.gateway}
    said = [
        f"{' + '.join(f'IPv{each}' for each in sorted(families))}:",
        describe_lost_size(min((each.mtu for each in statuses if each.mtu), default=0)),
        _("Large transfers are slow or hang. Check the MTU of %(wan)s, of the switch ports and of the uplink.") % {"wan": of.gateway.wan},
    ]
    state = StateLabel(StateKind.BAD if hangs else StateKind.WARN, _("Packet size"))
    since = min(each.full_size_answered for each in statuses if each.full_size_answered)
    page = resolve_url("gateways:gateway", of.gateway.pk)
    own = frozenset({of.gateway.pk})
    return AttentionItem(f"full-size-{of.gateway.pk}", state, what, " ".join(said), since, _("Open"), page, gateways=own)


def _build_not_probed(of: GatewayOverview, status: ProbeStatus) -> AttentionItem:
    what = _("Nothing shows whether IPv%(family)d packets pass %(gateway)s") % {"family": status.family, "gateway": of.gateway}
    since = status.since if status.failures else None
    return _build_item(status, StateLabel(StateKind.WARN, _("Not probed")), what, translate_about_gateway(status.text), since=since)


def _build_item(status: ProbeStatus, state: StateLabel, what: str, text: str, *, since: datetime | None) -> AttentionItem:
    page = resolve_url("gateways:gateway", status.gateway_id)
    key, of = build_key(status.gateway_id, status.family), frozenset({status.gateway_id})
    return AttentionItem(key, state, what, text, since, _("Open"), page, gateways=of)


def build_key(gateway: int, family: int) -> str:
    """Return the key of the need that one family does not pass one gateway."""
    return f"packets-of-{gateway}-{family}"
