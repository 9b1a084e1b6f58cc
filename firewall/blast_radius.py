"""The blast radius of a change: how much service it takes away, and which part of it waits for a second person.

A part is elements by set: under a set's name those that would go, under that name behind a "+" those that would come and cut members
off (blocks, and bans that cover members). What waits is left as it runs; everything else goes out. Elements that end by themselves are
nobody's removal.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from firewall.diff import ElementChange
from firewall.digest import digest_elements, text
from firewall.port_span_elements import count_things
from firewall.ruleset import Element, Elements
from firewall.sets import Kind, beside, containing, kind_of, length_of, mirrored

Part: TypeAlias = Mapping[str, Elements]
Lost: TypeAlias = Mapping[str, Set[tuple[str, bytes]]]

COMING: Final = "+"
IPV4, IPV6 = "ipv4", "ipv6"  # access as such: members' addresses, or prefixes, whatever takes it away
HARMLESS: Final = frozenset({Kind.RATES, Kind.BLOCKS})  # nobody is cut off when they go
_ACCESS: Final = frozenset({Kind.ADDRESSES, Kind.PREFIXES, Kind.MAPPINGS, Kind.BLOCKS})
_IN_RANGES: Final = frozenset({Kind.FORWARDS.value, Kind.PINHOLES.value})


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
    """A part of one kind that takes service away: how many things it removes or cuts off, out of how many."""

    kind: Kind
    elements: Part = field(default_factory=dict)
    removed: int = 0
    of: int = 0

    @property
    def digest(self) -> str:
        """Stands for exactly these elements."""
        return text(digest_elements(self.elements))


def removals(changes: Mapping[str, ElementChange], sizes: Mapping[str, int], now: int) -> dict[Kind, Removal]:
    """What the changes remove for good, by kind; `sizes`: how many elements each set has before them."""
    gone: dict[Kind, dict[str, Elements]] = {}
    for name, (_, removed, added) in changes.items():
        kind = kind_of(mirrored(name))
        stays = added.keys() | _said_elsewhere(name, changes)
        moved = [changes[other].added for other in beside(name) if other in changes]
        lost = {key: element for key, element in removed.items() if not (key in stays or _in_any(key, moved) or 0 < element.expires <= now)}
        if kind and lost and kind not in HARMLESS:
            gone.setdefault(kind, {})[name] = lost
    return {kind: _removal(kind, elements, sizes) for kind, elements in gone.items()}


def _in_any(key: bytes, parts: Iterable[Elements]) -> bool:
    return any(key in part for part in parts)


def _said_elsewhere(name: str, changes: Mapping[str, ElementChange]) -> Set[bytes]:
    """Keys whose elements enter the set that says all that this one says: a ban that held one way and holds both now."""
    whole = containing(name)
    return changes[whole].added.keys() if whole in changes else frozenset()


def _removal(kind: Kind, elements: Part, sizes: Mapping[str, int]) -> Removal:
    count = sum(len(each) for name, each in elements.items() if kind_of(name))
    of = sum(size for name, size in sizes.items() if kind_of(name) is kind)
    return Removal(kind, elements, count, of)


# --- Who is cut off by what comes


def cutoffs(changes: Mapping[str, ElementChange], running: Part) -> Removal | None:
    """Blocks of members, and bans that cover members, which the changes add. None when nobody is cut off."""
    part: dict[str, Elements] = {}
    for name, (_, removed, added) in changes.items():
        if kind_of(name) not in (Kind.BLOCKS, Kind.BANS):
            continue
        new = {key: element for key, element in added.items() if key not in removed}
        if kind_of(name) is Kind.BANS:
            new = {key: new[key] for key in _covered(name, new.keys(), running) if not _banned(name, key, running)}
        if new:
            part[COMING + name] = new
    return Removal(Kind.BLOCKS, part, count_cut_off(part, running), count_served(running)) if part else None


def _banned(name: str, key: bytes, running: Part) -> bool:
    """Is the prefix banned already, in whichever direction?"""
    behind = name.partition("_")[2]
    version = 4 if len(key) == 4 else 6
    return any(key in running.get(f"{family}{version}_{behind}", {}) for family in ("bans", "bansin", "bansout"))


def _covered(name: str, bans: Collection[bytes], running: Part) -> dict[bytes, list[bytes]]:
    """The members' addresses and prefixes inside of banned prefixes, by ban; bans that cover nobody are left out."""
    length, octets, found = length_of(name), len(next(iter(bans), b"")), defaultdict[bytes, list[bytes]](list)
    for served, elements in running.items() if bans else ():
        if kind_of(served) is not (Kind.ADDRESSES if octets == 4 else Kind.PREFIXES) or (octets == 16 and length_of(served) < length):
            continue
        if 8 * octets == length:
            for key in bans:
                if key in elements:
                    found[key].append(key)
        else:
            _find_inside(bans, elements, length, found)
    return found


