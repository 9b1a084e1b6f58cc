"""Metrics of the gateways: whether they answer, what they run and carry, their probes, and what was found to be wrong."""

from collections.abc import Iterator
from datetime import datetime

from prometheus_client.core import GaugeMetricFamily, Metric

from apps.gateways.health.selectors import list_findings
from apps.gateways.packet_probes.judgement import FRESH, PASSING, compute_figures, judge_status
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.packet_probes.selectors import list_probe_statuses
from apps.gateways.selectors import GatewayOverview, build_overviews, list_gateways
from apps.lib.ui.states import StateKind

FAMILIES = (4, 6)


def iter_metrics(now: datetime) -> Iterator[Metric]:
    """Yield metrics of all gateways in service."""
    gates = build_overviews(list(list_gateways()), now)
    names = {each.gateway.pk: each.gateway.name for each in gates}
    yield from _iter_states(gates)
    yield from _iter_probes([(names[each.gateway_id], each) for each in list_probe_statuses() if each.gateway_id in names], now)
    words = "1 for each fault that a health rule shows now."
    findings = GaugeMetricFamily("netzwart_health_finding", words, labels=["gateway", "rule", "severity"])
    for finding in list_findings(now):
        if finding.gateway_id in names:
            findings.add_metric([names[finding.gateway_id], finding.rule, "critical" if finding.kind == "bad" else "warning"], 1)
    yield findings


def _iter_states(gates: list[GatewayOverview]) -> Iterator[Metric]:
    up = GaugeMetricFamily("netzwart_gateway_up", "1 if the gateway's agent answers.", labels=["gateway", "group"])
    seen = GaugeMetricFamily("netzwart_gateway_last_answer_timestamp_seconds", "When the agent last answered.", labels=["gateway"])
    revision = GaugeMetricFamily("netzwart_gateway_revision", "Number of the revision that the gateway runs.", labels=["gateway"])
    drift = GaugeMetricFamily("netzwart_gateway_drift", "1 if the kernel holds other rules than the portal deployed.", labels=["gateway"])
    carries = GaugeMetricFamily("netzwart_gateway_carries", "1 if the gateway carries this address family.", labels=["gateway", "family"])
    for each in gates:
        name = each.gateway.name
        up.add_metric([name, each.gateway.group.name], float(each.state.kind is StateKind.OK))
        drift.add_metric([name], float(each.drift is not None))
        for family in FAMILIES:
            carries.add_metric([name, f"ipv{family}"], float(family in each.carried))
        if each.status and each.status.seen:
            seen.add_metric([name], each.status.seen.timestamp())
        if each.status and each.status.revision_id:
            revision.add_metric([name], each.status.revision_id)
    yield from (up, seen, revision, drift, carries)


def _iter_probes(probes: list[tuple[str, ProbeStatus]], now: datetime) -> Iterator[Metric]:
    labels = ["gateway", "family"]
    passes = GaugeMetricFamily("netzwart_probe_success", "1 if packets pass the gateway, as fresh probes have shown.", labels=labels)
    answered = GaugeMetricFamily("netzwart_probe_last_success_timestamp_seconds", "When a probe last came back.", labels=labels)
    median = GaugeMetricFamily("netzwart_probe_duration_seconds", "Median round trip of the probes of five minutes.", labels=labels)
    loss = GaugeMetricFamily("netzwart_probe_loss_ratio", "Part of the packets of five minutes that did not come back.", labels=labels)
    for name, status in probes:
        of = [name, f"ipv{status.family}"]
        passes.add_metric(of, float(judge_status(status, now) in PASSING))
        if status.answered:
            answered.add_metric(of, status.answered.timestamp())
        if now - status.at > FRESH:
            continue
        figures = compute_figures(status)
        if figures.median_ms is not None:
            median.add_metric(of, figures.median_ms / 1000)
        if figures.sent:
            loss.add_metric(of, figures.lost / figures.sent)
    yield from (passes, answered, median, loss)
