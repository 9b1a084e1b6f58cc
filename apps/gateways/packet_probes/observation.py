"""Observation of packets: reads what standing probes through each gateway have shown, all the time, and stores it.

A gateway that does not answer the portal is not read: what its packets do is then unknown, and old results say when they were made.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from threading import Lock
from time import monotonic
from typing import Final

import structlog
from django.db import transaction
from django.utils import timezone

from apps.deployments.transport import agent_channel
from apps.deployments.transport.agent_channel import BusyChannel, ChannelOf, Unreachable
from apps.gateways.packet_probes.history import add_result
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.packet_probes.rounds import RoundPosition, SeenRound, read_rounds
from apps.gateways.reading_order import order_gateways
from apps.lib.enqueue import RECONCILE, send_task
from apps.network.models import Gateway

LOOK_SECONDS: Final = 10.0  # between two looks that this process asks for
log = structlog.get_logger()


class LookLimit:
    """Lets one look through in LOOK_SECONDS: it is a look at all gateways, however many have gone or come back."""

    def __init__(self) -> None:
        self._lock, self._last = Lock(), -LOOK_SECONDS

    def take(self) -> bool:
        """Take the look, if one may be asked for now."""
        with self._lock:
            now = monotonic()
            if now - self._last < LOOK_SECONDS:
                return False
            self._last = now
            return True


look_limit = LookLimit()


def probe_all_gateways(channel_of: ChannelOf = agent_channel.get_readings_channel) -> None:
    """Read the probes of each gateway that runs a ruleset on a kernel. One that does not answer stops nothing."""
    running = Gateway.objects.filter(status__revision__isnull=False, status__in_memory=False).select_related("group", "status")
    with order_gateways(running.prefetch_related("probe_statuses").order_by("pk")) as parts:
        for gateway in chain.from_iterable(parts):
            _probe(gateway, channel_of)


def _probe(gateway: Gateway, channel_of: ChannelOf) -> None:
    begun = timezone.now()
    try:
        rounds = read_rounds(channel_of(gateway), gateway, _find_position(gateway.probe_statuses.all()), begun)
    except BusyChannel:
        return
    except Unreachable:
        request_look(gateway, answers=False)
        return
    request_look(gateway, answers=True)
    store_rounds(gateway, rounds)


def request_look(gateway: Gateway, *, answers: bool) -> None:
    """Let a worker look at the gateways now, if this one answers and did not, or no longer does. It would otherwise look with the next
    schedule. A look that no worker has begun before the next one may be asked for expires.
    """
    known_away = gateway.status.unreachable_since is not None
    if known_away is answers and look_limit.take():
        send_task(RECONCILE, None, False, "schedule", expires=LOOK_SECONDS)


def _find_position(statuses: Iterable[ProbeStatus]) -> RoundPosition:
    """Return the last round that is stored of every family."""
    known = {RoundPosition(each.series, each.number) for each in statuses}
    return known.pop() if len(known) == 1 else RoundPosition()


@transaction.atomic
def store_rounds(gateway: Gateway, rounds: Sequence[SeenRound]) -> None:
    """Store what is not stored yet. A family without a probe has no row."""
    if not rounds:
        return
    known = {each.family: each for each in ProbeStatus.objects.select_for_update().filter(gateway=gateway)}
    for result in rounds[-1].results:
        if result.ok is None:
            ProbeStatus.objects.filter(gateway=gateway, family=result.family).delete()
        else:
            status = known.get(result.family) or ProbeStatus(gateway=gateway, family=result.family)
            _add_rounds(status, rounds)


def _add_rounds(status: ProbeStatus, rounds: Sequence[SeenRound]) -> None:
    before, added = status.state, False
    for each in rounds:
        result = next(found for found in each.results if found.family == status.family)
        if result.ok is not None and _is_new(status, each):
            add_result(status, result, each.at)
            added = True
            if each.position:
                status.series, status.number = each.position.series, each.position.number
    if status.state != before:
        log.info("probe", gateway=status.gateway.name, family=status.family, state=str(status.state), text=status.text)
    if added:
        status.save()


def _is_new(status: ProbeStatus, seen: SeenRound) -> bool:
    """True if this round was not stored before. A prober that was started again counts anew, and tells only what came later."""
    position = seen.position
    return position is None or position.series != status.series or position.number > status.number
