"""What the last probes were: adds results to a status, oldest first. Writes nothing to the database."""

from datetime import datetime
from typing import Final

from apps.deployments.rollouts.probing import InwardResult, ProbeResult
from apps.gateways.packet_probes.judgement import FAILURES
from apps.gateways.packet_probes.models import LOST, NOT_SENT, REFUSED, ProbeStatus
from firewall.probe_messages import ECHOES

KEPT: Final = 150  # probes of a family, five minutes
State = ProbeStatus.State


def add_result(status: ProbeStatus, result: ProbeResult, at: datetime) -> None:
    """Add the result of a probe at this time, later than all before. The first one makes the status complete."""
    state = State.PASSED if result.ok else State.LOST if result.is_conclusive else State.UNKNOWN
    if state is not State.UNKNOWN:
        _extend(status, result)
    if status.state != state:
        status.state, status.since = state, at
    status.at, status.text = at, result.sentence.replace("\0", "")
    status.answered, status.failures = (at, 0) if result.ok else (status.answered, status.failures + 1)
    _note_full_size(status, result, at)
    if result.inward:
        _note_inward(status, result.inward, at)


def _note_inward(status: ProbeStatus, inward: InwardResult, at: datetime) -> None:
    status.inward_at, status.inward_text, status.inward_shown = at, inward.sentence.replace("\0", ""), inward.came is not None
    status.inward_failures = 0 if inward.came else status.inward_failures + 1
    if inward.came:
        status.inward_answered = at


def _extend(status: ProbeStatus, result: ProbeResult) -> None:
    """Add to what was lost. An outage that is over is left out, with the probes at its edges: it was told as one, and is no loss from
    then on.
    """
    lost = NOT_SENT if result.echoes is None else ECHOES - result.echoes
    if result.ok and status.failures >= FAILURES:
        while status.recent and (status.recent[-1] < 0 or status.lost_echoes[-1] > 0):
            status.recent.pop()
            status.lost_echoes.pop()
        lost = min(lost, 0)
    status.recent = [*status.recent, _measure(result)][-KEPT:]
    status.lost_echoes = [*status.lost_echoes, lost][-KEPT:]


def _measure(result: ProbeResult) -> int:
    if result.ms is not None:
        return round(1000 * result.ms)
    return REFUSED if result.ok and result.refused else LOST


def _note_full_size(status: ProbeStatus, result: ProbeResult, at: datetime) -> None:
    if result.full_size:
        status.full_size_answered, status.full_size_lost, status.mtu = at, 0, 0
    elif result.echoes and (result.full_size is False or result.mtu):
        status.full_size_lost, status.mtu = status.full_size_lost + 1, result.mtu or status.mtu
