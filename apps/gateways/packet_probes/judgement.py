"""Judgement of probes: whether packets pass a gateway, as far as fresh probes have shown.

One lost probe is no outage, and a short break no loss: a family is lost after FAILURES probes in a row of which nothing came back, and
lossy if packets are missing here and there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from statistics import median
from typing import Final

from apps.gateways.packet_probes.models import LOST, NOT_SENT, REFUSED, ProbeStatus
from firewall.probe_messages import ECHOES

FORWARDS: Final = timedelta(seconds=10)
"""How long after a packet has come back a gateway is said to forward."""
FRESH: Final = timedelta(seconds=60)
FAILURES: Final = 2
IN_A_ROW: Final = 5
"""Probes in a row after which a port is silent, or packets of full size do not pass: five hardly happen by chance."""
FULL_SIZE_EXPECTED: Final = timedelta(days=7)
"""How long it is a fault that packets of full size no longer pass. After that, it is how the network is."""
LIMITED_ECHOES: Final = 0.3
"""Share of lost echoes from which on the target limits them, if no connection failed."""


MOST_FREQUENT: Final = 0.9
BY_CHANCE: Final = 0.05
"""Probability below which a time without loss is no chance: the loss is over."""


class ProbeVerdict(StrEnum):
    """What the last probes of a gateway have shown in one address family."""

    PASSES = "passes"
    LOSSY = "lossy"
    SMALL_ONLY = "small only"  # packets of full size do not pass
    LOST = "lost"
    NOT_PROBED = "not probed"  # the probe itself does not work
    STALE = "stale"  # no probe lately, or none that came back and only one that did not


class InwardVerdict(StrEnum):
    """What the last connections from outside to a gateway's probe have shown in one address family."""

    COMES_IN = "comes in"
    BLOCKED = "blocked"
    NOT_ASKED = "not asked"  # the responder does not do what it is asked


PASSING: Final = frozenset({ProbeVerdict.PASSES, ProbeVerdict.LOSSY, ProbeVerdict.SMALL_ONLY})


@dataclass(frozen=True)
class LossFigures:
    """Packets of the last probes: how many were sent, how many were lost, in how many probes; and the milliseconds of the connections:
    median, 95 of 100, and the slowest.
    """

    sent: int
    lost: int
    median_ms: float | None
    slowest_ms: float | None
    high_ms: float | None = None
    spells: int = 0


@dataclass(frozen=True)
class _LossWindow:
    """So many of the newest probes are lossy if packets are missing in `spells` of them, and `share` of all."""

    probes: int
    spells: int
    share: float


_WINDOWS: Final = (_LossWindow(30, 3, 0.02), _LossWindow(150, 5, 0.01))  # a minute, and five


def judge_status(status: ProbeStatus, now: datetime) -> ProbeVerdict:
    """Return what is known now. A single failure is none yet, but packets pass only if one came back lately."""
    if now - status.at > FRESH:
        return ProbeVerdict.STALE
    if status.failures >= FAILURES:
        return ProbeVerdict.LOST if status.state == ProbeStatus.State.LOST else ProbeVerdict.NOT_PROBED
    if status.answered is None or now - status.answered > FRESH:
        return ProbeVerdict.STALE
    if _is_port_silent(status):
        return ProbeVerdict.NOT_PROBED
    if is_full_size_lost(status, now):
        return ProbeVerdict.SMALL_ONLY
    return ProbeVerdict.LOSSY if any(_is_lossy(status, window) for window in _WINDOWS) else ProbeVerdict.PASSES


def judge_inward(status: ProbeStatus, now: datetime) -> InwardVerdict | None:
    """Return whether connections from outside come in; None if nothing is known: none was tried lately, or no packet passes anyway."""
    if status.inward_at is None or now - status.inward_at > FRESH or judge_status(status, now) not in PASSING:
        return None
    if status.inward_failures >= IN_A_ROW:
        return InwardVerdict.BLOCKED if status.inward_shown else InwardVerdict.NOT_ASKED
    return InwardVerdict.COMES_IN if status.inward_answered else None


def is_full_size_lost(status: ProbeStatus, now: datetime) -> bool:
    """True if packets of full size came back lately, and do so no longer."""
    answered = status.full_size_answered
    return answered is not None and status.full_size_lost >= IN_A_ROW and now - answered <= FULL_SIZE_EXPECTED


def _is_port_silent(status: ProbeStatus) -> bool:
    """True if the target answers, but accepts no connection."""
    last = status.recent[-IN_A_ROW:]
    return not status.failures and len(last) == IN_A_ROW and all(each < 0 for each in last)


def _is_lossy(status: ProbeStatus, window: _LossWindow) -> bool:
    losses = _list_losses(status.recent[-window.probes :], status.lost_echoes[-window.probes :])
    figures = _count(status.recent[-window.probes :], status.lost_echoes[-window.probes :])
    return figures.spells >= window.spells and figures.lost >= window.share * figures.sent and not _is_over(losses)


def _is_over(losses: Sequence[int]) -> bool:
    """True if losses as frequent as between the first and the last one would hardly leave so many probes without any since then."""
    lossy = [place for place, lost in enumerate(losses) if lost]
    frequency = min(len(lossy) / (lossy[-1] - lossy[0] + 1), MOST_FREQUENT)
    since = len(losses) - 1 - lossy[-1]
    return (1 - frequency) ** since < BY_CHANCE


def compute_figures(status: ProbeStatus) -> LossFigures:
    """Return the figures of the last probes."""
    return _count(status.recent, status.lost_echoes)


def _count(recent: Sequence[int], lost_echoes: Sequence[int]) -> LossFigures:
    echoes, missing = _list_trusted_echoes(recent, lost_echoes), _list_losses(recent, lost_echoes)
    sent = sum(each != REFUSED for each in recent) + ECHOES * sum(each != NOT_SENT for each in echoes)
    times = sorted(each / 1000 for each in recent if each >= 0)
    middle, high, slowest = (median(times), times[(95 * len(times) - 1) // 100], times[-1]) if times else (None, None, None)
    return LossFigures(sent, sum(missing), middle, slowest, high, sum(each > 0 for each in missing))


def _list_losses(recent: Sequence[int], lost_echoes: Sequence[int]) -> list[int]:
    """Return how many packets each probe lost."""
    echoes = _list_trusted_echoes(recent, lost_echoes)
    return [int(handshake == LOST) + max(lost, 0) for handshake, lost in zip(recent, echoes, strict=True)]


def _list_trusted_echoes(recent: Sequence[int], lost_echoes: Sequence[int]) -> Sequence[int]:
    """Return the lost echoes; NOT_SENT for all if the target limits them."""
    if LOST not in recent and _compute_share(lost_echoes) > LIMITED_ECHOES:
        return [NOT_SENT for _ in lost_echoes]
    return lost_echoes


def _compute_share(lost_echoes: Sequence[int]) -> float:
    counted = [each for each in lost_echoes if each != NOT_SENT]
    return sum(counted) / (ECHOES * len(counted)) if counted else 0.0


def do_all_pass(statuses: Iterable[ProbeStatus], now: datetime) -> bool:
    """True if there are probes, and each has shown within FORWARDS that packets pass."""
    found = [each.answered is not None and now - each.answered <= FORWARDS and judge_status(each, now) for each in statuses]
    return bool(found) and all(each is ProbeVerdict.PASSES for each in found)
