"""An interface drops packets: its queue or ring is full."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind
from apps.lib.ui import formats

LEAST: Final = 10.0  # a second
SHARE: Final = 0.001  # of its packets


def _find(situation: HealthSituation) -> Evidence | None:
    worst = max(situation.carrying_links, key=lambda each: each.dropped, default=None)
    if worst is None or worst.dropped < LEAST or worst.dropped < SHARE * worst.packets:
        return None
    return Evidence(Kind.WARN, {"name": worst.name, "dropped": worst.dropped, "packets": worst.packets})


def _describe(values: EvidenceValues) -> str:
    given = {
        "name": values["name"],
        "dropped": formats.format_packets(float(values["dropped"])),
        "packets": formats.format_packets(float(values["packets"])),
    }
    return _("Packets dropped by %(name)s: %(dropped)s, beside %(packets)s that pass.") % given


RULE: Final = HealthRule(
    "packets_dropped",
    gettext_lazy("Drops"),
    gettext_lazy("An interface of %(gateway)s drops packets"),
    _find,
    _describe,
    gettext_lazy("Look at the busiest core first; then enlarge the card’s rings (ethtool -G) or the interface’s queue."),
    measure="packets",
)
