"""What a rollout changes, in words."""

from collections.abc import Iterable, Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from firewall.summary import Kind, Line


def in_words(lines: Iterable[Line], *, rules: int = 0) -> str:
    """Such as “3 port forwards added, 1 removed; 2 bans added”."""
    parts = [_line(line) for line in lines if line.kind != Kind.RULES]
    if rules:
        parts.append(ngettext("%(n)d chain written anew", "%(n)d chains written anew", rules) % {"n": rules})
    return "; ".join(parts) or _("nothing changes")


def _line(line: Line) -> str:
    return ", ".join(_numbers(line))


def _numbers(line: Line) -> Iterator[str]:
    named = False
    for number, what in ((line.added, _("added")), (line.removed, _("removed")), (line.changed, _("changed"))):
        if number:
            yield f"{number} {what}" if named else f"{_things(line.kind, number)} {what}"
            named = True


def _things(kind: Kind, number: int) -> str:
    texts = {
        Kind.ADDRESSES: ngettext("%(n)d address", "%(n)d addresses", number),
        Kind.PREFIXES: ngettext("%(n)d IPv6 prefix", "%(n)d IPv6 prefixes", number),
        Kind.MAPPINGS: ngettext("%(n)d NAT mapping", "%(n)d NAT mappings", number),
        Kind.FORWARDS: ngettext("%(n)d port forward", "%(n)d port forwards", number),
        Kind.BANS: ngettext("%(n)d ban", "%(n)d bans", number),
        Kind.RULES: ngettext("%(n)d rule", "%(n)d rules", number),
    }
    return texts[kind] % {"n": number}
