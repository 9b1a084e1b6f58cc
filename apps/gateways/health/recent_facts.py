"""What the portal knows of gateways beside their health: the states of their probes, and their gauges.

Read for all gateways at once, and anew after a second: a run over two hundred gateways takes longer than their probes stay the same.
"""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from apps.gateways.packet_probes.models import ProbeStatus
from apps.network.models import Gateway, Gauge

SECONDS: Final = 1.0
"""As long, what was read of all gateways is used for the next one."""


@dataclass
class RecentFacts:
    """Probes and gauges of these gateways. read_at: by the monotonic clock."""

    gateways: Collection[int]
    read_at: float = float("-inf")
    probes: Mapping[int, list[ProbeStatus]] = field(default_factory=dict)
    gauges: Mapping[int, list[Gauge]] = field(default_factory=dict)

    def get_probes(self, gateway: Gateway, since: datetime) -> list[ProbeStatus]:
        """Return the gateway's probes that were judged since then."""
        self._refresh()
        return [each for each in self.probes.get(gateway.pk, ()) if each.at >= since]

    def get_sets(self, gateway: Gateway, since: datetime) -> dict[str, tuple[int, int]]:
        """Return the fill levels of dynamic sets as a reading of counters since then told them."""
        self._refresh()
        return {each.name: (each.used, each.size) for each in self.gauges.get(gateway.pk, ()) if each.at >= since}

    def _refresh(self) -> None:
        if time.monotonic() - self.read_at >= SECONDS:
            self.probes = _group_by_gateway(ProbeStatus.objects.filter(gateway__in=self.gateways))
            self.gauges = _group_by_gateway(Gauge.objects.filter(gateway__in=self.gateways))
            self.read_at = time.monotonic()


def _group_by_gateway[Row: (ProbeStatus, Gauge)](rows: Iterable[Row]) -> Mapping[int, list[Row]]:
    found = defaultdict[int, list[Row]](list)
    for row in rows:
        found[row.gateway_id].append(row)
    return found
