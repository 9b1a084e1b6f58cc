"""Observation of the services: what probes and the gateways' health have shown of each address family, and that the portal works."""

from datetime import datetime

from apps.gateways.health.models import HealthFinding
from apps.gateways.health.rules import RULES
from apps.gateways.health.selectors import list_findings
from apps.gateways.packet_probes.judgement import compute_figures, judge_status
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.packet_probes.selectors import list_probe_statuses
from apps.gateways.roles.picture import map_carried_families
from apps.gateways.selectors import list_gateways
from apps.status.availability.bookkeeping import note_levels
from apps.status.availability.judgement import CarrierProbes, combine_levels, judge_carrier
from apps.status.availability.models import ServiceLevel
from apps.status.network_services import NetworkService

FAMILIES = {NetworkService.IPV4: 4, NetworkService.IPV6: 6}


def observe_services(now: datetime) -> None:
    """Note the level of each service. Whoever runs this shows that the portal works."""
    levels = {service: _judge_family(family, now) for service, family in FAMILIES.items()}
    note_levels({**levels, NetworkService.PORTAL: ServiceLevel.FINE}, now)


def _judge_family(family: int, now: datetime) -> ServiceLevel:
    """Return the worst of all gateways that carry the family."""
    carried = map_carried_families(list(list_gateways()))
    probed = {each.gateway_id: each for each in list_probe_statuses() if each.family == family}
    stopped = {each.gateway_id for each in list_findings(now) if _stops_members(each, family)}
    carriers = [pk for pk, families in carried.items() if family in families]
    return combine_levels(ServiceLevel.DOWN if pk in stopped else _judge_probes(probed.get(pk), now) for pk in carriers)


def _stops_members(finding: HealthFinding, family: int) -> bool:
    """True if no packet of a member passes because of what was found. A probe takes another cable than members do, and may come back."""
    rule = RULES[finding.rule]
    return rule.affects_members(finding.evidence) and family in rule.stops(finding.evidence)


def _judge_probes(status: ProbeStatus | None, now: datetime) -> ServiceLevel:
    if status is None:
        return ServiceLevel.UNKNOWN
    return judge_carrier(CarrierProbes(judge_status(status, now), compute_figures(status).median_ms))
