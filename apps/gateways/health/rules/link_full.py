"""An interface carries as much as it can: packets queue and are dropped."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind
from apps.lib.ui import formats

FULL: Final = 0.95  # of its speed


def _find(situation: HealthSituation) -> Evidence | None:
    link = max(situation.carrying_links, key=lambda each: each.share, default=None)
    if link is None or link.share < FULL:
        return None
    values: dict[str, float | str] = {
        "name": link.name,
        "rate": max(link.received_bits, link.sent_bits),
        "speed": link.speed * 1e6,
        "receives": float(link.received_bits >= link.sent_bits),
    }
    return Evidence(Kind.WARN, values)


def _describe(values: EvidenceValues) -> str:
    rate, speed = (formats.format_rate(float(values[name])) for name in ("rate", "speed"))
    text = _("%(name)s receives %(rate)s of %(speed)s.") if values["receives"] else _("%(name)s sends %(rate)s of %(speed)s.")
    return text % {"name": values["name"], "rate": rate, "speed": speed}


RULE: Final = HealthRule(
    "link_full",
    gettext_lazy("Full link"),
    gettext_lazy("An interface of %(gateway)s is full"),
    _find,
    _describe,
    gettext_lazy("See on the traffic page who uses it; switch on fair sharing, or get a faster link."),
    measure="received_bits",
)