def _find_inside(bans: Iterable[bytes], elements: Elements, length: int, found: dict[bytes, list[bytes]]) -> None:
    """Most bans lie outside of all that members hold, which the first and the last of these tell at once."""
    whole, rest = divmod(length, 8)
    first, last = (_beginning(each, whole, rest) for each in (min(elements, default=b"\0" * 16), max(elements, default=b"\0" * 16)))
    begins = {start: key for key in bans if first <= (start := _beginning(key, whole, rest)) <= last}
    for each in elements if begins else ():
        if (ban := begins.get(_beginning(each, whole, rest))) is not None:
            found[ban].append(each)


def _beginning(key: bytes, whole: int, rest: int) -> bytes:
    """The octets and bits that a prefix tells apart: so many whole octets, and so many bits of the next."""
    return key[:whole] + bytes([key[whole] >> (8 - rest)]) if rest else key[:whole]


def count_cut_off(part: Part, running: Part) -> int:
    """How many members' blocks, and addresses inside of banned prefixes, come with the part."""
    blocks = {element.comment for name, each in part.items() if _kind(name) is Kind.BLOCKS for element in each.values()}
    covered = {served for name, each in part.items() if _kind(name) is Kind.BANS for served in _cut_off(name, each, running)}
    return len(blocks) + len(covered)


def _cut_off(name: str, bans: Elements, running: Part) -> Iterator[bytes]:
    return (served for each in _covered(name.removeprefix(COMING), bans.keys(), running).values() for served in each)


def _kind(name: str) -> Kind | None:
    return kind_of(name.removeprefix(COMING))


def count_served(running: Part) -> int:
    """About how many members are served: the more of addresses and prefixes."""
    return max(_size(IPV4, running), _size(IPV6, running))


# --- What adds up


def lost(part: Part, running: Part) -> Lost:
    """What is lost, by yardstick: access over IPv4 or IPv6 whatever takes it away, else the elements of a kind."""
    found: dict[str, set[tuple[str, bytes]]] = defaultdict(set)
    for name, elements in part.items():
        kind = _kind(name)
        if kind is None:
            continue
        if kind is Kind.BANS and name.startswith(COMING):
            covered = list(_cut_off(name, elements, running))
            found[_access(covered)] |= {("", key) for key in covered}
            continue
        if kind in _ACCESS:
            found[_access(elements)] |= {("", key) for key in elements}
        if kind not in _ACCESS or kind is Kind.MAPPINGS:
            found[kind.value] |= {(name, key) for key in elements}
    return found


def _access(keys: Collection[bytes]) -> str:
    return IPV4 if len(next(iter(keys), b"")) == 4 else IPV6


def _size(yardstick: str, running: Part) -> int:
    of = {IPV4: Kind.ADDRESSES.value, IPV6: Kind.PREFIXES.value}.get(yardstick, yardstick)
    return sum(len(elements) for name, elements in running.items() if kind_of(name) == of)


def exceeded(parts: Iterable[Part], running: Part, limits: Limits) -> set[str]:
    """The yardsticks by which the parts together are too much for one person, measured by what ran before any of them."""
    together = _together(parts)
    return {
        yardstick
        for yardstick, keys in lost(together, running).items()
        if limits.exceeded(len(keys), _size(yardstick, running) + _gone_already(yardstick, keys, running))
        and _things(yardstick, keys, together) >= limits.least
    }


