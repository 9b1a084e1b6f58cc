"""The blast radius of a change: how much of each kind it removes, and which part of it waits for a second person.

What waits is left as it runs; everything else goes out. Elements that end by themselves are nobody's removal.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

from firewall.diff import ElementChange
from firewall.digest import digest_elements, text
from firewall.ruleset import Element, Elements
from firewall.sets import Kind, beside, containing, kind_of, mirrored


@dataclass(frozen=True, slots=True)
class Limits:
    """Removals wait when they are more than `share` percent of their kind and at least `least`."""

    share: int = 20
    least: int = 10

    def exceeded(self, removed: int, of: int) -> bool:
        """Are `removed` out of `of` too many for one person?"""
        return removed >= self.least and removed * 100 > self.share * of


@dataclass(frozen=True, slots=True)
class Removal:
    """Elements of one kind that would go: by set; how many things they are, out of how many."""

    kind: Kind
    elements: Mapping[str, Elements] = field(default_factory=dict)
    removed: int = 0
    of: int = 0

    @property
    def digest(self) -> str:
        """Stands for exactly these elements."""
        return text(digest_elements(self.elements))


def removals(changes: Mapping[str, ElementChange], sizes: Mapping[str, int], now: int) -> dict[Kind, Removal]:
    """What the changes remove for good, by kind; `sizes`: how many elements each set has before them. Rates cut nobody off when they go."""
    gone: dict[Kind, dict[str, Elements]] = {}
    for name, (_, removed, added) in changes.items():
        kind = kind_of(mirrored(name))
        stays = added.keys() | _said_elsewhere(name, changes)
        moved = [changes[other].added for other in beside(name) if other in changes]
        lost = {key: element for key, element in removed.items() if not (key in stays or _in_any(key, moved) or 0 < element.expires <= now)}
        if kind and lost and kind is not Kind.RATES:
            gone.setdefault(kind, {})[name] = lost
    return {kind: _removal(kind, elements, sizes) for kind, elements in gone.items()}


def _in_any(key: bytes, parts: Iterable[Elements]) -> bool:
    return any(key in part for part in parts)


def _said_elsewhere(name: str, changes: Mapping[str, ElementChange]) -> Set[bytes]:
    """Keys whose elements enter the set that says all that this one says: a ban that held one way and holds both now."""
    whole = containing(name)
    return changes[whole].added.keys() if whole in changes else frozenset()


def _removal(kind: Kind, elements: Mapping[str, Elements], sizes: Mapping[str, int]) -> Removal:
    count = sum(len(each) for name, each in elements.items() if kind_of(name))
    of = sum(size for name, size in sizes.items() if kind_of(name) is kind)
    return Removal(kind, elements, count, of)


def without(removal: Removal, known: Iterable[Mapping[str, Elements]]) -> Removal:
    """The removal without elements that are in the `known` parts: those have been decided, or wait, on their own."""
    parts = list(known)
    left: dict[str, Elements] = {}
    for name, elements in removal.elements.items():
        rest = {key: element for key, element in elements.items() if not any(key in part.get(name, {}) for part in parts)}
        if rest:
            left[name] = rest
    return Removal(removal.kind, left, sum(len(each) for name, each in left.items() if kind_of(name)), removal.of)


def kept(wanted: Mapping[str, Elements], waiting: Iterable[Mapping[str, Elements]]) -> dict[str, Elements]:
    """The wanted elements, and those whose removal waits, unless something else has come in their place."""
    merged: dict[str, Elements] = dict(wanted)
    for part in waiting:
        for name, elements in part.items():
            elsewhere = [wanted[other] for other in beside(name) if wanted.get(other)]
            stays: dict[bytes, Element] = {key: element for key, element in elements.items() if not _in_any(key, elsewhere)}
            stays.update(merged.get(name, {}))
            merged[name] = stays
    return merged
