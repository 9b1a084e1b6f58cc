"""Elements whose removal cannot wait for an approval, because the same changes give what they stand for to somebody else.

A forward, a pinhole or a mapping of an address that gets another holder would open that holder's host, or let it leave as somebody else.
A port of a public address is either a forward's or a listener's.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Final, TypeAlias

from firewall.diff import ElementChange
from firewall.displaced_mappings import find_displaced_mappings
from firewall.ruleset import Elements
from firewall.sets import ObjectKind, find_kind, get_original_set, parse_prefix_length, split_set_name

_LEAD_INSIDE: Final = frozenset({ObjectKind.MAPPINGS, ObjectKind.FORWARDS, ObjectKind.PINHOLES})
_HOLDERS: Final = ("up4", "up6")
_FORWARDS: Final = frozenset({"forward4"})
_LISTENERS: Final = frozenset({"listener4", "guard4"})
_HOSTS: Final = frozenset({"listener4_hosts"})

KeysByLength: TypeAlias = Mapping[int, Set[bytes]]


def find_displaced_elements(removed: Mapping[str, Elements], changes: Mapping[str, ElementChange]) -> Mapping[str, Elements]:
    """Return the part of what the changes remove that cannot wait, with the elements that repeat it. The cost grows with the changes."""
    return _merge_parts(
        [find_displaced_mappings(removed, changes), _find_of_new_holders(removed, changes), _find_of_taken_ports(removed, changes)]
    )


def _find_of_new_holders(removed: Mapping[str, Elements], changes: Mapping[str, ElementChange]) -> dict[str, Elements]:
    """Return the removed elements that lead to, or let out, an address that gets a holder: its first, or another one."""
    inside = {name: elements for name, elements in removed.items() if find_kind(get_original_set(name)) in _LEAD_INSIDE}
    new = _collect_new_holdings(changes) if inside else {}
    return {
        name: {
            key: element for key, element in elements.items() if new and _covers(new, element.value[:4] if name == "forward4" else key[:16])
        }
        for name, elements in inside.items()
    }


def _collect_new_holdings(changes: Mapping[str, ElementChange]) -> KeysByLength:
    """Return the addresses and prefixes that get a holder, by length in bits of what is compared; IPv4 addresses have 32."""
    found = defaultdict[int, set[bytes]](set)
    for name, (_, removed, added) in changes.items():
        if split_set_name(name)[0] in _HOLDERS:
            length = 32 if name == "up4" else parse_prefix_length(name)
            found[length] |= {key for key, element in added.items() if removed.get(key) != element}
    return found


def _covers(holdings: KeysByLength, address: bytes) -> bool:
    """True if the address is, or is in, one of these: IPv4 addresses have 4 octets, prefixes 16."""
    return any(_cut_to_length(address, length) in keys for length, keys in holdings.items())


def _cut_to_length(address: bytes, length: int) -> bytes:
    away = max(0, 8 * len(address) - length)
    return (int.from_bytes(address) >> away << away).to_bytes(len(address))


def _find_of_taken_ports(removed: Mapping[str, Elements], changes: Mapping[str, ElementChange]) -> dict[str, Elements]:
    """Return the removed forwards where a listener comes, and the removed listeners where a forward comes, with hosts left without one."""
    forwards, listeners = _keep_sets(removed, _FORWARDS), _keep_sets(removed, _LISTENERS)
    displaced = _keep_keys(listeners, _collect_added_keys(changes, _FORWARDS) if listeners else set())
    waiting = {key[:4] for name, elements in listeners.items() for key in elements if key not in displaced[name]}
    without = {key[:4] for elements in displaced.values() for key in elements} - waiting
    displaced |= _keep_keys(forwards, _collect_added_keys(changes, _LISTENERS) if forwards else set())
    return displaced | _keep_keys(_keep_sets(removed, _HOSTS), without)


def _keep_keys(parts: Mapping[str, Elements], keys: Set[bytes]) -> dict[str, Elements]:
    return {name: {key: element for key, element in elements.items() if key in keys} for name, elements in parts.items()}


def _keep_sets(parts: Mapping[str, Elements], families: Set[str]) -> dict[str, Elements]:
    return {name: elements for name, elements in parts.items() if split_set_name(name)[0] in families}


def _collect_added_keys(changes: Mapping[str, ElementChange], families: Set[str]) -> set[bytes]:
    """Return the keys that come into sets of these families, without those that were there already."""
    return {
        key for name, (_, removed, added) in changes.items() if split_set_name(name)[0] in families for key in added if key not in removed
    }


def _merge_parts(parts: Iterable[Mapping[str, Elements]]) -> dict[str, Elements]:
    merged: dict[str, Elements] = {}
    for name, elements in _iter_filled(parts):
        merged[name] = {**merged.get(name, {}), **elements}
    return merged


def _iter_filled(parts: Iterable[Mapping[str, Elements]]) -> Iterator[tuple[str, Elements]]:
    return ((name, elements) for part in parts for name, elements in part.items() if elements)
