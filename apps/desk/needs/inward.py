"""Needs that follow from connections from outside to the gateways' probes: none comes in, or the responder does not do what it is asked."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.shortcuts import resolve_url
from django.utils.translation import gettext as _

from apps.desk.needs.need import AttentionItem
from apps.gateways.packet_probes.judgement import InwardVerdict, judge_inward
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.packet_probes.selectors import list_probe_statuses
from apps.gateways.selectors import GatewayOverview
from apps.lib.ui.states import StateKind, StateLabel
from apps.network.gateway_sentences import translate_about_gateway


def iter_attention_items(gates: Sequence[GatewayOverview], now: datetime) -> Iterator[AttentionItem]:
    """Yield a need for each group and family of which no connection comes in, and one for each group whose responder does not answer."""
    by_gateway = {each.gateway.pk: each for each in gates}
    found = [(each, judge_inward(each, now)) for each in list_probe_statuses() if each.gateway_id in by_gateway]
    blocked = [each for each, verdict in found if verdict is InwardVerdict.BLOCKED]
    silent = [each for each, verdict in found if verdict is InwardVerdict.NOT_ASKED]
    for group, family in dict.fromkeys((by_gateway[each.gateway_id].gateway.group_id, each.family) for each in blocked):
        here = [each for each in blocked if each.family == family and by_gateway[each.gateway_id].gateway.group_id == group]
        yield _build_blocked(group, [by_gateway[each.gateway_id] for each in here], here)
    for group in dict.fromkeys(by_gateway[each.gateway_id].gateway.group_id for each in silent):
        yield _build_silent(group, [each for each in silent if by_gateway[each.gateway_id].gateway.group_id == group])


def _build_blocked(group: int, of: Sequence[GatewayOverview], blocked: Sequence[ProbeStatus]) -> AttentionItem:
    family, names = blocked[0].family, " + ".join(str(each.gateway) for each in of)
    what = _("No IPv%(family)d connection from outside comes in through %(gateways)s") % {"family": family, "gateways": names}
    carries = any(family in each.carried for each in of)
    affected = (
        _("Members’ port forwards and pinholes may not be reachable; what they open themselves works.")
        if carries
        else _("If it took over, members’ port forwards and pinholes might not be reachable.")
    )
    since = min((each.inward_answered for each in blocked if each.inward_answered), default=None)
    text = " ".join(
        [affected, translate_about_gateway(blocked[0].inward_text), _("Check the provider’s filters, and rules beside the portal’s.")]
    )
    return _build_item(f"inward-{group}-{family}", _("Inward"), what, text, since, blocked)


def _build_silent(group: int, silent: Sequence[ProbeStatus]) -> AttentionItem:
    what = _("Nothing shows whether connections from outside come in")
    since = min((each.inward_answered for each in silent if each.inward_answered), default=None)
    text = " ".join(
        [translate_about_gateway(silent[0].inward_text), _("Is the responder running there, and is the probe allowed to ask it?")]
    )
    return _build_item(f"responder-{group}", _("Responder"), what, text, since, silent)


def _build_item(key: str, label: str, what: str, text: str, since: datetime | None, statuses: Sequence[ProbeStatus]) -> AttentionItem:
    gateways = frozenset(each.gateway_id for each in statuses)
    page = resolve_url("gateways:gateway", min(gateways)) if len(gateways) == 1 else resolve_url("gateways:list")
    return AttentionItem(key, StateLabel(StateKind.WARN, label), what, text, since, _("Open"), page, gateways=gateways)
