"""Members who are blocked: each of their addresses and prefixes, until when."""

from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.elements.unique import all_different
from firewall.policy import Keys, Policy, Prefix
from firewall.ruleset import Element, lasting
from firewall.sets import of_length


def elements(policy: Policy) -> ElementsBySet:
    """Raises PolicyError when an address or prefix is blocked twice."""
    sets: ElementsBySet = {"blocked4": {}}
    for block in policy.blocks:
        element = Element(comment=f"block {block.id}", expires=lasting(block.expires))
        sets.setdefault(_set(block.prefix), {})[block.prefix.network_address.packed] = element
    all_different("block of", [block.prefix for block in policy.blocks], [key for elements in sets.values() for key in elements])
    return sets


def _set(prefix: Prefix) -> str:
    return "blocked4" if prefix.version == 4 else of_length("blocked6", prefix.prefixlen)


def keys(touched: Keys) -> KeysBySet:
    """Where the touched addresses and prefixes are blocked, if they are."""
    found: KeysBySet = {"blocked4": {address.packed for address in touched.addresses}}
    for prefix in touched.prefixes:
        found.setdefault(_set(prefix), set()).add(prefix.network_address.packed)
    return found
