"""The disk of the agent's state is nearly full: then nothing can be deployed."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind, affects_nobody_yet
from apps.lib.ui import formats

LEAST_SHARE, LEAST_OCTETS = 0.05, 200_000_000


def _find(situation: HealthSituation) -> Evidence | None:
    levels = situation.interval.levels
    if not levels.disk or levels.disk_free >= min(LEAST_SHARE * levels.disk, 5 * LEAST_OCTETS):
        return None
    return Evidence(Kind.BAD if levels.disk_free < LEAST_OCTETS else Kind.WARN, {"free": levels.disk_free, "disk": levels.disk})


def _describe(values: EvidenceValues) -> str:
    given = {name: formats.format_volume(int(value)) for name, value in values.items()}
    return _("%(free)s of %(disk)s are free. On a full disk, the agent refuses every change.") % given


RULE: Final = HealthRule(
    "disk_full",
    gettext_lazy("Disk"),
    gettext_lazy("The disk of %(gateway)s is full, or nearly so"),
    _find,
    _describe,
    gettext_lazy("Remove old logs (“journalctl --vacuum-size=200M”) and packages (“apt clean”)."),
    affects_members=affects_nobody_yet,
    measure="disk_used",
)
