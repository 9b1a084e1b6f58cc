"""Two connections got the same public port at the same moment, and one of them lost its first packet (insert_failed)."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind
from apps.lib.ui import formats
from firewall.health import KernelCounter

LEAST: Final = 1.0  # a second


def _find(situation: HealthSituation) -> Evidence | None:
    rate = situation.interval.get_rate(KernelCounter.CONNTRACK_INSERT_FAILED)
    return Evidence(Kind.WARN, {"rate": rate}) if rate >= LEAST else None


def _describe(values: EvidenceValues) -> str:
    rate = formats.format_packets(float(values["rate"]))
    text = _("First packets lost because two connections chose the same port: %(rate)s. They are sent again a second later.")
    return text % {"rate": rate}


RULE: Final = HealthRule(
    "insert_failures",
    gettext_lazy("Collisions"),
    gettext_lazy("New connections collide on %(gateway)s"),
    _find,
    _describe,
    gettext_lazy("Use a pool with random ports or port blocks, or give it more public addresses."),
    measure="connections",
)
