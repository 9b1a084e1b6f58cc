"""The kernel has no route to the internet for an address family that members use.

Rules of policy routing may have one for members alone: while probes come back, there is a route.
"""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind, stops_named_families


def _find(situation: HealthSituation) -> Evidence | None:
    wan = situation.interval.links.get(situation.wan)
    if wan and not wan.is_up:
        return None  # its routes went with it: that it is down is another finding
    forwarding = situation.interval.forwarding
    known = {4: forwarding.has_route4, 6: forwarding.has_route6}
    missing = [family for family in sorted(situation.families) if not known[family] and family not in situation.passing]
    return Evidence(Kind.BAD, {"families": ", ".join(f"IPv{family}" for family in missing)}) if missing else None


def _describe(values: EvidenceValues) -> str:
    return _("No default route for %(families)s: packets to the internet are refused.") % {"families": values["families"]}


RULE: Final = HealthRule(
    "no_route",
    gettext_lazy("No route"),
    gettext_lazy("%(gateway)s has no route to the internet"),
    _find,
    _describe,
    gettext_lazy("Restore the default route, or the session of the routing daemon with the uplink (“ip route”, “ip -6 route”)."),
    stops=stops_named_families,
)
