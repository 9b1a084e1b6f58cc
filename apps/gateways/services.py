"""What gateways report of themselves: that they answer, and their counters."""

import structlog
from django.db.models.functions import Now
from django.utils import timezone

from apps.bans import hits
from apps.deployments import link
from apps.deployments.models import GatewayState
from apps.gateways import readings
from apps.network.models import Gateway
from apps.traffic import tallies
from firewall import wire

log = structlog.get_logger()


def collect(gateway: Gateway) -> bool:
    """Read the gateway's counters into the database. False when it did not answer; its page says since when."""
    state, _created = GatewayState.objects.get_or_create(gateway=gateway)
    mine = GatewayState.objects.filter(pk=state.pk)
    try:
        answer = link.channel(gateway).ask(wire.Counters())
    except link.Unreachable as fault:
        mine.filter(unreachable_since=None).update(unreachable_since=Now(), error=str(fault))
        log.warning("gateway does not answer", gateway=gateway.name, error=str(fault))
        return False
    mine.update(seen=Now())
    if not isinstance(answer, wire.Reading):
        log.warning("no counters", gateway=gateway.name, answer=answer)
        return False
    now = timezone.now()
    hits.record(gateway=gateway, readings=readings.bans(answer), at=now)
    tallies.record(gateway=gateway, readings=readings.members(answer), at=now)
    return True
