"""The kernel does not forward an address family that members use."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind, stops_named_families


def _find(situation: HealthSituation) -> Evidence | None:
    forwarding = situation.interval.forwarding
    known = {4: forwarding.forwards4, 6: forwarding.forwards6}
    off = [family for family in sorted(situation.families) if not known[family]]
    return Evidence(Kind.BAD, {"families": ", ".join(f"IPv{family}" for family in off)}) if off else None


def _describe(values: EvidenceValues) -> str:
    return _("Forwarding of %(families)s is switched off in its kernel.") % {"families": values["families"]}


RULE: Final = HealthRule(
    "not_forwarding",
    gettext_lazy("Forwarding off"),
    gettext_lazy("%(gateway)s does not forward"),
    _find,
    _describe,
    gettext_lazy("Set net.ipv4.ip_forward and net.ipv6.conf.all.forwarding to 1, and find out what switched them off."),
    stops=stops_named_families,
)
