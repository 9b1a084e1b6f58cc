"""Summary of a delta, counted by the kinds of objects that people know."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from firewall import profile, shaper
from firewall.diff import Delta
from firewall.ruleset import Ruleset
from firewall.sets import ObjectKind, find_kind, list_alternative_sets


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """Numbers of one kind: how many objects are added, removed and changed, and how many there are afterwards."""

    kind: ObjectKind
    added: int
    removed: int
    changed: int
    of: int


def summarize(delta: Delta, after: Ruleset) -> tuple[SummaryLine, ...]:
    """Return a summary of the delta, one line for each kind it touches."""
    added, removed, changed = Counter[ObjectKind](), Counter[ObjectKind](), Counter[ObjectKind]()
    for name, (_, gone, come) in delta.elements.items():
        kind = find_kind(name)
        if kind:
            both = gone.keys() & come.keys() if gone else set()
            moved, arrived = _count_moved(delta, name)
            added[kind] += len(come) - len(both) - arrived
            removed[kind] += len(gone) - len(both) - moved
            changed[kind] += sum(gone[key] != come[key] for key in both) + moved
    for before, now in delta.chains.values():
        old, new = set(before.rules if before else ()), set(now.rules if now else ())
        added[ObjectKind.RULES] += len(new - old)
        removed[ObjectKind.RULES] += len(old - new)
    changed[ObjectKind.PROFILE] = count_kernel_changes(delta)
    totals = _count_totals(after)
    lines = (SummaryLine(kind, added[kind], removed[kind], changed[kind], totals[kind]) for kind in ObjectKind)
    return tuple(line for line in lines if line.added or line.removed or line.changed)


def count_kernel_changes(delta: Delta) -> int:
    """Return how many kernel settings the delta changes, those of the shaper included."""
    changed = profile.count_profile_changes(*delta.profile) if delta.profile else 0
    return changed + (shaper.count_shaper_changes(*delta.shaper) if delta.shaper else 0)


def _count_moved(delta: Delta, name: str) -> tuple[int, int]:
    """Return how many keys left the set for one beside it, and how many came from there: each of them has changed."""
    _, gone, come = delta.elements[name]
    others = [delta.elements[other] for other in list_alternative_sets(name) if other in delta.elements]
    moved = sum(len(gone.keys() & other.added.keys()) for other in others)
    return moved, sum(len(come.keys() & other.removed.keys()) for other in others)


def summarize_counts(added: Mapping[str, int], removed: Mapping[str, int], after: Ruleset, *, settings: int) -> tuple[SummaryLine, ...]:
    """Return a summary without rules, from numbers of elements by set and of changed kernel settings. A changed element counts as removed
    and added.
    """
    totals = _count_totals(after)
    lines = []
    for kind in ObjectKind:
        come, gone = (sum(number for name, number in counts.items() if find_kind(name) is kind) for counts in (added, removed))
        changed = settings if kind is ObjectKind.PROFILE else 0
        if come or gone or changed:
            lines.append(SummaryLine(kind, come, gone, changed, totals[kind]))
    return tuple(lines)


def _count_totals(ruleset: Ruleset) -> Counter[ObjectKind]:
    settings = profile.count_profile_changes(None, ruleset.profile) + shaper.count_shaper_changes(None, ruleset.shaper)
    totals = Counter({ObjectKind.RULES: ruleset.count_rules(), ObjectKind.PROFILE: settings})
    for name, elements in ruleset.elements.items():
        kind = find_kind(name)
        if kind:
            totals[kind] += len(elements)
    return totals
