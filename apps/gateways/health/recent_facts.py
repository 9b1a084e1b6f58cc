"""What the portal knows of gateways beside their health: the states of their probes, and their gauges."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from apps.gateways.packet_probes.models import ProbeStatus
from apps.network.models import Gateway, Gauge


@dataclass(frozen=True, slots=True)
class RecentFacts:
    """Probes and gauges of some gateways, by the gateway's id."""

    probes: Mapping[int, list[ProbeStatus]]
    gauges: Mapping[int, list[Gauge]]

    def get_probes(self, gateway: Gateway, since: datetime) -> list[ProbeStatus]:
        """Return the gateway's probes that were judged since then."""
        return [each for each in self.probes.get(gateway.pk, ()) if each.at >= since]

    def get_sets(self, gateway: Gateway, since: datetime) -> dict[str, tuple[int, int]]:
        """Return the fill levels of dynamic sets as a reading of counters since then told them."""
        return {each.name: (each.used, each.size) for each in self.gauges.get(gateway.pk, ()) if each.at >= since}


def read_recent_facts(gateways: Collection[int]) -> RecentFacts:
    """Read the facts of all these gateways at once."""
    return RecentFacts(
        _group_by_gateway(ProbeStatus.objects.filter(gateway__in=gateways)), _group_by_gateway(Gauge.objects.filter(gateway__in=gateways))
    )


def _group_by_gateway[Row: (ProbeStatus, Gauge)](rows: Iterable[Row]) -> Mapping[int, list[Row]]:
    found = defaultdict[int, list[Row]](list)
    for row in rows:
        found[row.gateway_id].append(row)
    return found
