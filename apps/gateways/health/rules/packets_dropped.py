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
    of_all: dict[str, float | str] = {"name": worst.name, "dropped": worst.dropped, "packets": worst.packets}
    return Evidence(Kind.WARN, of_all | _find_queue(situation, worst.name))


def _find_queue(situation: HealthSituation, card: str) -> dict[str, float | str]:
    """Return the receive queue that drops most, and how many; nothing if none does, or the card does not count by queue."""
    worst = max(situation.interval.queue_loads.get(card, ()), key=lambda each: each.dropped, default=None)
    return {"queue": float(worst.queue), "of_queue": worst.dropped} if worst and worst.dropped >= LEAST else {}


def _describe(values: EvidenceValues) -> str:
    given = {
        "name": values["name"],
        "dropped": formats.format_packets(float(values["dropped"])),
        "packets": formats.format_packets(float(values["packets"])),
    }
    text = _("Packets dropped by %(name)s: %(dropped)s, beside %(packets)s that pass.") % given
    if "queue" not in values:
        return text
    of_queue = _("Its receive queue %(queue)d drops most: %(dropped)s.")
    return f"{text} {of_queue % {'queue': int(values['queue']), 'dropped': formats.format_packets(float(values['of_queue']))}}"


RULE: Final = HealthRule(
    "packets_dropped",
    gettext_lazy("Drops"),
    gettext_lazy("An interface of %(gateway)s drops packets"),
    _find,
    _describe,
    gettext_lazy("Look at the busiest core first; then enlarge the card’s rings (ethtool -G) or the interface’s queue."),
    measure="packets",
)
