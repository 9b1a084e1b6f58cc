"""Judgement of probes: whether packets pass a gateway, as far as fresh probes have shown.

One lost probe is no outage. A family is lost after FAILURES in a row, and lossy if of the last ones LOSSY did not come back.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from statistics import median
from typing import Final

from apps.gateways.packet_probes.models import LOST, ProbeStatus

FRESH: Final = timedelta(seconds=60)
FAILURES: Final = 2
LOSSY: Final = 3


class ProbeVerdict(StrEnum):
    """What the last probes of a gateway have shown in one address family."""

    PASSES = "passes"
    LOSSY = "lossy"
    LOST = "lost"
    NOT_PROBED = "not probed"  # the probe itself does not work
    STALE = "stale"  # no probe lately, or none that came back and only one that did not


@dataclass(frozen=True)
class LossFigures:
    """Of the last probes: how many, how many without an answer, and the milliseconds of those with one (median and the slowest)."""

    sent: int
    lost: int
    median_ms: float | None
    slowest_ms: float | None


def judge_status(status: ProbeStatus, now: datetime) -> ProbeVerdict:
    """Return what is known now. A single failure is none yet, but packets pass only if one came back lately."""
    if now - status.at > FRESH:
        return ProbeVerdict.STALE
    if status.failures >= FAILURES:
        return ProbeVerdict.LOST if status.state == ProbeStatus.State.LOST else ProbeVerdict.NOT_PROBED
    if status.answered is None or now - status.answered > FRESH:
        return ProbeVerdict.STALE
    return ProbeVerdict.LOSSY if status.recent.count(LOST) >= LOSSY else ProbeVerdict.PASSES


def compute_figures(recent: Sequence[int]) -> LossFigures:
    """Return the figures of the last probes."""
    answered = sorted(each / 1000 for each in recent if each != LOST)
    return LossFigures(len(recent), len(recent) - len(answered), median(answered) if answered else None, answered[-1] if answered else None)


def do_all_pass(statuses: Iterable[ProbeStatus], now: datetime) -> bool:
    """True if there are probes, and each has shown that packets pass."""
    found = [judge_status(each, now) for each in statuses]
    return bool(found) and all(each is ProbeVerdict.PASSES for each in found)