def count_along(part: Part, others: Iterable[Part], running: Part) -> int:
    """How much of the same the other parts have taken away."""
    gone = lost(_together(others), running)
    return max((len(gone.get(yardstick, ())) for yardstick in lost(part, running)), default=0)


def _together(parts: Iterable[Part]) -> dict[str, Elements]:
    merged: dict[str, dict[bytes, Element]] = defaultdict(dict)
    for part in parts:
        for name, elements in part.items():
            merged[name] |= elements
    return dict(merged)


def _gone_already(yardstick: str, keys: Set[tuple[str, bytes]], running: Part) -> int:
    sets = {IPV4: "up4"}.get(yardstick)
    if yardstick == IPV6:
        served = [elements for name, elements in running.items() if kind_of(name) is Kind.PREFIXES]
        return sum(not _in_any(key, served) for _name, key in keys)
    return sum(key not in running.get(sets or name, {}) for name, key in keys)


def _things(yardstick: str, keys: Set[tuple[str, bytes]], together: Part) -> int:
    """Ports in a row are one thing."""
    return count_things({name: together[name] for name in {name for name, _key in keys}}) if yardstick in _IN_RANGES else len(keys)


def judge(found: Mapping[Kind, Removal], earlier: Iterable[Part], running: Part, limits: Limits) -> tuple[list[Removal], list[Removal]]:
    """The removals that wait, and those that go out. earlier: what went lately and nobody approved; small removals add up with it.

    The largest waits first: a single block does not wait because of sixty removals beside it.
    """
    free, before = dict(found), list(earlier)
    waiting: list[Removal] = []
    while True:
        over = exceeded([*before, *(removal.elements for removal in free.values())], running, limits)
        guilty = [removal for removal in free.values() if not over.isdisjoint(lost(removal.elements, running))]
        if not guilty:
            return waiting, list(free.values())
        largest = max(guilty, key=lambda removal: (removal.removed, removal.kind))
        waiting.append(free.pop(largest.kind))


def still_lost(part: Part, wanted: Part) -> Part:
    """What is left of the part without what is served again."""
    left: dict[str, Elements] = {}
    for name, elements in part.items():
        bare = name.removeprefix(COMING)
        there = [wanted[other] for other in (bare, *beside(bare)) if wanted.get(other)]
        rest = {key: element for key, element in elements.items() if _in_any(key, there) == (name != bare)}
        if rest:
            left[name] = rest
    return left


# --- What waits


def without(removal: Removal, known: Iterable[Part], running: Part = {}) -> Removal:  # noqa: B006 - never changed
    """The removal without elements that are in the `known` parts: those have been decided, or wait, on their own."""
    parts = list(known)
    left: dict[str, Elements] = {}
    for name, elements in removal.elements.items():
        rest = {key: element for key, element in elements.items() if not any(key in part.get(name, {}) for part in parts)}
        if rest:
            left[name] = rest
    coming = removal.kind is Kind.BLOCKS
    count = count_cut_off(left, running) if coming else sum(len(each) for name, each in left.items() if kind_of(name))
    return Removal(removal.kind, left, count, removal.of)


def kept(wanted: Part, waiting: Iterable[Part]) -> dict[str, Elements]:
    """The wanted elements, those whose removal waits unless something else has come in their place, and none whose coming waits."""
    merged: dict[str, Elements] = dict(wanted)
    for part in waiting:
        for name, elements in part.items():
            bare = name.removeprefix(COMING)
            if bare != name:
                merged[bare] = {key: element for key, element in merged.get(bare, {}).items() if key not in elements}
                continue
            elsewhere = [wanted[other] for other in beside(name) if wanted.get(other)]
            stays: dict[bytes, Element] = {key: element for key, element in elements.items() if not _in_any(key, elsewhere)}
            stays.update(merged.get(name, {}))
            merged[name] = stays
    return merged
