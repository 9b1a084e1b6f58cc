"""An interface negotiated 100 Mbit/s: usually a damaged wire of the cable."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.interval import UNREAL_SPEED
from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind
from apps.lib.ui import formats

SLOW: Final = 100  # Mbit/s


def _find(situation: HealthSituation) -> Evidence | None:
    slow = [each for each in situation.carrying_links if each.is_up and UNREAL_SPEED < each.speed <= SLOW]
    return Evidence(Kind.WARN, {"name": slow[0].name, "speed": slow[0].speed * 1e6}) if slow else None


def _describe(values: EvidenceValues) -> str:
    return _("%(name)s runs at %(speed)s.") % {"name": values["name"], "speed": formats.format_rate(float(values["speed"]))}


RULE: Final = HealthRule(
    "slow_link",
    gettext_lazy("Slow link"),
    gettext_lazy("A link of %(gateway)s is slow"),
    _find,
    _describe,
    gettext_lazy("Replace the cable: with one broken pair, a port falls back to 100 Mbit/s. Check that both ends negotiate."),
)
