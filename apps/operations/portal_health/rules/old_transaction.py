"""A transaction is open for hours: vacuum removes nothing that is newer, and its locks stop migrations."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.lib.ui import formats
from apps.operations.portal_health.rule import PortalEvidence, PortalKind, PortalRule, PortalSituation, PortalValues

WARN, BAD = 2 * 3600, 12 * 3600  # seconds; a backup of a large database takes an hour


def _find(situation: PortalSituation) -> PortalEvidence | None:
    found = situation.figures.transaction
    if found is None or found.seconds < WARN:
        return None
    values: dict[str, float | str] = {"program": found.program, "state": found.state, "seconds": found.seconds}
    return PortalEvidence(PortalKind.BAD if found.seconds >= BAD else PortalKind.WARN, values)


def _describe(values: PortalValues) -> str:
    given = {"program": values["program"] or _("a program without a name"), "state": values["state"]}
    given["duration"] = formats.format_duration(float(values["seconds"]))
    return _("“%(program)s” has kept a transaction open for %(duration)s (%(state)s).") % given


RULE: Final = PortalRule(
    "old_transaction",
    gettext_lazy("Transaction"),
    gettext_lazy("A transaction in the database does not end"),
    _find,
    _describe,
    gettext_lazy(
        "Find it in pg_stat_activity and end its program, or “SELECT pg_terminate_backend(pid)”. A running backup may be left alone."
    ),
)
