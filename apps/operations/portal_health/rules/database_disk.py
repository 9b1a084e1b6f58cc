"""The disk of the database is nearly full, or will be soon: a full one stops every write."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.lib.ui import formats
from apps.operations.portal_health.rule import PortalEvidence, PortalKind, PortalRule, PortalSituation, PortalValues

WARN, BAD = 0.10, 0.03  # of the disk that is free
ENOUGH: Final = 100_000_000_000  # octets; so much free is no fault, whatever the size of the disk
SOON: Final = 30  # days


def _find(situation: PortalSituation) -> PortalEvidence | None:
    disk, growth = situation.figures.disk, situation.growth
    if disk is None or not disk.octets:
        return None
    left = (growth.full - situation.at.date()).days if growth and growth.full else SOON + 1
    free = 1.0 if disk.free > ENOUGH else disk.free / disk.octets
    if free >= WARN and left > SOON:
        return None
    values = {"free": disk.free, "disk": disk.octets, "grows": growth.octets if growth else 0, "days": max(0, left)}
    return PortalEvidence(PortalKind.BAD if free < BAD else PortalKind.WARN, values)


def _describe(values: PortalValues) -> str:
    given = {name: formats.format_volume(int(values[name])) for name in ("free", "disk", "grows")}
    text = _("%(free)s of %(disk)s are free.") % given
    if float(values["days"]) > SOON:
        return text
    left = formats.format_duration(float(values["days"]) * 86_400)
    return f"{text} " + _("The database grows by %(grows)s a day: the disk is full in %(left)s.") % (given | {"left": left})


RULE: Final = PortalRule(
    "database_disk",
    gettext_lazy("Disk"),
    gettext_lazy("The disk of the database is nearly full"),
    _find,
    _describe,
    gettext_lazy("Enlarge the disk, or keep usage and mails for a shorter time (Settings). See the largest tables on the page System."),
)
