"""What a delta means, counted by the kinds of things that people know."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from firewall.diff import Delta
from firewall.ruleset import Ruleset


class Kind(StrEnum):
    """Kinds of things in a ruleset, by what people call them."""

    ADDRESSES = "addresses"
    PREFIXES = "prefixes"
    MAPPINGS = "mappings"
    FORWARDS = "forwards"
    BANS = "bans"
    RULES = "rules"


@dataclass(frozen=True, slots=True)
class Line:
    """How many of one kind are added, removed and changed, and how many there are afterwards."""

    kind: Kind
    added: int
    removed: int
    changed: int
    of: int


_STARTS = {"up4": Kind.ADDRESSES, "up6": Kind.PREFIXES, "snat": Kind.MAPPINGS, "fwd": Kind.FORWARDS, "bans": Kind.BANS}


def kind_of(name: str) -> Kind | None:
    """The kind of a set's elements; None for a set that repeats another (each member stands in an `up` and a `down`)."""
    return next((kind for start, kind in _STARTS.items() if name.startswith(start)), None)


def summarise(delta: Delta, after: Ruleset) -> tuple[Line, ...]:
    """What the delta does, one line per kind it touches."""
    added, removed, changed = Counter[Kind](), Counter[Kind](), Counter[Kind]()
    for name, (_, gone, come) in delta.elements.items():
        kind = kind_of(name)
        if kind:
            both = gone.keys() & come.keys() if gone else set()
            added[kind] += len(come) - len(both)
            removed[kind] += len(gone) - len(both)
            changed[kind] += sum(gone[key] != come[key] for key in both)
    for before, now in delta.chains.values():
        old, new = set(before.rules if before else ()), set(now.rules if now else ())
        added[Kind.RULES] += len(new - old)
        removed[Kind.RULES] += len(old - new)
    totals = _totals(after)
    lines = (Line(kind, added[kind], removed[kind], changed[kind], totals[kind]) for kind in Kind)
    return tuple(line for line in lines if line.added or line.removed or line.changed)


def summarise_counts(added: Mapping[str, int], removed: Mapping[str, int], after: Ruleset) -> tuple[Line, ...]:
    """The same from numbers of elements by set; what changed counts as removed and added."""
    totals = _totals(after)
    lines = []
    for kind in Kind:
        come, gone = (sum(number for name, number in counts.items() if kind_of(name) is kind) for counts in (added, removed))
        if come or gone:
            lines.append(Line(kind, come, gone, 0, totals[kind]))
    return tuple(lines)


def _totals(ruleset: Ruleset) -> Counter[Kind]:
    totals = Counter({Kind.RULES: ruleset.count_rules()})
    for name, elements in ruleset.elements.items():
        kind = kind_of(name)
        if kind:
            totals[kind] += len(elements)
    return totals
