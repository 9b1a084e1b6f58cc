"""Finds the open connections that a change ends, and the moment for each: from deltas and connections.

Established connections survive every change of the ruleset by themselves (nf_conntrack keeps their NAT), so connections of
withdrawn objects have to be ended, and so have those that keep packets from a new forward. What is banned or blocked from now on is
cut at commit; connections of objects that a revert could bring back are cut only after the confirmation. Each flow costs one lookup
in a hash table for each prefix length in use, whatever the number of changes.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from firewall.diff import Delta, ElementChange
from firewall.former_holders import FormerHolder, LostElements, iter_former_holders
from firewall.newly_banned import DESTINATIONS, SOURCES, NewlyBannedAddresses
from firewall.ruleset import Elements
from firewall.sets import split_set_name

_DNAT_PADDING = b"\0\0"
_SERVICE4 = 12  # octets of a key of IPv4 address, protocol and port; the shortest key of IPv6 has 16
_TCP, _UDP = 6, 17  # IANA protocol numbers


class Flow(NamedTuple):
    """One tracked connection. Addresses are 4 or 16 octets in network order; ports are 0 where the protocol has none.

    source, destination: as the first packet had them; reply_*: as the answer has them, so NAT shows as a difference. handle: data
    by which the caller that listed the flow finds it again.
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


class FlowFilter(NamedTuple):
    """A filter for flows by the destination of their first packet, or, with `reply`, of their answers; protocol and port 0 mean any."""

    address: bytes
    protocol: int
    port: int = 0
    reply: bool = False


_MOST_TOWARD = 20  # filters; the kernel walks its whole table for each: 30 ms with 60,000 flows, against 900 ms to list and match them all


class CutMoment(Enum):
    """Moments at which a flow is cut."""

    COMMIT = "commit"
    CONFIRM = "confirm"


class FlowChanges:
    """The effect of one or more deltas, one on top of the other, on open connections. False when they cannot concern any.

    after: the sets of the resulting ruleset; of these, bans and allow entries are looked up.
    """

    def __init__(self, *deltas: Delta, after: Mapping[str, Elements]) -> None:
        self._blocks: dict[tuple[int, int], set[bytes]] = {}
        self._unblocked: dict[tuple[int, int], LostElements] = {}
        self._members: dict[tuple[int, int], LostElements] = {}
        self._mappings = MappingChanges(key for delta in deltas for change in _iter_mapping_changes(delta) for key in change.removed)
        self._forwards: set[tuple[bytes, bytes]] = set()
        self._opened = _OpenedForwards()
        self._closed = _ClosedServices()
        for delta in deltas:
            for name, change in delta.elements.items():
                self._note(name, change)
        self._lost = {at: each.collect() for at, each in self._members.items()}
        self._left, self._blocked = PrefixIndex(self._lost), PrefixIndex(self._blocks)
        self._free = PrefixIndex({at: each.collect() for at, each in self._unblocked.items()})
        self._sources, self._destinations = NewlyBannedAddresses(SOURCES, deltas, after), NewlyBannedAddresses(DESTINATIONS, deltas, after)

    def _note(self, name: str, change: ElementChange) -> None:
        if name.startswith("snat4"):
            self._mappings.note(name, change)
            return
        kind, length = split_set_name(name)
        match kind:
            case "blocked4" | "blocked6":
                at = (_get_address_width(kind), int(length or 32))
                _note_blocks(self._blocks.setdefault(at, set()), change)
                self._unblocked.setdefault(at, LostElements()).note(change)
            case "up4" | "down4" | "up6" | "down6":
                whole = 32 if kind.endswith("4") else int(length)
                self._members.setdefault((_get_address_width(kind), whole), LostElements()).note(change)
            case "forward4":
                _note_values(self._forwards, change)
                self._opened.note(change)
            case "pinhole6" | "pinhole_protocol6" | "pinhole_host6" | "guard4" | "guard6":
                self._closed.note(change)

    def __bool__(self) -> bool:
        return bool(self.cuts_at_commit or self._left or self._free or self._mappings or self._forwards or self._opened or self._closed)

    @property
    def flow_filters(self) -> frozenset[FlowFilter] | None:
        """Destinations of all flows that are to be cut after the confirmation; None when only a listing of all flows will do."""
        if self.cuts_at_commit or self._left or self._free or self._mappings:
            return None
        found = frozenset({_build_filter(key) for key, _value in self._forwards} | self._opened.flow_filters | self._closed.flow_filters)
        if len(found) > _MOST_TOWARD:
            found = frozenset(each._replace(port=0) for each in found)
        return found if len(found) <= _MOST_TOWARD else None

    @property
    def cuts_at_commit(self) -> bool:
        """True if a flow may have to be cut at commit."""
        return bool(self._sources or self._destinations or self._blocked)

    def find_moment(self, flow: Flow) -> CutMoment | None:
        """Return when to cut this flow; None: it stays.

        The forward hook sees the first packet's source before source NAT and its destination after destination NAT: these are what
        bans and members are matched with.
        """
        if (self._sources and flow.source in self._sources) or (self._destinations and flow.reply_source in self._destinations):
            return CutMoment.COMMIT
        if self._blocked and (flow.source in self._blocked or flow.reply_source in self._blocked):
            return CutMoment.COMMIT
        if self._free and flow.destination != flow.reply_source and flow.source in self._free:
            return CutMoment.CONFIRM  # to the notice page, the only place to which a blocked member's packets are redirected
        if self._left and (flow.source in self._left or flow.reply_source in self._left):
            return CutMoment.CONFIRM
        if self._mappings and self._mappings.has_ended(flow):
            return CutMoment.CONFIRM
        if self._forwards and flow.destination != flow.reply_source and reconstruct_forward_entry(flow) in self._forwards:
            return CutMoment.CONFIRM
        if self._closed and flow in self._closed:
            return CutMoment.CONFIRM
        if self._opened and self._opened.are_bypassed_by(flow):
            return CutMoment.CONFIRM
        return None

    def list_former_holders(self, flow: Flow) -> tuple[FormerHolder, ...]:
        """Return the holders that lose an address at either end of the flow, as far as they are written down."""
        ends = (flow.source, flow.reply_source) if self._left else ()
        return tuple(holder for end in ends if end in self._left for holder in iter_former_holders(self._lost, end))

    def split_by_moment(self, flows: Iterable[Flow]) -> tuple[list[Flow], list[Flow]]:
        """Return the flows to cut at commit and those to cut after the confirmation, in the order given."""
        at_commit: list[Flow] = []
        after: list[Flow] = []
        for flow in flows:
            moment = self.find_moment(flow)
            if moment:
                (at_commit if moment is CutMoment.COMMIT else after).append(flow)
        return at_commit, after


