"""Parses the nft text stored with a revision, for the page: additions and removals, by set and chain.

For display only: nothing that is deployed is read from it. The text may be truncated anywhere, and quotes may contain any character.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from firewall.sets import find_kind, split_set_name

_STATEMENT = re.compile(r"(add|delete|flush) (element|rule|set|map|chain|counter) inet netzwart (\S+)(?: (.*))?")
_SETTING = re.compile(r"# (net\.[a-z0-9_.]+(?: =|:) .*)")
_ELEMENT = re.compile(r'((?:[^,"{}]|"[^"]*")+)(?:,|\s*\}|$)')
_COMMENT = re.compile(r' comment "([^"]*)"')

SETTINGS = ("kernel", "settings")  # kind and name of the group for a kernel profile

type DeltaRow = tuple[str, str, str]


@dataclass
class DeltaGroup:
    """Changes of a set or chain: its name, its rows of (sign, element, comment), and the numbers of additions and removals."""

    kind: str
    name: str
    rows: list[DeltaRow] = field(default_factory=list)
    anew: bool = False
    counts: tuple[int, int] | None = None  # if only some rows are included

    @property
    def added_count(self) -> int:
        return self.counts[0] if self.counts else sum(sign == "+" for sign, _element, _comment in self.rows)

    @property
    def removed_count(self) -> int:
        return self.counts[1] if self.counts else len(self.rows) - self.added_count

    @property
    def title(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def note(self) -> str:
        if self.kind == "chain" and not self.counts:
            rules = ngettext("%(n)d rule", "%(n)d rules", self.added_count) % {"n": self.added_count}
            return _("%(rules)s, rewritten") % {"rules": rules} if self.added_count else _("removed")
        counts = [f"+{self.added_count}" if self.added_count else "", f"\u2212{self.removed_count}" if self.removed_count else ""]
        return " ".join(filter(None, [*counts, _("new") if self.anew else ""]))


@dataclass(frozen=True)
class DeltaExcerpt:
    """Beginning of a delta: groups of (title, note, rows), the number of all rows and of those shown."""

    groups: list[tuple[str, str, list[DeltaRow]]]
    total: int
    shown: int


def build_excerpt(text: str, most: int) -> DeltaExcerpt:
    """Return at most `most` rows of each group: elements, then sets that repeat others, then rules. The notes count all rows."""
    groups = sorted(
        (group for group in parse_delta(text) if group.rows), key=lambda group: (group.kind == "chain", find_kind(group.name) is None)
    )
    cut = [(group.title, _build_note(group, most), group.rows[:most]) for group in groups]
    return DeltaExcerpt(cut, sum(len(group.rows) for group in groups), sum(len(rows) for _title, _words, rows in cut))


def _build_note(group: DeltaGroup, most: int) -> str:
    return render_delta_group_note(group, min(most, len(group.rows)), len(group.rows))


def render_delta_group_note(group: DeltaGroup, here: int, total: int) -> str:
    """Return the group's note; if not all rows are shown, with the number of those that are."""
    return group.note if here == total else _("%(note)s, first %(n)d shown") % {"note": group.note, "n": here}


def parse_delta(text: str) -> list[DeltaGroup]:
    """Return every set and chain that the text touches, in its order."""
    groups: dict[tuple[bool, str], DeltaGroup] = {}
    for line in text.splitlines():
        statement = _STATEMENT.fullmatch(line)
        if setting := _SETTING.fullmatch(line):
            groups.setdefault((False, SETTINGS[1]), DeltaGroup(*SETTINGS)).rows.append(("+", setting[1], ""))
        if statement and statement[2] != "counter":
            verb, what, name, rest = statement.groups(default="")
            group = groups.setdefault((what in ("chain", "rule"), name), DeltaGroup("chain" if what in ("chain", "rule") else "set", name))
            _add_statement(group, verb, what, rest)
    return list(groups.values())


def _add_statement(group: DeltaGroup, verb: str, what: str, rest: str) -> None:
    sign = "+" if verb == "add" else "\u2212"
    if what == "element":
        group.rows.extend(build_delta_row(sign, group.name, element) for element in _iter_elements(rest))
    elif what == "rule":
        group.rows.append((sign, *_split_comment(rest)))
    else:
        group.anew |= verb == "add"
    if what == "map" or (what == "element" and group.rows and " : " in group.rows[-1][1]):
        group.kind = "map"


def _iter_elements(braced: str) -> Iterator[str]:
    return (found[1].strip() for found in _ELEMENT.finditer(braced.removeprefix("{")) if found[1].strip())


def build_delta_row(sign: str, name: str, element: str) -> DeltaRow:
    """Build a row from an element of the set `name` in nft's notation, or from a rule of a chain."""
    return (sign, *_split_comment(_add_length(name, element)))


def _add_length(name: str, element: str) -> str:
    """Add the prefix length, which sets of prefixes have in their name instead of their elements: bans4_24 { 203.0.113.0 }."""
    length = split_set_name(name)[1]
    if not length or length in ("32", "128"):
        return element
    prefix, space, rest = element.partition(" ")
    return f"{prefix}/{length}{space}{rest}"


def _split_comment(element: str) -> tuple[str, str]:
    """Split into the element without its comment, and the comment."""
    comment = _COMMENT.search(element)
    return (_COMMENT.sub("", element), comment[1]) if comment else (element, "")
