"""The connection table is nearly full: a full one accepts no new connection."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind
from apps.lib.ui import formats

WARN, BAD = 0.8, 0.95


def _find(situation: HealthSituation) -> Evidence | None:
    levels = situation.interval.levels
    share = levels.connections / levels.most_connections if levels.most_connections else 0.0
    if share < WARN:
        return None
    return Evidence(Kind.BAD if share >= BAD else Kind.WARN, {"connections": levels.connections, "most": levels.most_connections})


def _describe(values: EvidenceValues) -> str:
    numbers = {name: formats.format_number(int(value)) for name, value in values.items()}
    return _("%(connections)s of at most %(most)s connections are open. When it is full, new connections fail.") % numbers


RULE: Final = HealthRule(
    "connections_full",
    gettext_lazy("Connections"),
    gettext_lazy("The connection table of %(gateway)s is nearly full"),
    _find,
    _describe,
    gettext_lazy("Look for a member or an attack with very many connections; then allow more connections on the profile’s page."),
    measure="connections",
)
