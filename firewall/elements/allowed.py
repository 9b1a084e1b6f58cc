"""The allow list: foreign addresses and prefixes that no ban concerns, each with when it ends."""

from firewall import names
from firewall.elements.bans import LENGTHS, too
from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.elements.unique import all_different
from firewall.policy import Keys, Policy, PolicyError, Prefix
from firewall.ruleset import Element, lasting
from firewall.sets import of_length


def elements(policy: Policy) -> ElementsBySet:
    """Raises PolicyError when a prefix is allowed twice, or of a length that no ban can have."""
    sets: ElementsBySet = {}
    for entry in policy.allowed:
        if entry.prefix.prefixlen not in LENGTHS[entry.prefix.version]:
            raise PolicyError(f"allow entry {entry.id}: {entry.prefix} is {too(entry.prefix)} than a ban can be")
        element = Element(comment=names.comment(entry.comment), expires=lasting(entry.expires))
        sets.setdefault(_set(entry.prefix), {})[entry.prefix.network_address.packed] = element
    all_different("allow entry of", [entry.prefix for entry in policy.allowed], [key for each in sets.values() for key in each])
    return sets


def _set(prefix: Prefix) -> str:
    return of_length(f"allowed{prefix.version}", prefix.prefixlen)


def keys(touched: Keys) -> KeysBySet:
    """Where the touched prefixes are allowed, if they are."""
    found: KeysBySet = {}
    for prefix in touched.allowed:
        found.setdefault(_set(prefix), set()).add(prefix.network_address.packed)
    return found
