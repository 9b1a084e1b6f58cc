"""The database server accepts hardly any further connection: then pages and workers fail."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.lib.ui import formats
from apps.operations.portal_health.rule import PortalEvidence, PortalKind, PortalRule, PortalSituation, PortalValues

WARN, BAD = 0.8, 0.95


def _find(situation: PortalSituation) -> PortalEvidence | None:
    levels = situation.figures.database
    share = levels.connections / levels.most_connections if levels.most_connections else 0.0
    if share < WARN:
        return None
    values = {"connections": levels.connections, "most": levels.most_connections}
    return PortalEvidence(PortalKind.BAD if share >= BAD else PortalKind.WARN, values)


def _describe(values: PortalValues) -> str:
    numbers = {name: formats.format_number(int(value)) for name, value in values.items()}
    return _("%(connections)s of at most %(most)s connections to the database server are open.") % numbers


RULE: Final = PortalRule(
    "database_connections",
    gettext_lazy("Database"),
    gettext_lazy("The database server has hardly any connection left"),
    _find,
    _describe,
    gettext_lazy("See in pg_stat_activity which program holds them; then raise max_connections, or start fewer workers and web processes."),
)
