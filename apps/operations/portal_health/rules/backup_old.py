"""The last backup is too old. A portal that never noted one has no finding: its administrators may back it up without telling."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.lib.ui import formats
from apps.operations.portal_health.rule import PortalEvidence, PortalKind, PortalRule, PortalSituation, PortalValues


def _find(situation: PortalSituation) -> PortalEvidence | None:
    if situation.backup is None or situation.at - situation.backup <= situation.backup_limit:
        return None
    age, limit = situation.at - situation.backup, situation.backup_limit
    return PortalEvidence(PortalKind.WARN, {"seconds": age.total_seconds(), "limit": limit.total_seconds()})


def _describe(values: PortalValues) -> str:
    given = {name: formats.format_duration(float(value)) for name, value in values.items()}
    return _("The last backup that was noted is %(seconds)s old, and should not be older than %(limit)s.") % given


RULE: Final = PortalRule(
    "backup_old",
    gettext_lazy("Backup"),
    gettext_lazy("The last backup of the database is too old"),
    _find,
    _describe,
    gettext_lazy("Look at the output of the backup script: it ends with “manage.py note_backup” only if everything before it succeeded."),
)
