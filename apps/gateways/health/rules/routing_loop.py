"""Packets run in circles until their hop limit ends."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind
from apps.lib.ui import formats
from firewall.health import KernelCounter

LEAST: Final = 20.0  # a second; a few come from traceroute


def _find(situation: HealthSituation) -> Evidence | None:
    four, six = (situation.interval.get_rate(each) for each in (KernelCounter.TIME_EXCEEDED4, KernelCounter.TIME_EXCEEDED6))
    return Evidence(Kind.WARN, {"four": four, "six": six}) if four + six >= LEAST else None


def _describe(values: EvidenceValues) -> str:
    rates = {name: formats.format_packets(float(value)) for name, value in values.items()}
    return _("Packets whose hop limit ends here: IPv4 %(four)s, IPv6 %(six)s.") % rates


RULE: Final = HealthRule(
    "routing_loop",
    gettext_lazy("Loop"),
    gettext_lazy("Packets run in circles through %(gateway)s"),
    _find,
    _describe,
    gettext_lazy("Route unused public and private prefixes to “blackhole” on the gateways, so that no default route sends them back."),
)
