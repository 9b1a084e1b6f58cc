"""A table has more dead rows than vacuum should leave: it grows, and queries read past them."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.lib.ui import formats
from apps.operations.portal_health.figures import TableActivity
from apps.operations.portal_health.rule import PortalEvidence, PortalKind, PortalRule, PortalSituation, PortalValues

LEAST: Final = 50_000  # dead rows; small tables are rewritten in a moment
SHARE: Final = 0.5  # of the live rows; autovacuum begins at 0.2


def is_bloated(table: TableActivity) -> bool:
    """True if so many rows are dead that vacuum should have been there."""
    return table.dead >= LEAST and table.dead > SHARE * table.live


def _find(situation: PortalSituation) -> PortalEvidence | None:
    found = [each for each in situation.figures.tables if is_bloated(each)]
    if not found:
        return None
    worst = found[0]
    vacuumed = -1 if worst.vacuumed is None else worst.vacuumed
    values: dict[str, float | str] = {
        "table": worst.name,
        "dead": worst.dead,
        "live": worst.live,
        "vacuumed": vacuumed,
        "more": len(found) - 1,
    }
    return PortalEvidence(PortalKind.WARN, values)


def _describe(values: PortalValues) -> str:
    given = {"table": values["table"], **{name: formats.format_number(int(values[name])) for name in ("dead", "live", "more")}}
    said = [_("Table %(table)s has %(dead)s dead rows beside %(live)s live ones.") % given]
    if more := int(values["more"]):
        said.append(ngettext("So has %(more)s other table.", "So have %(more)s other tables.", more) % given)
    if (seconds := float(values["vacuumed"])) < 0:
        said.append(_("It was never vacuumed."))
    else:
        said.append(_("It was last vacuumed %(duration)s ago.") % {"duration": formats.format_duration(seconds)})
    return " ".join(said)


RULE: Final = PortalRule(
    "bloat",
    gettext_lazy("Dead rows"),
    gettext_lazy("A table of the database has too many dead rows"),
    _find,
    _describe,
    gettext_lazy("End the oldest transaction if it is forgotten: nothing newer is vacuumed. Then “VACUUM (ANALYZE) table” in psql."),
)