def _iter_mapping_changes(delta: Delta) -> Iterator[ElementChange]:
    return (change for name, change in delta.elements.items() if name.startswith("snat4"))


class MappingChanges:
    """Sources that no longer leave as they did. False when there are none."""

    def __init__(self, leaving: Iterable[bytes]) -> None:
        """leaving: the private addresses that any of the changes removes; others are not looked at."""
        self._leaving = frozenset(leaving)
        self._gone: dict[tuple[bytes, bytes], set[tuple[str, bytes]]] = {}  # by private and public address: maps and values
        self._come: dict[bytes, dict[str, bytes]] = {}  # by private address and map: the value now

    def note(self, name: str, change: ElementChange) -> None:
        """Note changes of the map's elements, on top of those noted before."""
        for key, element in change.removed.items():
            self._gone.setdefault((key, element.value[:4]), set()).add((name, element.value))
            self._come.get(key, {}).pop(name, None)
        for key in self._leaving & change.added.keys():
            value = change.added[key].value
            self._come.setdefault(key, {})[name] = value
            self._restore((key, value[:4]), (name, value))

    def _restore(self, pair: tuple[bytes, bytes], place: tuple[str, bytes]) -> None:
        """Forget the removal of a value that comes again as it was."""
        gone = self._gone.get(pair)
        if gone:
            gone.discard(place)
            if not gone:
                del self._gone[pair]

    def __bool__(self) -> bool:
        return bool(self._gone)

    def has_ended(self, flow: Flow) -> bool:
        """True if the flow's source left as this public address, and no longer may, or no longer with this port."""
        if (flow.source, flow.reply_destination) not in self._gone:
            return False
        return not any(fits_mapping_value(value, flow) for value in self._come.get(flow.source, {}).values())


def fits_mapping_value(value: bytes, flow: Flow) -> bool:
    """True if a flow with this map value could look like this one.

    A flow without ports fits no block, because the identifier that it had is not known.
    """
    if value[:4] != flow.reply_destination:
        return False
    if len(value) == 4:
        return True
    first, last = int.from_bytes(value[4:6]), int.from_bytes(value[12:14])
    return flow.protocol in (_TCP, _UDP) and first <= flow.reply_destination_port <= last


