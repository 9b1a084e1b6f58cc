"""Objects of a policy read back from elements: the inverse of `firewall.elements`, for what a gateway runs that nobody compiled here.

In: the elements of sets, by name. Out: each object with its kind. What no object is compiled to is counted, and never an error: people
and other programs may have added it by hand.
"""

from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import NamedTuple, TypeAlias

from firewall.elements import allowed, bans, blocks, forwards, listeners, mappings, members, pinholes, rates
from firewall.policy import (
    AllowEntrySpec,
    BanSpec,
    BlockedMemberSpec,
    ForwardSpec,
    NatMappingSpec,
    PinholeSpec,
    PrefixOwner,
    RateLimitSpec,
    ServerListenerSpec,
)
from firewall.ruleset import Element, Elements, Set, compute_width, list_value_widths
from firewall.sets import ObjectKind, SetFamily, find_set_family

PolicyObject: TypeAlias = (
    PrefixOwner
    | NatMappingSpec
    | ForwardSpec
    | PinholeSpec
    | BanSpec
    | AllowEntrySpec
    | BlockedMemberSpec
    | RateLimitSpec
    | ServerListenerSpec
)

_PARSERS: Mapping[ObjectKind, Callable[[str, bytes, Element], PolicyObject]] = {
    ObjectKind.ADDRESSES: members.parse_element,
    ObjectKind.PREFIXES: members.parse_element,
    ObjectKind.MAPPINGS: mappings.parse_element,
    ObjectKind.FORWARDS: forwards.parse_element,
    ObjectKind.PINHOLES: pinholes.parse_element,
    ObjectKind.BANS: bans.parse_element,
    ObjectKind.ALLOWED: allowed.parse_element,
    ObjectKind.BLOCKS: blocks.parse_element,
    ObjectKind.LISTENERS: listeners.parse_element,
    ObjectKind.RATES: rates.parse_element,
}


class RunningObject(NamedTuple):
    """An object and its kind. is_tariff: of a rate, whether it comes from a tariff. Ids are 0 where no comment tells them."""

    kind: ObjectKind
    spec: PolicyObject
    is_tariff: bool = False

    @property
    def place(self) -> tuple[object, ...]:
        """What no two objects share: two with the same place cannot exist side by side."""
        match self.spec:
            case ForwardSpec(protocol=protocol, public=public, public_port=port):
                return self.kind, protocol, public, port
            case NatMappingSpec(private=private):
                return self.kind, private
            case PinholeSpec(hole=hole):
                return self.kind, hole
            case ServerListenerSpec(address=address, protocol=protocol, port=port):
                return self.kind, address, protocol, port
            case BanSpec(prefix=prefix, direction=direction):
                return self.kind, prefix, direction
        return self.kind, self.spec.prefix, self.is_tariff

    @property
    def order(self) -> tuple[object, ...]:
        """By what objects are listed: kind, address, and then what neighbours differ in."""
        address, *rest = self._list_order()
        version, number = (address.version, int(address)) if isinstance(address, IPv4Address | IPv6Address) else (0, 0)
        return list(ObjectKind).index(self.kind), version, number, *rest

    def _list_order(self) -> tuple[object, ...]:
        match self.spec:
            case ForwardSpec(protocol=protocol, public=public, public_port=port):
                return public, protocol, port
            case PinholeSpec(hole=hole):
                return hole.address, hole.protocol or "", hole.port
            case ServerListenerSpec(address=address, protocol=protocol, port=port):
                return address, protocol, port
            case NatMappingSpec(private=private):
                return (private,)
            case BanSpec(prefix=prefix, direction=direction):
                return prefix.network_address, prefix.prefixlen, direction
            case PrefixOwner(prefix=held):
                network = ip_network(held)
                return network.network_address, network.prefixlen
        return self.spec.prefix.network_address, self.spec.prefix.prefixlen, self.is_tariff


class ReadObjects(NamedTuple):
    """Objects in the order of sets and keys; and how many elements of each set no object is compiled to."""

    objects: list[RunningObject]
    unreadable: dict[str, int]


def read_objects(sets: Mapping[str, Set], elements: Mapping[str, Elements]) -> ReadObjects:
    """Return the objects that these elements are, one for each element; sets that repeat others are left out."""
    found = ReadObjects([], {})
    for name in sorted(elements):
        family = find_set_family(name)
        if family and family.repeats:
            continue
        read = [_read_element(sets[name], key, element) for key, element in sorted(elements[name].items())]
        found.objects.extend(each for each in read if each)
        if unreadable := read.count(None):
            found.unreadable[name] = unreadable
    return found


def _read_element(of: Set, key: bytes, element: Element) -> RunningObject | None:
    family = find_set_family(of.name)
    if family is None or family.kind not in _PARSERS or not _has_types(of, family):
        return None
    if len(key) != compute_width(of.key) or len(element.value) not in list_value_widths(of):
        return None
    try:
        spec = _PARSERS[family.kind](of.name, key, element)
    except ValueError:
        return None
    return RunningObject(family.kind, spec, family.kind is ObjectKind.RATES and rates.is_tariff_set(of.name))


def _has_types(of: Set, family: SetFamily) -> bool:
    return (of.key, of.value, of.ranges, of.polices) == (family.key, family.value, family.ranges, family.polices)
