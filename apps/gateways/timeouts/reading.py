"""Readings of remaining times: a person asks, a worker asks the gateway and stores its answer."""

from datetime import timedelta
from typing import Final

import structlog
from django.utils import timezone

from apps.accounts.models import User
from apps.deployments.transport import agent_channel
from apps.deployments.transport.agent_channel import ChannelOf, Unreachable
from apps.deployments.transport.agent_client import is_request_unknown
from apps.gateways.timeouts.models import TimeoutReading
from apps.lib.enqueue import enqueue_task
from apps.network.models import Gateway
from firewall import wire
from firewall.codec import encode
from firewall.conntrack_timeouts import ReadTimeouts, TimeoutsAre

TASK: Final = "workers.read_timeouts"
LOST: Final = timedelta(minutes=2)
"""Age of a request above which its worker counts as lost; the gateway answers within seconds."""
log = structlog.get_logger()
State = TimeoutReading.State


def request_timeouts(*, gateway: Gateway, by: User) -> None:
    """Let a worker ask the gateway. One that is asked already is not asked twice, unless that worker is lost."""
    now = timezone.now()
    row, is_new = TimeoutReading.objects.get_or_create(gateway=gateway, defaults={"asked": now, "by": by})
    if not is_new:
        fresh = TimeoutReading.objects.filter(pk=row.pk, state__in=TimeoutReading.OPEN, asked__gt=now - LOST)
        if fresh.exists():
            return
        TimeoutReading.objects.filter(pk=row.pk).update(state=State.WAITING, asked=now, by=by, problem="")
    enqueue_task(TASK, row.pk)
    log.info("remaining times requested", gateway=gateway.name, by=by.pk)


def list_waiting_readings() -> list[int]:
    """Return the requests that no worker has begun, and that are not lost."""
    fresh = TimeoutReading.objects.filter(state=State.WAITING, asked__gt=timezone.now() - LOST)
    return list(fresh.values_list("pk", flat=True))


def read_timeouts(pk: int, channel_of: ChannelOf = agent_channel.get_readings_channel) -> None:
    """Carry out a request that waits. Does nothing if another worker has begun it."""
    if TimeoutReading.objects.filter(pk=pk, state=State.WAITING).update(state=State.RUNNING) != 1:
        return
    row = TimeoutReading.objects.select_related("gateway__group").get(pk=pk)
    try:
        answer = channel_of(row.gateway).ask(ReadTimeouts())
    except Unreachable as fault:
        _finish(row, State.FAILED, problem=_shorten(str(fault)))
        return
    _store_answer(row, answer)


def _store_answer(row: TimeoutReading, answer: wire.Reply) -> None:
    if isinstance(answer, TimeoutsAre) and all(len(each.starts) == len(each.counts) for each in answer.histograms):
        _finish(row, State.DONE, answer=encode(answer), read=timezone.now())
    elif is_request_unknown(answer):
        _finish(row, State.OLDER)
    else:
        words = answer.text if isinstance(answer, wire.Refused) else f"it answered {type(answer).__name__}"
        _finish(row, State.FAILED, problem=_shorten(words))


def _finish(row: TimeoutReading, state: TimeoutReading.State, **given: object) -> None:
    TimeoutReading.objects.filter(pk=row.pk, state=State.RUNNING, asked=row.asked).update(state=state, **given)
    log.info("remaining times read", gateway=row.gateway.name, state=state.value)


def _shorten(text: str) -> str:
    return " ".join(text.replace("\0", "").split())[:300]
