"""Judgement of a service: how well members reach it, as far as fresh probes of the gateways that carry it have shown."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from apps.gateways.packet_probes.judgement import ProbeVerdict
from apps.status.availability.models import ServiceLevel

SLOW_MS: Final = 150.0
"""Milliseconds of a probe's round trip to the uplink, at the median, from which on members feel it (ITU-T G.114: 150 ms for a call)."""
_WORST_FIRST: Final = (ServiceLevel.DOWN, ServiceLevel.DEGRADED, ServiceLevel.UNKNOWN, ServiceLevel.FINE)


@dataclass(frozen=True)
class CarrierProbes:
    """What the last probes of a gateway that carries an address family have shown. median_ms: None if none came back."""

    verdict: ProbeVerdict
    median_ms: float | None


def judge_carrier(probes: CarrierProbes) -> ServiceLevel:
    """Return how well members are served through this gateway."""
    if probes.verdict is ProbeVerdict.LOST:
        return ServiceLevel.DOWN
    if probes.verdict in (ProbeVerdict.LOSSY, ProbeVerdict.SMALL_ONLY):
        return ServiceLevel.DEGRADED
    if probes.verdict is not ProbeVerdict.PASSES:
        return ServiceLevel.UNKNOWN
    return ServiceLevel.DEGRADED if probes.median_ms is not None and probes.median_ms >= SLOW_MS else ServiceLevel.FINE


def combine_levels(levels: Iterable[ServiceLevel]) -> ServiceLevel:
    """Return the worst of them; what is not known is worse than what is fine. UNKNOWN without any."""
    found = set(levels)
    return next((each for each in _WORST_FIRST if each in found), ServiceLevel.UNKNOWN)
