"""Observation of packets: sends a probe through each gateway that runs a ruleset, all the time, and stores whether it came back.

A gateway that does not answer the portal is not probed: what its packets do is then unknown, and old results say when they were made.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import structlog
from django.db import transaction
from django.utils import timezone

from apps.deployments.rollouts.probing import ProbeResult, probe_gateway
from apps.deployments.transport import agent_channel
from apps.deployments.transport.agent_channel import ChannelOf, Unreachable
from apps.gateways.packet_probes.judgement import FAILURES
from apps.gateways.packet_probes.models import LOST, ProbeStatus
from apps.network.models import Gateway

KEPT: Final = 30  # probes of a family, five minutes
State = ProbeStatus.State
log = structlog.get_logger()


def probe_all_gateways(channel_of: ChannelOf = agent_channel.get_readings_channel) -> None:
    """Probe each gateway that runs a ruleset on a kernel. One that does not answer stops nothing."""
    for gateway in Gateway.objects.filter(status__revision__isnull=False, status__in_memory=False).select_related("group").order_by("pk"):
        try:
            results = probe_gateway(channel_of(gateway), gateway)
        except Unreachable:
            continue
        store_results(gateway, results, timezone.now())


@transaction.atomic
def store_results(gateway: Gateway, results: Sequence[ProbeResult], at: datetime) -> None:
    """Store what came of one probe. A family without a probe has no row."""
    known = {each.family: each for each in ProbeStatus.objects.select_for_update().filter(gateway=gateway)}
    for result in results:
        if result.ok is not None:
            _store_result(gateway, known.get(result.family), result, at)
    ProbeStatus.objects.filter(gateway=gateway, family__in=[each.family for each in results if each.ok is None]).delete()


def _store_result(gateway: Gateway, before: ProbeStatus | None, result: ProbeResult, at: datetime) -> None:
    state = State.PASSED if result.ok else State.LOST if result.is_conclusive else State.UNKNOWN
    same = before is not None and before.state == state
    if not same:
        log.info("probe", gateway=gateway.name, family=result.family, state=state.value, text=result.sentence)
    ProbeStatus.objects.update_or_create(
        gateway=gateway,
        family=result.family,
        defaults={
            "at": at,
            "answered": at if result.ok else before.answered if before else None,
            "state": state,
            "since": before.since if before and same else at,
            "failures": 0 if result.ok else 1 + (before.failures if before else 0),
            "text": result.sentence.replace("\0", ""),
            "recent": _extend_recent(before, result, state),
        },
    )


def _extend_recent(before: ProbeStatus | None, result: ProbeResult, state: ProbeStatus.State) -> list[int]:
    """Return the last probes with this one. An outage that is over is left out: it was told as one, and is no loss from then on."""
    recent = list(before.recent) if before else []
    if state is State.PASSED and before and before.failures >= FAILURES:
        while recent and recent[-1] == LOST:
            recent.pop()
    if state is not State.UNKNOWN:
        recent.append(LOST if result.ms is None else round(1000 * result.ms))
    return recent[-KEPT:]
