"""Elements of blocked members: each of their addresses and prefixes, with the block's end."""

from firewall.elements.types import ElementsBySet, KeysBySet, parse_prefix_key, parse_row_id
from firewall.elements.unique import check_unique
from firewall.policy import BlockedMemberSpec, Policy, Prefix, TouchedKeys
from firewall.ruleset import Element, cap_expiry
from firewall.sets import format_set_name


def build_elements(policy: Policy) -> ElementsBySet:
    """Return the elements, by set. Raises PolicyError when an address or prefix is blocked twice."""
    sets: ElementsBySet = {"blocked4": {}}
    for block in policy.blocks:
        element = Element(comment=f"block {block.id}", expires=cap_expiry(block.expires))
        sets.setdefault(_get_set_name(block.prefix), {})[block.prefix.network_address.packed] = element
    check_unique("block of", [block.prefix for block in policy.blocks], [key for elements in sets.values() for key in elements])
    return sets


def _get_set_name(prefix: Prefix) -> str:
    return "blocked4" if prefix.version == 4 else format_set_name("blocked6", prefix.prefixlen)


def build_keys(touched: TouchedKeys) -> KeysBySet:
    """Return the keys, by set, that blocks of the touched addresses and prefixes would have."""
    found: KeysBySet = {"blocked4": {address.packed for address in touched.addresses}}
    for prefix in touched.prefixes:
        found.setdefault(_get_set_name(prefix), set()).add(prefix.network_address.packed)
    return found


def parse_element(name: str, key: bytes, element: Element) -> BlockedMemberSpec:
    """Return the blocked address or prefix that an element is, with the block's id from its comment. Raises ValueError."""
    return BlockedMemberSpec(parse_row_id(element, "block"), parse_prefix_key(name, key), element.expires)
