"""Finds the addresses that a change newly bans: through new bans, and through allow entries that no longer cover a ban.

Input: deltas, and what the sets hold afterwards, which is only looked up, never walked, so that a feed of a hundred thousand costs
nothing.
"""

from collections.abc import Container, Iterable, Mapping

from firewall.diff import Delta
from firewall.ruleset import Elements
from firewall.sets import split_set_name

_ALLOWED = "allowed"
SOURCES, DESTINATIONS = ("bans", "bans_in"), ("bans", "bans_out")


class NewlyBannedAddresses:
    """Sources, or destinations, that the deltas ban: `families` names the sets to look them up in. False when there are none."""

    def __init__(self, families: tuple[str, str], deltas: Iterable[Delta], after: Mapping[str, Elements]) -> None:
        come: dict[tuple[int, int], set[bytes]] = {}
        gone: dict[tuple[int, int], set[bytes]] = {}
        for delta in deltas:
            _note(come, delta, families)
            _note(gone, delta.invert(), (_ALLOWED,))
        self._come = _AddressIndex([(where, keys) for where, keys in come.items() if keys])
        self._freed = _AddressIndex([(where, keys) for where, keys in gone.items() if keys])
        self._banned = _AddressIndex(_list_banned_sets(after, families))
        self._allowed = _AddressIndex(_list_banned_sets(after, (_ALLOWED,)))
        self._known: dict[bytes, bool] = {}

    def __bool__(self) -> bool:
        return bool(self._come or (self._freed and self._banned))

    def __contains__(self, address: bytes) -> bool:
        if address not in self._known:
            self._known[address] = self._decide(address)
        return self._known[address]

    def _decide(self, address: bytes) -> bool:
        concerned = address in self._come or (address in self._freed and address in self._banned)
        return concerned and address not in self._allowed


class _AddressIndex:
    """An index of the addresses within prefixes that lie in sets by their length."""

    def __init__(self, by_length: Iterable[tuple[tuple[int, int], Container[bytes]]]) -> None:
        self._by_width: dict[int, list[tuple[int, Container[bytes]]]] = {}
        for (octets, length), keys in by_length:
            self._by_width.setdefault(octets, []).append((octets * 8 - length, keys))

    def __bool__(self) -> bool:
        return bool(self._by_width)

    def __contains__(self, address: bytes) -> bool:
        number, octets = int.from_bytes(address), len(address)
        return any((number >> away << away).to_bytes(octets) in keys for away, keys in self._by_width.get(octets, ()))


def _note(come: dict[tuple[int, int], set[bytes]], delta: Delta, families: tuple[str, ...]) -> None:
    """Note what one delta adds to all sets of the families together. An element that only changes its set, text or end does not count."""
    removed: dict[tuple[int, int], set[bytes]] = {}
    added: dict[tuple[int, int], set[bytes]] = {}
    for name, change in delta.elements.items():
        if where := _parse_set_name(name, families):
            removed.setdefault(where, set()).update(change.removed)
            added.setdefault(where, set()).update(change.added)
    for where in removed:
        come.setdefault(where, set()).difference_update(removed[where] - added[where])
        come[where].update(added[where] - removed[where])


def _list_banned_sets(sets: Mapping[str, Elements], families: tuple[str, ...]) -> Iterable[tuple[tuple[int, int], Elements]]:
    return [(where, elements) for name, elements in sets.items() if elements and (where := _parse_set_name(name, families))]


def _parse_set_name(name: str, families: tuple[str, ...]) -> tuple[int, int] | None:
    start, length = split_set_name(name)
    return ((4 if start[-1] == "4" else 16), int(length)) if start[:-1] in families and length else None
