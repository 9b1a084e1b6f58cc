"""Finds connections to the notice page that stay open when a block ends by its time, because nothing is deployed then.

Input: the rulesets and deltas that run, the time, and connections. A block that is lifted is another matter (firewall/flows.py).
"""

from collections.abc import Iterator, Mapping
from math import inf

from firewall.diff import Delta
from firewall.flows import Flow, PrefixIndex, reconstruct_forward_entry
from firewall.ruleset import NO_ELEMENTS, Elements, Ruleset
from firewall.sets import split_set_name

_BLOCKS = {"blocked4": 4, "blocked6": 16}  # octets of an address, by family of sets


class TimedBlocks:
    """The blocks that run and have an end, in Unix seconds."""

    def __init__(self) -> None:
        self._ends: dict[tuple[str, bytes], int] = {}  # by name of the set, and key
        self.next_end = inf

    def replace(self, ruleset: Ruleset) -> None:
        """Remember the blocks of this ruleset, and no others."""
        self._ends = dict(_iter_ends(ruleset.elements))
        self._find_next()

    def note(self, delta: Delta) -> None:
        """Note what the delta changes of them."""
        changes = {name: change for name, change in delta.elements.items() if split_set_name(name)[0] in _BLOCKS}
        for name, change in changes.items():
            for key in change.removed:
                self._ends.pop((name, key), None)
        self._ends.update(_iter_ends({name: change.added for name, change in changes.items()}))
        if changes:
            self._find_next()

    def take_ended(self, now: float) -> "EndedBlocks":
        """Return the blocks that have ended, and forget them."""
        ended = EndedBlocks(at for at, end in self._ends.items() if end <= now)
        self._ends = {at: end for at, end in self._ends.items() if end > now}
        self._find_next()
        return ended

    def _find_next(self) -> None:
        self.next_end = min(self._ends.values(), default=inf)


def _iter_ends(sets: Mapping[str, Elements]) -> Iterator[tuple[tuple[str, bytes], int]]:
    for name, elements in sets.items():
        if split_set_name(name)[0] in _BLOCKS:
            yield from (((name, key), element.expires) for key, element in elements.items() if element.expires)


class EndedBlocks:
    """Blocks that have ended. False if there are none."""

    def __init__(self, blocks: Iterator[tuple[str, bytes]]) -> None:
        """blocks: name of the set, and key."""
        by_length: dict[tuple[int, int], set[bytes]] = {}
        for name, key in blocks:
            family, length = split_set_name(name)
            by_length.setdefault((_BLOCKS[family], int(length or 32)), set()).add(key)
        self._members = PrefixIndex(by_length)

    def __bool__(self) -> bool:
        return bool(self._members)

    def has_left_open(self, flow: Flow, sets: Mapping[str, Elements]) -> bool:
        """True if the flow leads to the notice page, the only place to which a blocked member's packets are redirected.

        sets: those that run, because since the end the member's packets may be redirected by a forward.
        """
        if flow.destination == flow.reply_source or flow.source not in self._members:
            return False
        key, target = reconstruct_forward_entry(flow)
        forward = sets.get("forward4", NO_ELEMENTS).get(key)
        return forward is None or forward.value != target
