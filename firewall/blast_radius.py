"""The blast radius of a change: how much service it takes away, and which part of it waits for a second person.

A part is elements by set: under a set's name those that would go, under that name behind a "+" those that would come and cut
members off (blocks, and bans that cover members). A part that waits stays as it runs; everything else goes out. Elements that end
by themselves do not count as removed.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from firewall.diff import ElementChange
from firewall.digest import digest_elements, format_digest
from firewall.displaced_elements import find_displaced_elements
from firewall.port_span_elements import count_element_objects
from firewall.ruleset import Element, Elements
from firewall.sets import (
    ObjectKind,
    find_covering_set,
    find_kind,
    get_original_set,
    list_alternative_sets,
    parse_prefix_length,
    split_set_name,
)

ChangePart: TypeAlias = Mapping[str, Elements]
LossesByYardstick: TypeAlias = Mapping[str, Set[tuple[str, bytes]]]

ADDITION_PREFIX: Final = "+"
IPV4, IPV6 = "ipv4", "ipv6"  # yardsticks for access as such: members' addresses, or prefixes, whatever takes it away
HARMLESS: Final = frozenset({ObjectKind.RATES, ObjectKind.BLOCKS})  # their removal cuts no member off
_ACCESS: Final = frozenset({ObjectKind.ADDRESSES, ObjectKind.PREFIXES, ObjectKind.MAPPINGS, ObjectKind.BLOCKS})
_IN_RANGES: Final = frozenset({ObjectKind.FORWARDS.value, ObjectKind.PINHOLES.value})


@dataclass(frozen=True, slots=True)
class RemovalLimits:
    """Limits for removals: they wait when they are more than `share` percent of their kind and at least `least`."""

    share: int = 20
    least: int = 10

    def is_exceeded(self, removed: int, of: int) -> bool:
        """True if `removed` out of `of` are too many for one person to remove."""
        return removed >= self.least and removed * 100 > self.share * of


@dataclass(frozen=True, slots=True)
class ServiceRemoval:
    """A part of one kind that takes service away: how many objects it removes or cuts off, out of how many.

    displaced: those of its elements that cannot wait (firewall/displaced_elements.py).
    """

    kind: ObjectKind
    elements: ChangePart = field(default_factory=dict)
    removed: int = 0
    of: int = 0
    displaced: ChangePart = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Digest of exactly these elements."""
        return format_digest(digest_elements(self.elements))


def compute_removals(changes: Mapping[str, ElementChange], sizes: Mapping[str, int], now: int) -> dict[ObjectKind, ServiceRemoval]:
    """Return what the changes remove for good, by kind, without harmless kinds. sizes: each set's number of elements before them."""
    gone: dict[ObjectKind, dict[str, Elements]] = {}
    for name, (_, removed, added) in changes.items():
        kind = find_kind(get_original_set(name))
        stays = added.keys() | _list_superseded_keys(name, changes)
        moved = [changes[other].added for other in list_alternative_sets(name) if other in changes]
        lost = {
            key: element for key, element in removed.items() if not (key in stays or _is_in_any(key, moved) or 0 < element.expires <= now)
        }
        if kind and lost and kind not in HARMLESS:
            gone.setdefault(kind, {})[name] = lost
    return {kind: _build_removal(kind, elements, sizes, changes) for kind, elements in gone.items()}


def _is_in_any(key: bytes, parts: Iterable[Elements]) -> bool:
    return any(key in part for part in parts)


def _list_superseded_keys(name: str, changes: Mapping[str, ElementChange]) -> Set[bytes]:
    """Return the keys that enter the wider set (`find_covering_set`): those of bans that held one way and hold both now."""
    whole = find_covering_set(name)
    return changes[whole].added.keys() if whole in changes else frozenset()


def _build_removal(
    kind: ObjectKind, elements: ChangePart, sizes: Mapping[str, int], changes: Mapping[str, ElementChange]
) -> ServiceRemoval:
    count = sum(len(each) for name, each in elements.items() if find_kind(name))
    of = sum(size for name, size in sizes.items() if find_kind(name) is kind)
    return ServiceRemoval(kind, elements, count, of, find_displaced_elements(elements, changes))


# --- Members cut off by what comes


def find_cutoffs(changes: Mapping[str, ElementChange], running: ChangePart) -> ServiceRemoval | None:
    """Return the blocks of members, and the bans that cover members, that the changes add. None when no member is cut off."""
    part: dict[str, Elements] = {}
    for name, (_, removed, added) in changes.items():
        if find_kind(name) not in (ObjectKind.BLOCKS, ObjectKind.BANS):
            continue
        new = {key: element for key, element in added.items() if key not in removed}
        if find_kind(name) is ObjectKind.BANS:
            new = {key: new[key] for key in _group_covered_by_ban(name, new.keys(), running) if not _is_banned(name, key, running)}
        if new:
            part[ADDITION_PREFIX + name] = new
    return ServiceRemoval(ObjectKind.BLOCKS, part, count_cut_off(part, running), count_served(running)) if part else None


