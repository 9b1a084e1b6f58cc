"""Finds open connections that were cut once and are back: the other gateway still had them, and sent its states.

Input: the ruleset that runs, what was withdrawn before, and connections. A ban and a block are known by the ruleset, because it lets
no such connection begin. A mapping, a forward, a pinhole or a guard is known by having been withdrawn: a connection may also come
about without one, as those that a protocol's helper expects.
"""

from collections.abc import Collection, Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address

from firewall.diff import Delta
from firewall.flows import Flow, allows_mapping, build_forward_entry, list_service_keys
from firewall.newly_banned import DESTINATIONS, SOURCES
from firewall.ruleset import NO_ELEMENTS, Chain, Elements, Field, Match
from firewall.sets import split_length

MOST_WITHDRAWN = 65_536  # objects that are remembered
SLACK = 2  # seconds by which the kernel may have ended an element earlier than its end says
_MAPPINGS = ("snat4", "snat4_own", "snat4_block")
_SERVICES = ("pinhole6", "pinhole_protocol6", "pinhole_host6", "guard4", "guard6")
_FORWARDS, _REACHABLE = "forward4", "blocked"  # a map, and the chain that says what blocked members reach


class WithdrawnObjects:
    """What was withdrawn last, by what connections show of it: at most MOST_WITHDRAWN objects, the oldest are forgotten first.

    An object that came back is still in it; what the sets hold overrules that.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[bytes, ...], None] = {}

    def __bool__(self) -> bool:
        return bool(self._entries)

    def __contains__(self, entry: tuple[bytes, ...]) -> bool:
        return entry in self._entries

    def note(self, delta: Delta) -> None:
        """Note what the delta takes away or changes."""
        for entry in _iter_entries(delta):
            self._entries.pop(entry, None)
            self._entries[entry] = None
        while len(self._entries) > MOST_WITHDRAWN:
            del self._entries[next(iter(self._entries))]


def _iter_entries(delta: Delta) -> Iterator[tuple[bytes, ...]]:
    """Yield a mapping as its private and its public address, a forward as its key and its target, a service as its key."""
    for name, change in delta.elements.items():
        if name in _MAPPINGS:
            yield from ((key, element.value[:4]) for key, element in change.removed.items())
        elif name == _FORWARDS:
            yield from ((key, element.value) for key, element in change.removed.items())
        elif split_length(name)[0] in _SERVICES:
            yield from ((key,) for key in change.removed)


class ReturnedFlows:
    """The connections that may not be open while these rules run. False if there are none.

    sets: the elements of each set, which may change meanwhile. chains: the rules, as far as they are known. own: addresses of the
    gateway itself, which no ban concerns. now: Unix seconds; an element that ends about then has ended.
    """

    def __init__(
        self,
        sets: Mapping[str, Elements],
        chains: Mapping[str, Chain],
        withdrawn: WithdrawnObjects,
        own: Collection[bytes],
        now: float,
    ) -> None:
        self._sets, self._withdrawn = sets, withdrawn
        self._services = [elements for name, elements in sets.items() if split_length(name)[0] in _SERVICES and elements]
        self._members = _ActivePrefixes(sets, ("up",), 0)
        self._sources, self._destinations = (_ActivePrefixes(sets, families, now + SLACK) for families in (SOURCES, DESTINATIONS))
        self._allowed = _ActivePrefixes(sets, ("allowed",), 0)
        self._blocked = _ActivePrefixes(sets if _REACHABLE in chains else {}, ("blocked",), now + SLACK)
        self._own = frozenset(own)
        self._reachable = self._own | _list_reachable(chains)

    def __bool__(self) -> bool:
        return bool(self._sources or self._destinations or self._blocked or self._withdrawn)

    def __contains__(self, flow: Flow) -> bool:
        return self._is_banned(flow) or self._is_blocked(flow) or (bool(self._withdrawn) and self._is_withdrawn(flow))

    def _is_banned(self, flow: Flow) -> bool:
        """True if one end is banned and the other one is a member. Bans concern no connection inside, and none of the gateway itself."""
        source, target = flow.source, flow.reply_source
        if target in self._own or (source in self._members) == (target in self._members):
            return False
        if target in self._members:
            return source in self._sources and source not in self._allowed
        return target in self._destinations and target not in self._allowed

    def _is_blocked(self, flow: Flow) -> bool:
        """True if one end is a blocked member, unless it is what blocked members may reach."""
        from_member = flow.source in self._blocked and flow.reply_source not in self._reachable
        return from_member or (flow.reply_source in self._blocked and flow.source not in self._reachable)

    def _is_withdrawn(self, flow: Flow) -> bool:
        return self._lost_mapping(flow) or self._lost_forward(flow) or self._lost_service(flow)

    def _lost_mapping(self, flow: Flow) -> bool:
        if (flow.source, flow.reply_destination) not in self._withdrawn:
            return False
        held = (self._sets.get(name, NO_ELEMENTS).get(flow.source) for name in _MAPPINGS)
        return not any(element and allows_mapping(element.value, flow) for element in held)

    def _lost_forward(self, flow: Flow) -> bool:
        key, target = build_forward_entry(flow)
        if flow.destination == flow.reply_source or (key, target) not in self._withdrawn:
            return False
        held = self._sets.get(_FORWARDS, NO_ELEMENTS).get(key)
        return held is None or held.value != target

    def _lost_service(self, flow: Flow) -> bool:
        keys = list_service_keys(flow)
        return any((key,) in self._withdrawn for key in keys) and not any(key in held for held in self._services for key in keys)


def _list_reachable(chains: Mapping[str, Chain]) -> frozenset[bytes]:
    """Return the hosts that blocked members reach (firewall/chains/blocks.py)."""
    chain = chains.get(_REACHABLE)
    parts = (part for rule in chain.rules for part in rule.parts) if chain else ()
    hosts = (part.values for part in parts if isinstance(part, Match) and part.field in (Field.IP_DADDR, Field.IP6_DADDR))
    return frozenset(host.packed for values in hosts for host in values if isinstance(host, IPv4Address | IPv6Address))


class _ActivePrefixes:
    """An index of the prefixes in the sets of some families, without a walk through them. Prefixes that end by `then` are not in it."""

    def __init__(self, sets: Mapping[str, Elements], families: tuple[str, ...], then: float) -> None:
        self._then, self._known = then, dict[bytes, bool]()
        self._by_width: dict[int, list[tuple[int, Elements]]] = {}
        for name, elements in sets.items():
            start, length = split_length(name)
            if elements and start[:-1] in families:
                octets, whole = (4, 32) if start[-1] == "4" else (16, 128)
                self._by_width.setdefault(octets, []).append((whole - int(length or whole), elements))

    def __bool__(self) -> bool:
        return bool(self._by_width)

    def __contains__(self, address: bytes) -> bool:
        known = self._known.get(address)
        if known is None:
            known = self._known[address] = any(self._iter_found(address))
        return known

    def _iter_found(self, address: bytes) -> Iterator[bool]:
        number, octets = int.from_bytes(address), len(address)
        for away, elements in self._by_width.get(octets, ()):
            element = elements.get((number >> away << away).to_bytes(octets))
            yield element is not None and not 0 < element.expires <= self._then
