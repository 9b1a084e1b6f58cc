"""Members with a port block begin connections for which their block has no port."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind
from apps.lib.ui import formats

LEAST: Final = 5.0  # a second


def _find(situation: HealthSituation) -> Evidence | None:
    rate = situation.interval.ruleset.get("portless", 0.0)
    return Evidence(Kind.WARN, {"rate": rate}) if rate >= LEAST else None


def _describe(values: EvidenceValues) -> str:
    rate = formats.format_packets(float(values["rate"]))
    return _("Refused packets of members with a port block, because their protocol has no ports: %(rate)s.") % {"rate": rate}


RULE: Final = HealthRule(
    "portless",
    gettext_lazy("No port"),
    gettext_lazy("%(gateway)s refuses packets without ports"),
    _find,
    _describe,
    gettext_lazy("Give the member an address of its own if it needs a tunnel (GRE, IPsec without UDP)."),
)
