"""Damaged packets arrive on an interface."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind
from apps.lib.ui import formats

LEAST: Final = 1.0  # a second


def _find(situation: HealthSituation) -> Evidence | None:
    worst = max(situation.carrying_links, key=lambda each: each.errors, default=None)
    return Evidence(Kind.WARN, {"name": worst.name, "errors": worst.errors}) if worst and worst.errors >= LEAST else None


def _describe(values: EvidenceValues) -> str:
    given = {"name": values["name"], "rate": formats.format_packets(float(values["errors"]))}
    return _("Damaged packets on %(name)s: %(rate)s.") % given


RULE: Final = HealthRule(
    "link_errors",
    gettext_lazy("Errors"),
    gettext_lazy("Damaged packets reach %(gateway)s"),
    _find,
    _describe,
    gettext_lazy("Replace cable or transceiver; check that both ends negotiate speed and duplex."),
)
