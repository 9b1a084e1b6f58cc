"""Reads the health of each gateway, and has it stored and judged."""

import time
from collections.abc import Iterable
from typing import Final

import structlog
from django.utils import timezone

from apps.deployments.transport import agent_channel
from apps.deployments.transport.agent_channel import READING, TURN, BusyChannel, ChannelOf, Unreachable
from apps.gateways.health.models import HealthStatus
from apps.gateways.health.reading_store import GatewayReading, store_readings
from apps.gateways.reading_order import order_gateways
from apps.network.models import Gateway
from firewall import wire
from firewall.health import HealthCounters, ReadHealth

_TOGETHER: Final = 1.0
"""Seconds for which answers are gathered before they are stored."""
log = structlog.get_logger()


def read_all_gateways(channel_of: ChannelOf = agent_channel.get_readings_channel) -> None:
    """Read the health of each gateway that has answered before. One that does not answer stops nothing."""
    known = Gateway.objects.filter(status__isnull=False).select_related("group", "status").prefetch_related("group__pools")
    with order_gateways(known.order_by("pk")) as parts:
        for gateways in parts:
            _read_gateways(gateways, channel_of)


def _read_gateways(gateways: Iterable[Gateway], channel_of: ChannelOf) -> None:
    gathered, since = list[GatewayReading](), time.monotonic()
    for gateway in gateways:
        if reading := _read(gateway, channel_of):
            gathered.append(reading)
        if time.monotonic() - since >= _TOGETHER:
            store_readings(gathered)
            gathered, since = [], time.monotonic()
    store_readings(gathered)


def _read(gateway: Gateway, channel_of: ChannelOf) -> GatewayReading | None:
    """Return the gateway's answer; None if there is none. A refusal is stored."""
    begun = timezone.now()
    try:
        answer = channel_of(gateway).ask(ReadHealth(), longest=READING, turn=TURN)
    except (Unreachable, BusyChannel):
        return None
    if isinstance(answer, HealthCounters):
        return GatewayReading(gateway, answer, begun, timezone.now())
    _store_refusal(gateway, answer)
    return None


def _store_refusal(gateway: Gateway, answer: wire.Reply) -> None:
    why = answer.text if isinstance(answer, wire.Refused) else f"it answered {type(answer).__name__}"
    refusal = why.replace("\0", "")[:300]
    known = HealthStatus.objects.filter(gateway=gateway).values_list("refusal", flat=True).first()
    HealthStatus.objects.update_or_create(gateway=gateway, defaults={"at": timezone.now(), "refusal": refusal})
    if refusal != known:
        log.warning("no health", gateway=gateway.name, why=why)
