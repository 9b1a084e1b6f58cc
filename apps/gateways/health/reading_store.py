"""Stores readings of gateways' health with what the rules find in them: many at once, for a statement costs more than a row."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import OuterRef, Subquery

from apps.gateways.health.interval import SHORTEST, HealthInterval, compute_interval
from apps.gateways.health.judgement import judge, merge_findings
from apps.gateways.health.measures import compute_measures
from apps.gateways.health.models import HealthFinding, HealthReading, HealthStatus
from apps.gateways.health.recent_facts import RecentFacts, read_recent_facts
from apps.gateways.health.rule import HealthSituation
from apps.gateways.health.rules import RULES
from apps.gateways.packet_probes.judgement import FRESH as PROBES_FRESH
from apps.gateways.packet_probes.judgement import compute_figures
from apps.gateways.packet_probes.models import ProbeStatus
from apps.network.models import Gateway
from firewall.codec import encode
from firewall.health import HealthCounters

_SHORTEST, _LONGEST = timedelta(seconds=SHORTEST), timedelta(minutes=5)
"""Time between two readings in which rates are known."""
_GAUGES_FRESH = timedelta(minutes=5)  # they are read once a minute, or as the settings say
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class GatewayReading:
    """What a gateway answered. It was asked at `begun`, and the answer arrived at `ended`; it was true at some moment between them."""

    gateway: Gateway
    counters: HealthCounters
    begun: datetime
    ended: datetime

    @property
    def at(self) -> datetime:
        """The middle of the time in which it was true."""
        return self.begun + self.doubt / 2

    @property
    def doubt(self) -> timedelta:
        """How long that time is."""
        return self.ended - self.begun


@transaction.atomic
def store_readings(readings: Collection[GatewayReading]) -> None:
    """Store readings, one of each gateway, and what the rules find in them. A hundred gateways take as many statements as one."""
    if not readings:
        return
    list(HealthStatus.objects.select_for_update().filter(gateway__in=[each.gateway for each in readings]).order_by("gateway"))
    situations = _build_situations(readings)
    HealthReading.objects.bulk_create(
        HealthReading(
            gateway=each.gateway,
            at=each.at,
            counters=encode(each.counters),
            measures=compute_measures(situation) if situation else {},
        )
        for each, situation in zip(readings, situations, strict=True)
    )
    HealthStatus.objects.bulk_create(
        [HealthStatus(gateway=each.gateway, at=each.at) for each in readings],
        update_conflicts=True,
        unique_fields=["gateway"],
        update_fields=["at", "refusal"],
    )
    _store_findings({each.gateway: (situation, each.at) for each, situation in zip(readings, situations, strict=True) if situation})


def _build_situations(readings: Collection[GatewayReading]) -> list[HealthSituation | None]:
    """Return what happened at each gateway since the reading before; None where that is not known."""
    facts = read_recent_facts([each.gateway.pk for each in readings])
    before = _find_readings_before(readings)
    return [_build_situation(each, before.get(each.gateway.pk), facts) for each in readings]


def _find_readings_before(readings: Collection[GatewayReading]) -> Mapping[int, HealthReading]:
    """Return the newest earlier reading of each gateway from which rates can be computed."""
    earlier = HealthReading.objects.filter(
        gateway=OuterRef("pk"),
        at__lte=min(each.at for each in readings) - _SHORTEST,
        at__gte=max(each.at for each in readings) - _LONGEST,
    )
    newest = Subquery(earlier.order_by("-at").values("pk")[:1])
    gateways = Gateway.objects.filter(pk__in=[each.gateway.pk for each in readings])
    return {each.gateway_id: each for each in HealthReading.objects.filter(pk__in=gateways.annotate(newest=newest).values("newest"))}


def _build_situation(reading: GatewayReading, before: HealthReading | None, facts: RecentFacts) -> HealthSituation | None:
    interval = _find_interval(reading, before)
    if interval is None:
        return None
    gateway = reading.gateway
    families = frozenset(each.prefix.version for each in gateway.group.pools.all())
    fresh = facts.get_probes(gateway, reading.at - PROBES_FRESH)
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
        sets=facts.get_sets(gateway, reading.at - _GAUGES_FRESH),
    )


def _find_interval(reading: GatewayReading, before: HealthReading | None) -> HealthInterval | None:
    earlier = before.parse_counters() if before else None
    if earlier is None:
        return None
    ahead = reading.counters.clock / 1000 - reading.at.timestamp()
    return compute_interval(earlier, reading.counters, clock_offset=ahead, clock_doubt=reading.doubt.total_seconds() / 2)


def _store_findings(situations: Mapping[Gateway, tuple[HealthSituation, datetime]]) -> None:
    """Store what the rules find in each gateway's situation, seen at a time, and remove what is over."""
    known: defaultdict[int, list[HealthFinding]] = defaultdict(list)
    for finding in HealthFinding.objects.select_for_update().filter(gateway__in=situations.keys()).order_by("pk"):
        known[finding.gateway_id].append(finding)
    kept = [
        finding
        for gateway, (situation, at) in situations.items()
        for finding in _judge_situation(gateway, situation, at, known[gateway.pk])
    ]
    ended = {each.pk for findings in known.values() for each in findings} - {each.pk for each in kept}
    if ended:
        HealthFinding.objects.filter(pk__in=ended).delete()
    HealthFinding.objects.bulk_create([each for each in kept if not each.pk])
    HealthFinding.objects.bulk_update([each for each in kept if each.pk], ["kind", "evidence", "since", "at", "times", "missed"])


def _judge_situation(gateway: Gateway, situation: HealthSituation, at: datetime, known: Sequence[HealthFinding]) -> list[HealthFinding]:
    """Return the gateway's findings after this situation; new ones are logged."""
    found = judge(situation, RULES.values())
    certain = [name for name, evidence in found.items() if RULES[name].stops(evidence.values) & situation.lost]
    kept = merge_findings(gateway, known, found, at, certain)
    for finding in kept:
        if not finding.pk:
            log.info("health finding", gateway=gateway.name, rule=finding.rule, **finding.evidence)
    return kept