def _is_banned(name: str, key: bytes, running: ChangePart) -> bool:
    """True if the prefix is banned already, in whichever direction."""
    length = split_set_name(name)[1]
    version = 4 if len(key) == 4 else 6
    return any(key in running.get(f"{family}{version}_{length}", {}) for family in ("bans", "bans_in", "bans_out"))


def _group_covered_by_ban(name: str, bans: Collection[bytes], running: ChangePart) -> dict[bytes, list[bytes]]:
    """Return the members' addresses and prefixes inside banned prefixes, by ban, without bans that cover no member."""
    length, octets, found = parse_prefix_length(name), len(next(iter(bans), b"")), defaultdict[bytes, list[bytes]](list)
    for served, elements in running.items() if bans else ():
        if find_kind(served) is not (ObjectKind.ADDRESSES if octets == 4 else ObjectKind.PREFIXES) or (
            octets == 16 and parse_prefix_length(served) < length
        ):
            continue
        if 8 * octets == length:
            for key in bans:
                if key in elements:
                    found[key].append(key)
        else:
            _collect_inside(bans, elements, length, found)
    return found


def _collect_inside(bans: Iterable[bytes], elements: Elements, length: int, found: dict[bytes, list[bytes]]) -> None:
    """Add the elements inside each ban to `found`.

    Most bans lie outside all that members hold; a comparison with the first and the last held key shows that at once.
    """
    whole, rest = divmod(length, 8)
    first, last = (_get_leading_bits(each, whole, rest) for each in (min(elements, default=b"\0" * 16), max(elements, default=b"\0" * 16)))
    begins = {start: key for key in bans if first <= (start := _get_leading_bits(key, whole, rest)) <= last}
    for each in elements if begins else ():
        if (ban := begins.get(_get_leading_bits(each, whole, rest))) is not None:
            found[ban].append(each)


def _get_leading_bits(key: bytes, whole: int, rest: int) -> bytes:
    """Return the octets and bits by which a prefix is compared: so many whole octets, and so many bits of the next."""
    return key[:whole] + bytes([key[whole] >> (8 - rest)]) if rest else key[:whole]


def count_cut_off(part: ChangePart, running: ChangePart) -> int:
    """Return the number of members' blocks, and of addresses inside banned prefixes, that come with the part."""
    blocks = {element.comment for name, each in part.items() if _find_kind(name) is ObjectKind.BLOCKS for element in each.values()}
    covered = {
        served for name, each in part.items() if _find_kind(name) is ObjectKind.BANS for served in _iter_cut_off(name, each, running)
    }
    return len(blocks) + len(covered)


def _iter_cut_off(name: str, bans: Elements, running: ChangePart) -> Iterator[bytes]:
    return (served for each in _group_covered_by_ban(name.removeprefix(ADDITION_PREFIX), bans.keys(), running).values() for served in each)


def _find_kind(name: str) -> ObjectKind | None:
    return find_kind(name.removeprefix(ADDITION_PREFIX))


def count_served(running: ChangePart) -> int:
    """Return about how many members are served: the number of addresses or that of prefixes, whichever is larger."""
    return max(_count_running(IPV4, running), _count_running(IPV6, running))


# --- Losses that add up


def compute_losses(part: ChangePart, running: ChangePart) -> LossesByYardstick:
    """Return what is lost, by yardstick: access over IPv4 or IPv6 whatever takes it away, and elements by kind."""
    found: dict[str, set[tuple[str, bytes]]] = defaultdict(set)
    for name, elements in part.items():
        kind = _find_kind(name)
        if kind is None:
            continue
        if kind is ObjectKind.BANS and name.startswith(ADDITION_PREFIX):
            covered = list(_iter_cut_off(name, elements, running))
            found[_get_access_yardstick(covered)] |= {("", key) for key in covered}
            continue
        if kind in _ACCESS:
            found[_get_access_yardstick(elements)] |= {("", key) for key in elements}
        if kind not in _ACCESS or kind is ObjectKind.MAPPINGS:
            found[kind.value] |= {(name, key) for key in elements}
    return found


def _get_access_yardstick(keys: Collection[bytes]) -> str:
    return IPV4 if len(next(iter(keys), b"")) == 4 else IPV6


def _count_running(yardstick: str, running: ChangePart) -> int:
    of = {IPV4: ObjectKind.ADDRESSES.value, IPV6: ObjectKind.PREFIXES.value}.get(yardstick, yardstick)
    return sum(len(elements) for name, elements in running.items() if find_kind(name) == of)


