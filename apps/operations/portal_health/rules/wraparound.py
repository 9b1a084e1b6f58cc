"""Transaction ids run out: at the end the server refuses every write until it is vacuumed (manual, 25.1.5)."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.lib.ui import formats
from apps.operations.portal_health.rule import PortalEvidence, PortalKind, PortalRule, PortalSituation, PortalValues

LIMIT: Final = 1 << 31
WARN, BAD = 0.4, 0.7  # of the ids; autovacuum freezes at a tenth


def _find(situation: PortalSituation) -> PortalEvidence | None:
    share = situation.figures.database.ids_used / LIMIT
    return PortalEvidence(PortalKind.BAD if share >= BAD else PortalKind.WARN, {"share": share}) if share >= WARN else None


def _describe(values: PortalValues) -> str:
    share = formats.format_percent(100 * float(values["share"]), 0)
    return _("%(share)s of the transaction ids are used. At the end the database refuses every write.") % {"share": share}


RULE: Final = PortalRule(
    "wraparound",
    gettext_lazy("Transaction ids"),
    gettext_lazy("The database runs out of transaction ids"),
    _find,
    _describe,
    gettext_lazy("End old transactions and prepared ones, drop unused replication slots; then “VACUUM (FREEZE)” as the database’s owner."),
)
