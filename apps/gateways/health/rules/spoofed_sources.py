"""Many packets with a source address that nobody holds: a wrongly configured machine, or an attack from inside."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind, affects_nobody_yet
from apps.lib.ui import formats

LEAST: Final = 100.0  # a second


def _find(situation: HealthSituation) -> Evidence | None:
    rate = situation.interval.ruleset.get("spoofed", 0.0)
    return Evidence(Kind.WARN, {"rate": rate}) if rate >= LEAST else None


def _describe(values: EvidenceValues) -> str:
    rate = formats.format_packets(float(values["rate"]))
    return _("Packets with a source address that no member holds: %(rate)s. They are dropped.") % {"rate": rate}


RULE: Final = HealthRule(
    "spoofed_sources",
    gettext_lazy("Spoofed"),
    gettext_lazy("Many forged source addresses reach %(gateway)s"),
    _find,
    _describe,
    gettext_lazy("Find the address with “Watch packets live” or tcpdump, and the port in the switches’ address tables."),
    affects_members=affects_nobody_yet,
)
