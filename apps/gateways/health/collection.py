"""Reads the health of each gateway, stores it, and judges it."""

from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.utils import timezone

from apps.deployments.transport import agent_channel
from apps.deployments.transport.agent_channel import READING, ChannelOf, Unreachable
from apps.gateways.health.interval import SHORTEST, HealthInterval, compute_interval
from apps.gateways.health.judgement import judge, merge_findings
from apps.gateways.health.measures import compute_measures
from apps.gateways.health.models import HealthFinding, HealthReading, HealthStatus
from apps.gateways.health.recent_facts import RecentFacts
from apps.gateways.health.rule import HealthSituation
from apps.gateways.health.rules import RULES
from apps.gateways.packet_probes.judgement import FRESH as PROBES_FRESH
from apps.gateways.packet_probes.judgement import compute_figures
from apps.gateways.packet_probes.models import ProbeStatus
from apps.network.models import Gateway
from firewall import wire
from firewall.codec import encode
from firewall.health import HealthCounters, ReadHealth

_SHORTEST, _LONGEST = timedelta(seconds=SHORTEST), timedelta(minutes=5)
"""Time between two readings in which rates are known."""
_GAUGES_FRESH = timedelta(minutes=5)  # they are read once a minute, or as the settings say
log = structlog.get_logger()


def read_all_gateways(channel_of: ChannelOf = agent_channel.get_readings_channel) -> None:
    """Read the health of each gateway that has answered before. One that does not answer stops nothing."""
    answering = Gateway.objects.filter(status__isnull=False)
    gateways = list(answering.select_related("group").prefetch_related("group__pools").order_by("pk"))
    facts = RecentFacts([each.pk for each in gateways])
    for gateway in gateways:
        begun = timezone.now()
        try:
            answer = channel_of(gateway).ask(ReadHealth(), longest=READING)
        except Unreachable:
            continue
        _store_answer(gateway, answer, begun, timezone.now(), facts)


def _store_answer(gateway: Gateway, answer: wire.Reply, begun: datetime, ended: datetime, facts: RecentFacts) -> None:
    if isinstance(answer, HealthCounters):
        store_reading(gateway, answer, begun, ended, facts)
        return
    why = answer.text if isinstance(answer, wire.Refused) else f"it answered {type(answer).__name__}"
    refusal = why.replace("\0", "")[:300]
    known = HealthStatus.objects.filter(gateway=gateway).values_list("refusal", flat=True).first()
    HealthStatus.objects.update_or_create(gateway=gateway, defaults={"at": ended, "refusal": refusal})
    if refusal != known:
        log.warning("no health", gateway=gateway.name, why=why)


@transaction.atomic
def store_reading(gateway: Gateway, counters: HealthCounters, begun: datetime, ended: datetime, facts: RecentFacts | None = None) -> None:
    """Store a reading that was asked for at `begun` and arrived at `ended`, and what the rules find in it. facts: None reads them now."""
    at, doubt = begun + (ended - begun) / 2, ended - begun
    HealthStatus.objects.select_for_update().filter(gateway=gateway).first()
    situation = _build_situation(gateway, counters, at, doubt, facts or RecentFacts([gateway.pk]))
    HealthReading.objects.create(
        gateway=gateway,
        at=at,
        counters=encode(counters),
        measures=compute_measures(situation) if situation else {},
    )
    if not HealthStatus.objects.filter(gateway=gateway).update(at=at, refusal=""):
        HealthStatus.objects.update_or_create(gateway=gateway, defaults={"at": at, "refusal": ""})
    if situation:
        _store_findings(gateway, situation, at)


def _build_situation(
    gateway: Gateway, counters: HealthCounters, at: datetime, doubt: timedelta, facts: RecentFacts
) -> HealthSituation | None:
    """Return what happened since the reading before; None if that is not known."""
    interval = _find_interval(gateway, counters, at, doubt)
    if interval is None:
        return None
    families = frozenset(each.prefix.version for each in gateway.group.pools.all())
    fresh = facts.get_probes(gateway, at - PROBES_FRESH)
    return HealthSituation(
        gateway.lan,
        gateway.wan,
        gateway.sync,
        families,
        interval,
        {each.family: compute_figures(each) for each in fresh},
        gateway.probe_interface,
        passing=frozenset(each.family for each in fresh if not each.failures),
        lost=frozenset(each.family for each in fresh if each.state == ProbeStatus.State.LOST),
        sets=facts.get_sets(gateway, at - _GAUGES_FRESH),
    )


def _find_interval(gateway: Gateway, counters: HealthCounters, at: datetime, doubt: timedelta) -> HealthInterval | None:
    before = HealthReading.objects.filter(gateway=gateway, at__lte=at - _SHORTEST, at__gte=at - _LONGEST).order_by("-at").first()
    earlier = before.parse_counters() if before else None
    if earlier is None:
        return None
    ahead = counters.clock / 1000 - at.timestamp()
    return compute_interval(earlier, counters, clock_offset=ahead, clock_doubt=doubt.total_seconds() / 2)


def _store_findings(gateway: Gateway, situation: HealthSituation, at: datetime) -> None:
    known = {each.rule: each for each in HealthFinding.objects.select_for_update().filter(gateway=gateway)}
    found = judge(situation, RULES.values())
    certain = [name for name, evidence in found.items() if RULES[name].stops(evidence.values) & situation.lost]
    kept = merge_findings(gateway, known.values(), found, at, certain)
    ended = set(known) - {each.rule for each in kept}
    HealthFinding.objects.filter(gateway=gateway, rule__in=ended).delete()
    for finding in kept:
        if finding.rule not in known:
            log.info("health finding", gateway=gateway.name, rule=finding.rule, **finding.evidence)
        finding.save()
