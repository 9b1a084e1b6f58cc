"""Members' packets leave without a public address, or would: source NAT is missing."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind
from apps.lib.ui import formats

LEAKED, UNMAPPED = 5.0, 50.0  # a second; a few of the latter come from members who are meant to have IPv6 alone


def _find(situation: HealthSituation) -> Evidence | None:
    leaked, unmapped = (situation.interval.ruleset.get(name, 0.0) for name in ("leaked", "unmapped"))
    return Evidence(Kind.WARN, {"leaked": leaked, "unmapped": unmapped}) if leaked >= LEAKED or unmapped >= UNMAPPED else None


def _describe(values: EvidenceValues) -> str:
    rates = {name: formats.format_packets(float(value)) for name, value in values.items()}
    text = _("Packets of members without a public address: %(unmapped)s; held back because they would have left untranslated: %(leaked)s.")
    return text % rates


RULE: Final = HealthRule(
    "untranslated",
    gettext_lazy("No NAT"),
    gettext_lazy("%(gateway)s has no public address for some members’ packets"),
    _find,
    _describe,
    gettext_lazy("Look on the members’ pages which have no public address, and whether another program changed the chains."),
)
