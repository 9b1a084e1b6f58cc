"""Partitions for the next day are missing: what makes them ahead of time has failed."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.lib.ui import formats
from apps.operations.portal_health.rule import PortalEvidence, PortalKind, PortalRule, PortalSituation, PortalValues

AHEAD: Final = 86_400  # seconds; they are made two days ahead, each minute


def _find(situation: PortalSituation) -> PortalEvidence | None:
    found = [each for each in situation.figures.partitions if each.seconds < AHEAD]
    if not found:
        return None
    first = min(found, key=lambda each: each.seconds)
    values: dict[str, float | str] = {"tables": ", ".join(each.table for each in found), "seconds": first.seconds}
    return PortalEvidence(PortalKind.WARN if first.seconds else PortalKind.BAD, values)


def _describe(values: PortalValues) -> str:
    given = {"tables": values["tables"], "duration": formats.format_duration(float(values["seconds"]))}
    if not values["seconds"]:
        return _("There is no partition for now in: %(tables)s. The next reading has to make it, or is lost.") % given
    return _("The partitions end in %(duration)s: %(tables)s.") % given


RULE: Final = PortalRule(
    "partitions_missing",
    gettext_lazy("Partitions"),
    gettext_lazy("Partitions for usage are not made ahead of time"),
    _find,
    _describe,
    gettext_lazy("Look why the job “Summing up usage” fails (page System); it makes them each minute."),
)
