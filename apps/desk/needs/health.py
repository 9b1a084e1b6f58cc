"""Needs that follow from the gateways' health: what the rules found, and gateways whose health is not known."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.shortcuts import resolve_url
from django.utils.translation import gettext as _

from apps.desk.needs import packets
from apps.desk.needs.affected import describe_affected
from apps.desk.needs.need import AttentionItem
from apps.gateways.health import finding_texts
from apps.gateways.health.models import HealthFinding
from apps.gateways.health.rules import RULES
from apps.gateways.health.selectors import find_health_status, list_findings
from apps.gateways.selectors import GatewayOverview
from apps.lib.ui.states import StateKind, StateLabel


def iter_attention_items(gates: Sequence[GatewayOverview], now: datetime) -> Iterator[AttentionItem]:
    """Yield a need for each finding, and one for each gateway that refuses to tell its health."""
    by_gateway = {each.gateway.pk: each for each in gates}
    for finding in list_findings(now):
        if finding.gateway_id in by_gateway:
            yield _build_item(by_gateway[finding.gateway_id], finding)
    for each in gates:
        if (status := find_health_status(each.gateway)) and status.refusal:
            yield _build_unknown(each, status.refusal)


def _build_item(of: GatewayOverview, finding: HealthFinding) -> AttentionItem:
    state = finding_texts.build_label(finding, carries=bool(of.carried))
    said = [finding_texts.render_evidence(finding), finding_texts.render_preceding_change(finding, of.gateway)]
    if of.carried and RULES[finding.rule].affects_members(finding.evidence):
        said.append(describe_affected(carries=True))
    said.append(finding_texts.render_cure(finding))
    what, page = finding_texts.render_title(finding, of.gateway), resolve_url("gateways:health", of.gateway.pk)
    key = f"health-{of.gateway.pk}-{finding.rule}"
    lost = frozenset(packets.build_key(of.gateway.pk, family) for family in RULES[finding.rule].stops(finding.evidence))
    return AttentionItem(
        key,
        state,
        what,
        " ".join(filter(None, said)),
        finding.since,
        _("Health"),
        page,
        stands_for=lost,
        gateways=frozenset({of.gateway.pk}),
    )


def _build_unknown(of: GatewayOverview, refusal: str) -> AttentionItem:
    text = _("Its agent does not tell it: %(why)s. An agent of an older release has to be upgraded.") % {"why": refusal.rstrip(".")}
    state = StateLabel(StateKind.PLAIN, _("Unknown"), "info")
    what = _("The health of %(gateway)s is not known") % {"gateway": of.gateway}
    page = resolve_url("gateways:gateway", of.gateway.pk)
    return AttentionItem(f"health-{of.gateway.pk}", state, what, text, None, _("Open"), page, gateways=frozenset({of.gateway.pk}))
