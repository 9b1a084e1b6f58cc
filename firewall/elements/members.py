"""Elements of members' private addresses and IPv6 prefixes: once for what they send and once for what they get, each for its holding."""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Network

from firewall import owners
from firewall.elements.types import ElementsBySet, KeysBySet, parse_prefix_key
from firewall.elements.unique import check_unique
from firewall.policy import Policy, PolicyError, PrefixOwner, TouchedKeys
from firewall.ruleset import PLAIN, Element
from firewall.sets import format_set_name

LENGTHS = range(32, 65)
MOST_LENGTHS = 4


def build_elements(policy: Policy) -> ElementsBySet:
    """Return the elements, by set. Raises PolicyError when an address or prefix is given twice, or a prefix cannot be a member's."""
    owned = {owner.prefix: Element(owners.encode_holding_id(owner.holding)) for owner in policy.owners}
    members = {address.packed: owned.get(address, PLAIN) for address in policy.addresses}
    check_unique("address", policy.addresses, members)
    return {"up4": members, "down4": members.copy(), **_build_prefix_elements(policy, owned)}


def _build_prefix_elements(policy: Policy, owned: Mapping[IPv4Address | IPv6Network, Element]) -> ElementsBySet:
    sets: ElementsBySet = {}
    for prefix in policy.prefixes:
        length = prefix.prefixlen
        if length not in LENGTHS:
            raise PolicyError(f"prefix {prefix}: a member's prefix is between /32 and /64 long")
        sets.setdefault(format_set_name("up6", length), {})[prefix.network_address.packed] = owned.get(prefix, PLAIN)
    check_unique("prefix", policy.prefixes, [key for elements in sets.values() for key in elements])
    return sets | {name.replace("up", "down"): elements.copy() for name, elements in sets.items()}


def build_keys(touched: TouchedKeys) -> KeysBySet:
    """Return the keys, by set, that the touched addresses and prefixes would have."""
    addresses = {address.packed for address in touched.addresses}
    found: KeysBySet = {"up4": addresses, "down4": addresses}
    for prefix in touched.prefixes:
        for family in ("up6", "down6"):
            found.setdefault(format_set_name(family, prefix.prefixlen), set()).add(prefix.network_address.packed)
    return found


def parse_element(name: str, key: bytes, element: Element) -> PrefixOwner:
    """Return the owner of an element of up4 or up6; the holding is 0 if the element has none. Raises ValueError."""
    prefix = parse_prefix_key(name, key)
    return PrefixOwner(prefix.network_address if prefix.version == 4 else prefix, owners.decode_holding_id(element.value))
