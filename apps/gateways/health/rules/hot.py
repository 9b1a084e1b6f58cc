"""The machine is too hot: it slows down, then switches off."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind, affects_nobody_yet
from apps.lib.ui import formats

WARN, BAD = 90_000, 100_000  # thousandths of a degree Celsius


def _find(situation: HealthSituation) -> Evidence | None:
    heat = situation.interval.levels.temperature
    return Evidence(Kind.BAD if heat >= BAD else Kind.WARN, {"degrees": heat / 1000}) if heat >= WARN else None


def _describe(values: EvidenceValues) -> str:
    return _("Its hottest sensor shows %(degrees)s °C.") % {"degrees": formats.format_number(round(float(values["degrees"])))}


RULE: Final = HealthRule(
    "hot",
    gettext_lazy("Hot"),
    gettext_lazy("%(gateway)s is too hot"),
    _find,
    _describe,
    gettext_lazy("Check fans, dust and the room’s cooling. When it switches itself off, the other gateway must carry all."),
    affects_members=affects_nobody_yet,
    measure="temperature",
)
