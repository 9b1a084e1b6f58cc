"""Text for the changes of a rollout."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.rule_kinds.registry import KINDS
from apps.lib.ui import formats
from firewall.sets import ObjectKind
from firewall.summary import SummaryLine


def parse_summary_lines(changes: Iterable[dict[str, Any]]) -> tuple[SummaryLine, ...]:
    """Parse the summary lines stored with a revision, one per kind that it touches."""
    return tuple(SummaryLine(**{**each, "kind": ObjectKind(each["kind"])}) for each in changes)


def render_kind_name(kind: ObjectKind) -> str:
    """Return the name of a kind, as the head of a row."""
    texts = {ObjectKind.RULES: _("Rules"), ObjectKind.PROFILE: _("Kernel settings")}
    return texts[kind] if kind in texts else str(KINDS[kind].name)


def compute_touched_share(line: SummaryLine) -> float:
    """Return the touched share of a line's kind, in percent of the number before or after, whichever is larger."""
    touched, most = line.added + line.removed + line.changed, max(line.of, line.of - line.added + line.removed)
    return min(100.0, 100 * touched / most) if most else 0.0


def render_summary(lines: Iterable[SummaryLine], *, rules: int = 0) -> str:
    """Return text such as “3 forwarded ports added, 1 removed; 2 bans added”."""
    parts = [_render_line(line) for line in lines if line.kind != ObjectKind.RULES or not rules]
    if rules:
        parts.append(ngettext("%(n)d chain rewritten", "%(n)d chains rewritten", rules) % {"n": rules})
    return "; ".join(parts) or _("nothing changes")


def _render_line(line: SummaryLine) -> str:
    return ", ".join(_iter_numbers(line))


def _iter_numbers(line: SummaryLine) -> Iterator[str]:
    named = False
    for number, what in ((line.added, _("added")), (line.removed, _("removed")), (line.changed, _("changed"))):
        if number:
            yield f"{number} {what}" if named else f"{render_count(line.kind, number)} {what}"
            named = True


def render_count(kind: ObjectKind, number: int) -> str:
    """Return text such as “2,418 NAT mappings”."""
    match kind:
        case ObjectKind.RULES:
            words = ngettext("%(n)s rule", "%(n)s rules", number)
        case ObjectKind.PROFILE:
            words = ngettext("%(n)s kernel setting", "%(n)s kernel settings", number)
        case _:
            words = KINDS[kind].count(number)
    return words % {"n": formats.format_number(number)}