class _OpenedForwards:
    """Forwards that come, and the flows that keep packets from them. False when there are none, all deltas taken together.

    Connection tracking looks at NAT for a connection's first packet alone. So a sender that has used the port all the time, in a
    flow that was tracked without the forward, would never reach the forward. Such flows are:
    1. A flow to that very port that leads elsewhere: to the gateway itself, or from before our table existed.
    2. A UDP flow that left with that very address and port: answers and new packets of its peer look the same. A client that opens
    a TCP connection to a forward chooses its own port, which is never the one on which a member's connection ends.
    """

    def __init__(self) -> None:
        self._before: dict[bytes, bytes | None] = {}
        self._now: dict[bytes, bytes] = {}
        self._come: dict[bytes, bytes] = {}

    def __bool__(self) -> bool:
        return bool(self._come)

    @property
    def flow_filters(self) -> set[FlowFilter]:
        """Destinations of flows that may stand in the way."""
        there = {_build_filter(key) for key in self._come}
        return there | {each._replace(reply=True) for each in there if each.protocol == _UDP}

    def note(self, change: ElementChange) -> None:
        """Note one more change of the forwards, on top of those before."""
        for key, element in change.removed.items():
            self._before.setdefault(key, element.value)
            self._now.pop(key, None)
        for key, element in change.added.items():
            self._before.setdefault(key, None)
            self._now[key] = element.value
        self._come = {key: value for key, value in self._now.items() if self._before[key] != value}

    def are_bypassed_by(self, flow: Flow) -> bool:
        """True if packets for one of these forwards would go on in this flow, and not where the forward leads."""
        leads = self._come.get(_pack_key(flow.destination, flow.protocol, flow.destination_port))
        if leads is not None and leads != _pack_target(flow.reply_source, flow.reply_source_port):
            return True
        if flow.protocol != _UDP:
            return False
        leads = self._come.get(_pack_key(flow.reply_destination, flow.protocol, flow.reply_destination_port))
        return leads is not None and leads != _pack_target(flow.source, flow.source_port)


class _ClosedServices:
    """Pinholes and guards of services that went, all deltas taken together, except for replaced ones. False when there are none.

    A connection that a gateway made in a server's stead has numbers that the gateway translates; without the guard nothing
    translates them.
    """

    def __init__(self) -> None:
        self._gone: set[bytes] = set()
        self._come: set[bytes] = set()

    def __bool__(self) -> bool:
        return bool(self._gone)

    @property
    def flow_filters(self) -> set[FlowFilter]:
        """Destinations of flows that came in through them."""
        return {_build_any_port_filter(key) for key in self._gone}

    def note(self, change: ElementChange) -> None:
        """Note one more change of what is open. Keys of the sets have different widths, so they can lie together."""
        self._gone.difference_update(change.added)
        self._gone.update(change.removed.keys() - change.added.keys())
        self._come.difference_update(change.removed)
        self._come.update(change.added.keys() - change.removed.keys())

    def __contains__(self, flow: Flow) -> bool:
        """True if the flow came in through one of them, and could not come in again."""
        keys = pack_service_keys(flow)
        return any(key in self._gone for key in keys) and not any(key in self._come for key in keys)


class PrefixIndex:
    """An index of prefixes of both families by length. It remembers addresses that were looked up, because many flows share one."""

    def __init__(self, by_length: Mapping[tuple[int, int], Collection[bytes]]) -> None:
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


def _get_address_width(kind: str) -> int:
    return 4 if kind.endswith("4") else 16


def _note_blocks(come: set[bytes], change: ElementChange) -> None:
    """Note blocks that come. A block that only gets another text or end does not."""
    come.difference_update(change.removed.keys() - change.added.keys())
    come.update(change.added.keys() - change.removed.keys())


def _note_values(gone: set[tuple[bytes, bytes]], change: ElementChange) -> None:
    """Note map entries that go: their key leads elsewhere or nowhere."""
    gone.update((key, element.value) for key, element in change.removed.items())
    if gone:
        gone.difference_update((key, element.value) for key, element in change.added.items())


def reconstruct_forward_entry(flow: Flow) -> tuple[bytes, bytes]:
    """Return key and value of the forward that would have made this flow (see firewall/elements/forwards.py)."""
    return _pack_key(flow.destination, flow.protocol, flow.destination_port), _pack_target(flow.reply_source, flow.reply_source_port)


def pack_service_keys(flow: Flow) -> tuple[bytes, bytes, bytes]:
    """Return the keys of the pinholes and guards that would let the flow in: of its host, its protocol and its port."""
    protocol = flow.destination + bytes((flow.protocol, 0, 0, 0))
    return flow.destination, protocol, protocol + flow.destination_port.to_bytes(2) + _DNAT_PADDING


def _pack_key(address: bytes, protocol: int, port: int) -> bytes:
    return address + bytes((protocol, 0, 0, 0)) + port.to_bytes(2) + _DNAT_PADDING


def _build_filter(key: bytes) -> FlowFilter:
    """Return the filter for packets that a forward of this key takes."""
    return FlowFilter(key[:4], key[4], int.from_bytes(key[8:10]))


def _build_any_port_filter(key: bytes) -> FlowFilter:
    """Return the filter for all ports of the key's protocol; keys may have any width."""
    octets = 4 if len(key) == _SERVICE4 else 16
    return FlowFilter(key[:octets], key[octets] if len(key) > octets else 0)


def _pack_target(address: bytes, port: int) -> bytes:
    return address + port.to_bytes(2) + _DNAT_PADDING
