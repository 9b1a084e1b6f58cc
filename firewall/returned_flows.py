"""Finds open connections that were cut once and are back: the other gateway still had them, and sent its states.

Input: the ruleset that runs, what was withdrawn before, and connections. A ban and a block are known by the ruleset, because it lets
no such connection begin. A mapping, a forward, a pinhole or a guard is known by having been withdrawn: a connection may also come
about without one, as those that a protocol's helper expects. Connections of an address's former holder look like those of the holder
that has it now, so each one that was cut is remembered.
"""

from collections.abc import Collection, Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address
from struct import pack
from typing import NamedTuple, TypeVar

from firewall.diff import Delta
from firewall.flows import Flow, fits_mapping_value, pack_service_keys, reconstruct_forward_entry
from firewall.former_holders import FormerHolder
from firewall.newly_banned import DESTINATIONS, SOURCES
from firewall.ruleset import NO_ELEMENTS, Chain, Elements, Field, Match
from firewall.sets import split_set_name

K = TypeVar("K")  # Python 3.11 has no syntax for type parameters
V = TypeVar("V")
MOST_WITHDRAWN = 65_536  # objects that are remembered
MOST_RETURNS = 3  # times that one connection is cut again for its former holder: the present one may open the same, as NTP does
SLACK = 2  # seconds by which the kernel may have ended an element earlier than its end says
_ICMP = 1  # IANA protocol number
_MAPPINGS = ("snat4", "snat4_own", "snat4_block")
_SERVICES = ("pinhole6", "pinhole_protocol6", "pinhole_host6", "guard4", "guard6")
_FORWARDS, _REACHABLE = "forward4", "blocked"  # a map, and the chain that says what blocked members reach


class FormerConnection(NamedTuple):
    """A connection that was cut because its holders lost the address, and how often it was cut again since."""

    holders: tuple[FormerHolder, ...]
    returns: int = 0


class WithdrawnObjects:
    """What was withdrawn last, by what connections show of it: at most MOST_WITHDRAWN of each kind, the oldest are forgotten first.

    mappings: private and public address. forwards: key and target. services: keys of pinholes and guards. An object that came back
    is still among them; what the sets hold overrules that. connections: those cut with their holders, by `_pack_flow`.
    """

    def __init__(self) -> None:
        self.mappings: dict[tuple[bytes, bytes], None] = {}
        self.forwards: dict[tuple[bytes, bytes], None] = {}
        self.services: dict[bytes, None] = {}
        self.connections: dict[bytes, FormerConnection] = {}

    def __bool__(self) -> bool:
        return bool(self.mappings or self.forwards or self.services or self.connections)

    def note(self, delta: Delta) -> None:
        """Note what the delta takes away or changes."""
        for name, change in delta.elements.items():
            if name in _MAPPINGS:
                _remember(self.mappings, (((key, element.value[:4]), None) for key, element in change.removed.items()))
            elif name == _FORWARDS:
                _remember(self.forwards, (((key, element.value), None) for key, element in change.removed.items()))
            elif split_set_name(name)[0] in _SERVICES:
                _remember(self.services, ((key, None) for key in change.removed))

    def note_cut(self, cut: Iterable[tuple[Flow, tuple[FormerHolder, ...]]]) -> None:
        """Note connections that were cut with those of their holders that lost the address.

        No gateway sends the states of connections without ports to the other one, so these are not remembered.
        """
        _remember(
            self.connections,
            ((_pack_flow(flow), FormerConnection(holders)) for flow, holders in cut if holders and flow.source_port),
        )

    def note_returned(self, flows: Iterable[Flow]) -> None:
        """Note that these connections were back and were cut again."""
        for key in map(_pack_flow, flows):
            known = self.connections.pop(key, None)
            if known and known.returns + 1 < MOST_RETURNS:
                self.connections[key] = known._replace(returns=known.returns + 1)


def _might_have_made(value: bytes, flow: Flow) -> bool:
    """True if a flow with this map value could look like this one. A ping fits any block: which identifier it left with is not known."""
    return fits_mapping_value(value, flow) or (flow.protocol == _ICMP and flow.reply_destination == value[:4])


def _pack_flow(flow: Flow) -> bytes:
    ends = flow.source + flow.destination + flow.reply_source + flow.reply_destination
    ports = (flow.source_port, flow.destination_port, flow.reply_source_port, flow.reply_destination_port)
    return ends + pack(">B4H", flow.protocol, *ports)


