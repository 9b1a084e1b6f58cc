"""What gateways report of themselves: that they answer, and their counters."""

from base64 import b64decode
from collections.abc import Iterator, Mapping
from ipaddress import ip_network

import structlog
from django.db.models.functions import Now
from django.utils import timezone

from apps.bans import hits
from apps.deployments import link
from apps.deployments.models import GatewayState
from apps.lib.fields import Prefix
from apps.network.models import Gateway
from firewall import wire

log = structlog.get_logger()


def collect(gateway: Gateway) -> bool:
    """Read the gateway's counters into the database. False when it did not answer; its page says since when."""
    state, _created = GatewayState.objects.get_or_create(gateway=gateway)
    mine = GatewayState.objects.filter(pk=state.pk)
    try:
        answer = link.channel(gateway).ask(wire.Counters())
    except link.Unreachable as fault:
        mine.filter(unreachable_since=None).update(unreachable_since=Now())
        log.warning("gateway does not answer", gateway=gateway.name, error=str(fault))
        return False
    mine.update(seen=Now(), unreachable_since=None)
    if isinstance(answer, wire.Reading):
        hits.record(gateway=gateway, readings=ban_readings(answer), at=timezone.now())
    return isinstance(answer, wire.Reading)


def ban_readings(reading: wire.Reading) -> Mapping[Prefix, tuple[int, int]]:
    """Packets and octets of each banned prefix that was hit."""
    return dict(_ban_readings(reading))


def _ban_readings(reading: wire.Reading) -> Iterator[tuple[Prefix, tuple[int, int]]]:
    for name, packed in reading.keys.items():
        if not name.startswith("bans"):
            continue
        family, length = name.removeprefix("bans").split("_")
        octets, width = b64decode(packed), 4 if family == "4" else 16
        for at, (packets, volume) in enumerate(zip(reading.packets[name], reading.octets[name], strict=True)):
            if packets:
                yield ip_network((octets[at * width : (at + 1) * width], int(length))), (packets, volume)
