"""The kernel refuses or evicts connections, because the connection table has no room."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind
from apps.lib.ui import formats
from firewall.health import KernelCounter

LEAST: Final = 0.2  # a second


def _find(situation: HealthSituation) -> Evidence | None:
    dropped = situation.interval.get_rate(KernelCounter.CONNTRACK_DROP)
    evicted = situation.interval.get_rate(KernelCounter.CONNTRACK_EARLY_DROP)
    return Evidence(Kind.BAD, {"dropped": dropped, "evicted": evicted}) if dropped + evicted >= LEAST else None


def _describe(values: EvidenceValues) -> str:
    rates = {name: formats.format_packets(float(value)) for name, value in values.items()}
    return _("Connections without room: %(dropped)s; unanswered ones thrown out for new ones: %(evicted)s.") % rates


RULE: Final = HealthRule(
    "connections_dropped",
    gettext_lazy("Connections"),
    gettext_lazy("%(gateway)s refuses new connections"),
    _find,
    _describe,
    gettext_lazy("Look for a member or an attack with very many connections; then allow more connections on the profile’s page."),
    measure="connections",
)
