"""Observation of the services: what probes and the gateways' health have shown of each address family, and that the portal works."""

from datetime import datetime

from apps.status.availability.bookkeeping import note_levels
from apps.status.availability.carriers import judge_carriers, judge_lost_families
from apps.status.availability.judgement import combine_levels
from apps.status.availability.models import ServiceLevel
from apps.status.network_services import NetworkService

FAMILIES = {NetworkService.IPV4: 4, NetworkService.IPV6: 6}


def observe_services(now: datetime) -> None:
    """Note the level of each service: the worst of all gateways that carry it, and of all groups in which none does. Whoever runs this
    shows that the portal works.
    """
    levels = {service: _judge_family(family, now) for service, family in FAMILIES.items()}
    note_levels({**levels, NetworkService.PORTAL: ServiceLevel.FINE}, now)


def _judge_family(family: int, now: datetime) -> ServiceLevel:
    return combine_levels([*judge_carriers(family, now).values(), *judge_lost_families(family, now).values()])
