"""The interface towards members has no address of a family that they use: they cannot reach their gateway.

Not where it borrows the address of loopback ("ip unnumbered"), which then has one besides 127.0.0.0/8.
"""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind, stops_named_families
from firewall.health import LOOPBACK


def _find(situation: HealthSituation) -> Evidence | None:
    addresses, lan = situation.interval.addresses, situation.interval.links.get(situation.lan)
    if addresses is None or lan is None or not lan.is_up:
        return None  # that the interface is down is another finding
    held = {each.version for each in addresses.get(situation.lan, ())}
    borrowed = {each.version for each in addresses.get(LOOPBACK, ()) if not each.is_loopback}
    missing = [f"IPv{family}" for family in sorted(situation.families - held - borrowed)]
    return Evidence(Kind.BAD, {"interface": situation.lan, "families": ", ".join(missing)}) if missing else None


def _describe(values: EvidenceValues) -> str:
    given = {"interface": values["interface"], "families": values["families"]}
    return _("%(interface)s has no address for %(families)s: members cannot reach their gateway.") % given


RULE: Final = HealthRule(
    "no_address",
    gettext_lazy("No address"),
    gettext_lazy("%(gateway)s has no address towards members"),
    _find,
    _describe,
    gettext_lazy("See what is left with “ip address”; “ifup” or “networkctl reload” brings back what is configured."),
    stops=stops_named_families,
)
