"""What a rollout changes, in words."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.lib.ui import formats
from firewall.sets import Kind
from firewall.summary import Line


def lines_of(changes: Iterable[dict[str, Any]]) -> tuple[Line, ...]:
    """The lines that a revision keeps, one per kind it touches."""
    return tuple(Line(**{**each, "kind": Kind(each["kind"])}) for each in changes)


def kind_words(kind: Kind) -> str:
    """What the things of a kind are called: the head of a row."""
    texts = {
        Kind.ADDRESSES: _("Addresses"),
        Kind.PREFIXES: _("IPv6 prefixes"),
        Kind.MAPPINGS: _("NAT mappings"),
        Kind.FORWARDS: _("Port forwards"),
        Kind.PINHOLES: _("IPv6 pinholes"),
        Kind.BANS: _("Bans"),
        Kind.ALLOWED: _("Allow list"),
        Kind.BLOCKS: _("Blocked addresses"),
        Kind.LISTENERS: _("Listeners"),
        Kind.RATES: _("Rate limits"),
        Kind.RULES: _("Rules"),
        Kind.PROFILE: _("Kernel settings"),
    }
    return texts[kind]


def share(line: Line) -> float:
    """How much of its kind a line touches, in percent of what there is or was, whichever is more."""
    touched, most = line.added + line.removed + line.changed, max(line.of, line.of - line.added + line.removed)
    return min(100.0, 100 * touched / most) if most else 0.0


def in_words(lines: Iterable[Line], *, rules: int = 0) -> str:
    """Such as “3 forwarded ports added, 1 removed; 2 bans added”."""
    parts = [_line(line) for line in lines if line.kind != Kind.RULES or not rules]
    if rules:
        parts.append(ngettext("%(n)d chain written anew", "%(n)d chains written anew", rules) % {"n": rules})
    return "; ".join(parts) or _("nothing changes")


def _line(line: Line) -> str:
    return ", ".join(_numbers(line))


def _numbers(line: Line) -> Iterator[str]:
    named = False
    for number, what in ((line.added, _("added")), (line.removed, _("removed")), (line.changed, _("changed"))):
        if number:
            yield f"{number} {what}" if named else f"{things(line.kind, number)} {what}"
            named = True


def things(kind: Kind, number: int) -> str:
    """Such as “2,418 NAT mappings”."""
    texts = {
        Kind.ADDRESSES: ngettext("%(n)s address", "%(n)s addresses", number),
        Kind.PREFIXES: ngettext("%(n)s IPv6 prefix", "%(n)s IPv6 prefixes", number),
        Kind.MAPPINGS: ngettext("%(n)s NAT mapping", "%(n)s NAT mappings", number),
        Kind.FORWARDS: ngettext("%(n)s forwarded port", "%(n)s forwarded ports", number),
        Kind.PINHOLES: ngettext("%(n)s IPv6 pinhole", "%(n)s IPv6 pinholes", number),
        Kind.BANS: ngettext("%(n)s ban", "%(n)s bans", number),
        Kind.ALLOWED: ngettext("%(n)s allow entry", "%(n)s allow entries", number),
        Kind.BLOCKS: ngettext("%(n)s blocked address", "%(n)s blocked addresses", number),
        Kind.LISTENERS: ngettext("%(n)s listener", "%(n)s listeners", number),
        Kind.RATES: ngettext("%(n)s rate of an address", "%(n)s rates of addresses", number),
        Kind.RULES: ngettext("%(n)s rule", "%(n)s rules", number),
        Kind.PROFILE: ngettext("%(n)s kernel setting", "%(n)s kernel settings", number),
    }
    return texts[kind] % {"n": formats.number(number)}
