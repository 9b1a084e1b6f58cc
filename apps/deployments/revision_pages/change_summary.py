"""Text for the changes of a rollout."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.lib.ui import formats
from firewall.sets import ObjectKind
from firewall.summary import SummaryLine


def parse_lines(changes: Iterable[dict[str, Any]]) -> tuple[SummaryLine, ...]:
    """Parse the summary lines stored with a revision, one per kind that it touches."""
    return tuple(SummaryLine(**{**each, "kind": ObjectKind(each["kind"])}) for each in changes)


def render_kind_name(kind: ObjectKind) -> str:
    """Return the name of a kind, as the head of a row."""
    texts = {
        ObjectKind.ADDRESSES: _("Addresses"),
        ObjectKind.PREFIXES: _("IPv6 prefixes"),
        ObjectKind.MAPPINGS: _("NAT mappings"),
        ObjectKind.FORWARDS: _("Port forwards"),
        ObjectKind.PINHOLES: _("IPv6 pinholes"),
        ObjectKind.BANS: _("Bans"),
        ObjectKind.ALLOWED: _("Allow list"),
        ObjectKind.BLOCKS: _("Blocked addresses"),
        ObjectKind.LISTENERS: _("Listeners"),
        ObjectKind.RATES: _("Rate limits"),
        ObjectKind.RULES: _("Rules"),
        ObjectKind.PROFILE: _("Kernel settings"),
    }
    return texts[kind]


def compute_share(line: SummaryLine) -> float:
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
    texts = {
        ObjectKind.ADDRESSES: ngettext("%(n)s address", "%(n)s addresses", number),
        ObjectKind.PREFIXES: ngettext("%(n)s IPv6 prefix", "%(n)s IPv6 prefixes", number),
        ObjectKind.MAPPINGS: ngettext("%(n)s NAT mapping", "%(n)s NAT mappings", number),
        ObjectKind.FORWARDS: ngettext("%(n)s forwarded port", "%(n)s forwarded ports", number),
        ObjectKind.PINHOLES: ngettext("%(n)s IPv6 pinhole", "%(n)s IPv6 pinholes", number),
        ObjectKind.BANS: ngettext("%(n)s ban", "%(n)s bans", number),
        ObjectKind.ALLOWED: ngettext("%(n)s allow entry", "%(n)s allow entries", number),
        ObjectKind.BLOCKS: ngettext("%(n)s blocked address", "%(n)s blocked addresses", number),
        ObjectKind.LISTENERS: ngettext("%(n)s listener", "%(n)s listeners", number),
        ObjectKind.RATES: ngettext("%(n)s rate of an address", "%(n)s rates of addresses", number),
        ObjectKind.RULES: ngettext("%(n)s rule", "%(n)s rules", number),
        ObjectKind.PROFILE: ngettext("%(n)s kernel setting", "%(n)s kernel settings", number),
    }
    return texts[kind] % {"n": formats.format_number(number)}
