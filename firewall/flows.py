"""Which open connections a change ends, and when: a delta and connections in, those to be cut out.

Established connections survive every change of the ruleset by themselves (nf_conntrack keeps their NAT), so what was
withdrawn has to be ended. New bans and blocks cut at commit; whatever may come back if nobody confirms only after the confirmation.
Costs one lookup in a hash table for each prefix length in use, whatever the number of changes.
"""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from firewall.diff import Delta, ElementChange

_DNAT_PADDING = b"\0\0"


class Flow(NamedTuple):
    """One tracked connection. Addresses are 4 or 16 octets in network order; ports are 0 where the protocol has none.

    source, destination: as the first packet had them; reply_*: as the answer has them, so NAT shows as a difference.
    handle: whatever whoever listed it needs to find it again.
    """

    source: bytes
    destination: bytes
    protocol: int
    source_port: int
    destination_port: int
    reply_source: bytes
    reply_destination: bytes
    reply_source_port: int
    reply_destination_port: int
    handle: bytes = b""


class Moment(Enum):
    """When a flow is to be cut."""

    COMMIT = "commit"
    CONFIRM = "confirm"


class Changes:
    """What one or more deltas, one on top of the other, mean for open connections. False when they cannot concern any."""

    def __init__(self, *deltas: Delta) -> None:
        self._bans: dict[tuple[int, int], set[bytes]] = {}
        self._blocks: dict[tuple[int, int], set[bytes]] = {}
        self._unblocked: dict[tuple[int, int], set[bytes]] = {}
        self._members: dict[tuple[int, int], set[bytes]] = {}
        self._mappings: set[tuple[bytes, bytes]] = set()
        self._forwards: set[tuple[bytes, bytes]] = set()
        for delta in deltas:
            for name, change in delta.elements.items():
                self._note(name, change)
        self._banned, self._left = Prefixes(self._bans), Prefixes(self._members)
        self._blocked, self._free = Prefixes(self._blocks), Prefixes(self._unblocked)

    def _note(self, name: str, change: ElementChange) -> None:
        kind, _, length = name.partition("_")
        match kind:
            case "bans4" | "bans6":
                _note_bans(self._bans.setdefault((_octets(kind), int(length)), set()), change)
            case "blocked4" | "blocked6":
                at = (_octets(kind), int(length or 32))
                _note_bans(self._blocks.setdefault(at, set()), change)
                _note_members(self._unblocked.setdefault(at, set()), change)
            case "up4" | "down4" | "up6" | "down6":
                whole = 32 if kind.endswith("4") else int(length)
                _note_members(self._members.setdefault((_octets(kind), whole), set()), change)
            case "snat4":
                _note_values(self._mappings, change)
            case "fwd4":
                _note_values(self._forwards, change)

    def __bool__(self) -> bool:
        return bool(self.at_commit or self._left or self._free or self._mappings or self._forwards)

    @property
    def at_commit(self) -> bool:
        """Can a flow have to be cut at commit?"""
        return bool(self._banned or self._blocked)

    def moment(self, flow: Flow) -> Moment | None:
        """When to cut this flow; None: it goes on.

        The forward hook sees the first packet's source before source NAT and its destination after destination NAT: these
        are what bans and members are matched with.
        """
        if self._banned and (flow.source in self._banned or flow.reply_source in self._banned):
            return Moment.COMMIT
        if self._blocked and (flow.source in self._blocked or flow.reply_source in self._blocked):
            return Moment.COMMIT
        if self._free and flow.destination != flow.reply_source and flow.source in self._free:
            return Moment.CONFIRM  # to the notice page, the only place where a blocked member's packets are led to
        if self._left and (flow.source in self._left or flow.reply_source in self._left):
            return Moment.CONFIRM
        if self._mappings and (flow.source, flow.reply_destination) in self._mappings:
            return Moment.CONFIRM
        if self._forwards and flow.destination != flow.reply_source and _forward(flow) in self._forwards:
            return Moment.CONFIRM
        return None

    def split(self, flows: Iterable[Flow]) -> tuple[list[Flow], list[Flow]]:
        """Those to cut at commit and those after the confirmation, in the order given."""
        at_commit: list[Flow] = []
        after: list[Flow] = []
        for flow in flows:
            moment = self.moment(flow)
            if moment:
                (at_commit if moment is Moment.COMMIT else after).append(flow)
        return at_commit, after


class Prefixes:
    """Prefixes of both families by length. An address that was looked up is remembered: many flows share it."""

    def __init__(self, by_length: Mapping[tuple[int, int], set[bytes]]) -> None:
        self._known: dict[bytes, bool] = {}
        self._by_width: dict[int, list[tuple[int, set[int]]]] = {}
        for (octets, length), keys in sorted(by_length.items()):
            if keys:
                away = octets * 8 - length
                self._by_width.setdefault(octets, []).append((away, {int.from_bytes(key) >> away for key in keys}))

    def __bool__(self) -> bool:
        return bool(self._by_width)

    def __contains__(self, address: bytes) -> bool:
        known = self._known.get(address)
        if known is None:
            known = self._known[address] = self._find(address)
        return known

    def _find(self, address: bytes) -> bool:
        number = int.from_bytes(address)
        for away, keys in self._by_width.get(len(address), ()):  # noqa: SIM110 - `any` takes twice as long
            if number >> away in keys:
                return True
        return False


def _octets(kind: str) -> int:
    return 4 if kind.endswith("4") else 16


def _note_bans(come: set[bytes], change: ElementChange) -> None:
    """A ban with another text or end is none that comes."""
    come.difference_update(change.removed.keys() - change.added.keys())
    come.update(change.added.keys() - change.removed.keys())


def _note_members(gone: set[bytes], change: ElementChange) -> None:
    """One who comes again in a later delta has not gone."""
    gone.difference_update(change.added)
    gone.update(change.removed.keys() - change.added.keys())


def _note_values(gone: set[tuple[bytes, bytes]], change: ElementChange) -> None:
    """An entry of a map has gone when its key leads elsewhere or nowhere."""
    gone.update((key, element.value) for key, element in change.removed.items())
    if gone:
        gone.difference_update((key, element.value) for key, element in change.added.items())


def _forward(flow: Flow) -> tuple[bytes, bytes]:
    """Key and value of the forward that would have made this flow (see firewall/compile.py)."""
    key = flow.destination + bytes((flow.protocol, 0, 0, 0)) + flow.destination_port.to_bytes(2) + _DNAT_PADDING
    return key, flow.reply_source + flow.reply_source_port.to_bytes(2) + _DNAT_PADDING