def list_exceeded(parts: Iterable[ChangePart], running: ChangePart, limits: RemovalLimits) -> set[str]:
    """Return the yardsticks by which the parts together are too much for one person, measured by what ran before any of them."""
    together = _merge_parts(parts)
    return {
        yardstick
        for yardstick, keys in compute_losses(together, running).items()
        if limits.is_exceeded(len(keys), _count_running(yardstick, running) + _count_already_gone(yardstick, keys, running))
        and _count_lost_things(yardstick, keys, together) >= limits.least
    }


def count_removed_by_other_parts(part: ChangePart, others: Iterable[ChangePart], running: ChangePart) -> int:
    """Return how much of the same the other parts have taken away."""
    gone = compute_losses(_merge_parts(others), running)
    return max((len(gone.get(yardstick, ())) for yardstick in compute_losses(part, running)), default=0)


def _merge_parts(parts: Iterable[ChangePart]) -> dict[str, Elements]:
    merged: dict[str, dict[bytes, Element]] = defaultdict(dict)
    for part in parts:
        for name, elements in part.items():
            merged[name] |= elements
    return dict(merged)


def _count_already_gone(yardstick: str, keys: Set[tuple[str, bytes]], running: ChangePart) -> int:
    sets = {IPV4: "up4"}.get(yardstick)
    if yardstick == IPV6:
        served = [elements for name, elements in running.items() if find_kind(name) is ObjectKind.PREFIXES]
        return sum(not _is_in_any(key, served) for _name, key in keys)
    return sum(key not in running.get(sets or name, {}) for name, key in keys)


def _count_lost_things(yardstick: str, keys: Set[tuple[str, bytes]], together: ChangePart) -> int:
    """Return the number of lost objects; ports in a row are one."""
    return count_element_objects({name: together[name] for name in {name for name, _key in keys}}) if yardstick in _IN_RANGES else len(keys)


def split_removals(
    found: Mapping[ObjectKind, ServiceRemoval], earlier: Iterable[ChangePart], running: ChangePart, limits: RemovalLimits
) -> tuple[list[ServiceRemoval], list[ServiceRemoval]]:
    """Return the removals that wait, and those that go out. earlier: recent removals without an approval; small removals add up with them.

    The largest waits first, so that a single block does not wait because of sixty removals beside it.
    """
    free, before = dict(found), list(earlier)
    waiting: list[ServiceRemoval] = []
    while True:
        over = list_exceeded([*before, *(removal.elements for removal in free.values())], running, limits)
        guilty = [removal for removal in free.values() if not over.isdisjoint(compute_losses(removal.elements, running))]
        if not guilty:
            return waiting, list(free.values())
        largest = max(guilty, key=lambda removal: (removal.removed, removal.kind))
        waiting.append(free.pop(largest.kind))


def filter_still_lost(part: ChangePart, wanted: ChangePart) -> ChangePart:
    """Return the part without what is served again."""
    left: dict[str, Elements] = {}
    for name, elements in part.items():
        bare = name.removeprefix(ADDITION_PREFIX)
        there = [wanted[other] for other in (bare, *list_alternative_sets(bare)) if wanted.get(other)]
        rest = {key: element for key, element in elements.items() if _is_in_any(key, there) == (name != bare)}
        if rest:
            left[name] = rest
    return left


# --- Parts that wait


def subtract_known(removal: ServiceRemoval, known: Iterable[ChangePart], running: ChangePart = {}) -> ServiceRemoval:  # noqa: B006 - never changed
    """Return the removal without elements of the `known` parts: those were decided, or wait, on their own."""
    parts = list(known)
    left: dict[str, Elements] = {}
    for name, elements in removal.elements.items():
        rest = {key: element for key, element in elements.items() if not any(key in part.get(name, {}) for part in parts)}
        if rest:
            left[name] = rest
    coming = removal.kind is ObjectKind.BLOCKS
    count = count_cut_off(left, running) if coming else sum(len(each) for name, each in left.items() if find_kind(name))
    return ServiceRemoval(removal.kind, left, count, removal.of)


def hold_back_parts(wanted: ChangePart, waiting: Iterable[ChangePart]) -> dict[str, Elements]:
    """Return the wanted elements, as far as nothing waits.

    Elements whose removal waits stay, unless something else has come in their place; elements whose addition waits are left out.
    """
    merged: dict[str, Elements] = dict(wanted)
    for part in waiting:
        for name, elements in part.items():
            bare = name.removeprefix(ADDITION_PREFIX)
            if bare != name:
                merged[bare] = {key: element for key, element in merged.get(bare, {}).items() if key not in elements}
                continue
            elsewhere = [wanted[other] for other in list_alternative_sets(name) if wanted.get(other)]
            stays: dict[bytes, Element] = {key: element for key, element in elements.items() if not _is_in_any(key, elsewhere)}
            stays.update(merged.get(name, {}))
            merged[name] = stays
    return merged
