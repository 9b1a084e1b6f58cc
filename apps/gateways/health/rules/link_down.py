"""An interface is missing, switched off, or has no carrier."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind


def _find(situation: HealthSituation) -> Evidence | None:
    links = situation.interval.links
    of_gateway = (situation.lan, situation.wan, situation.sync, situation.probe)
    down = [name for name in of_gateway if name and not (name in links and links[name].is_up)]
    if not links or not down:
        return None
    missing = [name for name in down if name not in links]
    carries = bool({situation.lan, situation.wan} & set(down))
    values: dict[str, float | str] = {
        "down": ", ".join(down),
        "missing": ", ".join(missing),
        "carries": float(carries),
        "sync": float(situation.sync in down),
        "probe": float(situation.probe in down),
    }
    return Evidence(Kind.BAD if carries else Kind.WARN, values)


def _describe(values: EvidenceValues) -> str:
    said = [_("%(names)s: no carrier.") % {"names": values["down"]}]
    if values["missing"]:
        said = [_("%(names)s: no such interface, or no carrier.") % {"names": values["down"]}]
    if values["carries"]:
        said.append(_("No packet of a member passes it."))
    if values["sync"]:
        said.append(_("The other gateway does not learn of its connections: they would end at a failover."))
    if values.get("probe"):
        said.append(_("Its probe cannot pass: whether packets of members do is not known."))
    return " ".join(said)


def _stops(values: EvidenceValues) -> frozenset[int]:
    """Without the cable to members or to the internet, nothing passes; without that to the probe, no probe does."""
    return frozenset({4, 6}) if values["carries"] or values.get("probe") else frozenset()


RULE: Final = HealthRule(
    "link_down",
    gettext_lazy("Link down"),
    gettext_lazy("An interface of %(gateway)s is down"),
    _find,
    _describe,
    gettext_lazy("Check cable, transceiver and switch port; then the interface’s name on the gateway’s page."),
    affects_members=lambda values: bool(values["carries"]),
    stops=_stops,
)
