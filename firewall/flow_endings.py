"""Reduces deltas to what ends connections after the confirmation (firewall/flows.py), so that it can be stored beside it.

Members and mappings that only come end none, and there may be a hundred thousand of them. The same for a change that is taken back.
"""

from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import replace

from firewall.diff import Delta, ElementChange
from firewall.ruleset import Ruleset
from firewall.sets import split_set_name

_SANCTIONS = ("bans4", "bans6", "bans_in4", "bans_in6", "bans_out4", "bans_out6", "allowed4", "allowed6", "blocked4", "blocked6")
_HOLDERS = ("up4", "down4", "up6", "down6")
_PINHOLES = ("pinhole6", "pinhole_protocol6", "pinhole_host6")
_SERVICES = ("forward4", *_PINHOLES, "guard4", "guard6")
_HOST = 16  # octets with which the keys of pinholes begin
_MEMBERS = ("up4", "down4", "up6", "down6", "blocked4", "blocked6", "snat4", "snat4_own", "snat4_block")


def reduce_to_endings(deltas: Sequence[Delta]) -> tuple[Delta, ...]:
    """Return deltas that end the same flows after the confirmation. Bans are left out: they have cut theirs at commit."""
    gone = {key for delta in deltas for name, change in delta.elements.items() if _is_any(name, _MEMBERS) for key in change.removed}
    return tuple(Delta(elements=dict(_iter_endings(delta, gone))) for delta in deltas)


def reduce_way_back(delta: Delta, after: Ruleset) -> Delta:
    """Return the delta that ends the flows which a trial has let in, from the delta that takes the trial back.

    Bans and blocks that come back are in it. Addresses that only get their holder back are not, nor prefixes that only get their length
    back: their flows may be from before the trial. Pinholes that stay on a host of which others close are in it as if they came, because
    flows may have come through them. after: what the delta leads to.
    """
    [endings] = reduce_to_endings([replace(delta, elements=dict(_iter_without_holders(delta)))])
    sanctions = {name: each for name, each in delta.elements.items() if _is_any(name, _SANCTIONS)}
    return replace(endings, elements={**endings.elements, **sanctions, **dict(_iter_pinholes(delta, after))})


def _iter_without_holders(delta: Delta) -> Iterator[tuple[str, ElementChange]]:
    """Return the changes, without those of addresses that only get another holder, or come back in a prefix of another length."""
    come = _AddedPrefixes(delta)
    for name, change in delta.elements.items():
        if _is_any(name, _HOLDERS):
            back = come.find_overlapped(name, change.removed)
            yield name, ElementChange(change.of, {key: each for key, each in change.removed.items() if key not in back}, {})
        else:
            yield name, change


class _AddedPrefixes:
    """Addresses and prefixes that a delta adds to the sets of those that members have."""

    def __init__(self, delta: Delta) -> None:
        self._by_length: dict[str, dict[int, set[int]]] = {}
        for name, change in delta.elements.items():
            if _is_any(name, _HOLDERS) and change.added:
                family, length = _parse_holder_set(name)
                self._by_length.setdefault(family, {})[length] = {int.from_bytes(key) for key in change.added}

    def find_overlapped(self, name: str, keys: Collection[bytes]) -> set[bytes]:
        """Return those of the set's keys that lie in one of these prefixes, or cover one."""
        family, length = _parse_holder_set(name)
        found = set[bytes]()
        for other, numbers in self._by_length.get(family, {}).items():
            away = (32 if family.endswith("4") else 128) - min(length, other)
            heads = {number >> away for number in numbers}
            found.update(key for key in keys if int.from_bytes(key) >> away in heads)
        return found


def _parse_holder_set(name: str) -> tuple[str, int]:
    """Return the set's family and the length of its prefixes."""
    family, length = split_set_name(name)
    return family, int(length or 32)


def _iter_pinholes(delta: Delta, after: Ruleset) -> Iterator[tuple[str, ElementChange]]:
    """Return the changes of pinholes, and as added what stays open on the hosts of which pinholes close.

    Nothing stays for flows through a guard that goes (firewall/flows.py).
    """
    hosts = _list_hosts(delta, _PINHOLES) - _list_hosts(delta, ("guard6",))
    for name in _PINHOLES:
        change = delta.elements.get(name)
        there = {key: each for key, each in after.elements.get(name, {}).items() if key[:_HOST] in hosts} if hosts else {}
        if change:
            yield name, ElementChange(change.of, change.removed, {**change.added, **there})
        elif there:
            yield name, ElementChange(after.sets[name], {}, there)


def _list_hosts(delta: Delta, families: tuple[str, ...]) -> set[bytes]:
    return {key[:_HOST] for name, change in delta.elements.items() if _is_any(name, families) for key in change.removed}


def _iter_endings(delta: Delta, gone: Set[bytes]) -> Iterator[tuple[str, ElementChange]]:
    for name, change in delta.elements.items():
        if _is_any(name, _SERVICES):
            yield name, change
        elif _is_any(name, _MEMBERS):
            added = {key: element for key, element in change.added.items() if key in gone} if gone else {}
            if change.removed or added:
                yield name, ElementChange(change.of, change.removed, added)


def _is_any(name: str, families: tuple[str, ...]) -> bool:
    return split_set_name(name)[0] in families