def _remember(known: dict[K, V], entries: Iterable[tuple[K, V]]) -> None:
    for key, value in entries:
        known.pop(key, None)
        known[key] = value
    while len(known) > MOST_WITHDRAWN:
        del known[next(iter(known))]


class ForbiddenFlows:
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
        self._services = [elements for name, elements in sets.items() if split_set_name(name)[0] in _SERVICES and elements]
        self._members = _ActivePrefixes(sets, ("up",), 0)
        self._sources, self._destinations = (_ActivePrefixes(sets, families, now + SLACK) for families in (SOURCES, DESTINATIONS))
        self._allowed = _ActivePrefixes(sets, ("allowed",), 0)
        self._blocked = _ActivePrefixes(sets if _REACHABLE in chains else {}, ("blocked",), now + SLACK)
        self._own = frozenset(own)
        self._reachable = self._own | _list_reachable(chains)

    def __bool__(self) -> bool:
        return bool(self._sources or self._destinations or self._blocked or self._withdrawn)

    def __contains__(self, flow: Flow) -> bool:
        return self._is_banned(flow) or self._is_blocked(flow) or self._is_withdrawn(flow)

    def _is_banned(self, flow: Flow) -> bool:
        """True if one end is banned and the other one is a member. Bans concern no connection inside, and none of the gateway itself."""
        source, target = flow.source, flow.reply_source
        if source in self._members:
            banned = self._destinations and target in self._destinations and target not in self._own and target not in self._members
            return bool(banned) and target not in self._allowed
        return bool(self._sources) and source in self._sources and target in self._members and source not in self._allowed

    def _is_blocked(self, flow: Flow) -> bool:
        """True if one end is a blocked member, unless it is what blocked members may reach."""
        if not self._blocked:
            return False
        source, target = flow.source, flow.reply_source
        return (source in self._blocked and target not in self._reachable) or (target in self._blocked and source not in self._reachable)

    def _is_withdrawn(self, flow: Flow) -> bool:
        known = self._withdrawn
        return (
            (bool(known.mappings) and self._lost_mapping(flow))
            or (bool(known.forwards) and self._lost_forward(flow))
            or (bool(known.services) and self._lost_service(flow))
            or (bool(known.connections) and self._lost_holder(flow))
        )

    def _lost_mapping(self, flow: Flow) -> bool:
        if (flow.source, flow.reply_destination) not in self._withdrawn.mappings:
            return False
        held = (self._sets.get(name, NO_ELEMENTS).get(flow.source) for name in _MAPPINGS)
        return not any(element and _might_have_made(element.value, flow) for element in held)

    def _lost_forward(self, flow: Flow) -> bool:
        if flow.destination == flow.reply_source:
            return False
        key, target = reconstruct_forward_entry(flow)
        if (key, target) not in self._withdrawn.forwards:
            return False
        held = self._sets.get(_FORWARDS, NO_ELEMENTS).get(key)
        return held is None or held.value != target

    def _lost_service(self, flow: Flow) -> bool:
        keys = pack_service_keys(flow)
        return any(key in self._withdrawn.services for key in keys) and not any(key in held for held in self._services for key in keys)

    def _lost_holder(self, flow: Flow) -> bool:
        known = self._withdrawn.connections.get(_pack_flow(flow))
        return known is not None and any(self._has_another_owner(*holder) for holder in known.holders)

    def _has_another_owner(self, name: str, key: bytes, owner: bytes) -> bool:
        held = self._sets.get(name, NO_ELEMENTS).get(key)
        return held is not None and held.value != owner


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
            start, length = split_set_name(name)
            if elements and start[:-1] in families:
                octets, whole = (4, 32) if start[-1] == "4" else (16, 128)
                self._by_width.setdefault(octets, []).append((whole - int(length or whole), elements))

    def __bool__(self) -> bool:
        return bool(self._by_width)

    def __contains__(self, address: bytes) -> bool:
        known = self._known.get(address)
        if known is None:
            known = self._known[address] = self._find(address)
        return known

    def _find(self, address: bytes) -> bool:
        number, octets = int.from_bytes(address), len(address)
        for away, elements in self._by_width.get(octets, ()):
            element = elements.get((number >> away << away).to_bytes(octets) if away else address)
            if element is not None and not 0 < element.expires <= self._then:
                return True
        return False
