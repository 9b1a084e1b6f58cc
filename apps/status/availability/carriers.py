"""How well members are served by each gateway that carries an address family, as fresh probes and the gateways' health have shown; and
where no gateway carries it.
"""

from datetime import datetime

from apps.gateways.health.models import HealthFinding
from apps.gateways.health.rules import RULES
from apps.gateways.health.selectors import list_findings
from apps.gateways.packet_probes.judgement import compute_figures, judge_status
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.packet_probes.selectors import list_probe_statuses
from apps.gateways.roles.lost_families import list_lost_families
from apps.gateways.roles.picture import map_carried_families
from apps.gateways.selectors import list_gateways
from apps.network.models import Gateway
from apps.status.availability.judgement import CarrierProbes, judge_carrier
from apps.status.availability.models import ServiceLevel


def judge_carriers(family: int, now: datetime) -> dict[Gateway, ServiceLevel]:
    """Return the level of each gateway that carries the family, 4 or 6."""
    gateways = list(list_gateways())
    carried = map_carried_families(gateways)
    probed = {each.gateway_id: each for each in list_probe_statuses() if each.family == family}
    stopped = {each.gateway_id for each in list_findings(now) if _stops_members(each, family)}
    return {
        each: ServiceLevel.DOWN if each.pk in stopped else _judge_probes(probed.get(each.pk), now)
        for each in gateways
        if family in carried[each.pk]
    }


def judge_lost_families(family: int, now: datetime) -> dict[int, ServiceLevel]:
    """Return the level of each group in which no gateway carries the family, by its id: unknown if no gateway said so lately."""
    lost = [each for each in list_lost_families() if each.family == family]
    return {each.group.pk: ServiceLevel.DOWN if each.is_current(now) else ServiceLevel.UNKNOWN for each in lost}


def _stops_members(finding: HealthFinding, family: int) -> bool:
    """True if no packet of a member passes because of what was found. A probe takes another cable than members do, and may come back."""
    rule = RULES[finding.rule]
    return rule.affects_members(finding.evidence) and family in rule.stops(finding.evidence)


def _judge_probes(status: ProbeStatus | None, now: datetime) -> ServiceLevel:
    if status is None:
        return ServiceLevel.UNKNOWN
    return judge_carrier(CarrierProbes(judge_status(status, now), compute_figures(status).median_ms))
