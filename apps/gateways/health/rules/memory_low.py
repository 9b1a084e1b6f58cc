"""The machine is about to run out of memory."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind, affects_nobody_yet
from apps.lib.ui import formats

WARN, BAD = 0.05, 0.02  # of the memory that is available


def _find(situation: HealthSituation) -> Evidence | None:
    levels = situation.interval.levels
    share = levels.memory_available / levels.memory if levels.memory else 1.0
    if share >= WARN:
        return None
    return Evidence(Kind.BAD if share < BAD else Kind.WARN, {"available": levels.memory_available, "memory": levels.memory})


def _describe(values: EvidenceValues) -> str:
    given = {name: formats.format_volume(int(value)) for name, value in values.items()}
    return _("%(available)s of %(memory)s memory are available.") % given


RULE: Final = HealthRule(
    "memory_low",
    gettext_lazy("Memory"),
    gettext_lazy("%(gateway)s is short of memory"),
    _find,
    _describe,
    gettext_lazy("Look which program takes it (“ps --sort=-rss”). The kernel ends programs when it is used up."),
    affects_members=affects_nobody_yet,
    measure="memory_used",
)
