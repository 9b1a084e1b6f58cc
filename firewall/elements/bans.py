"""Bans: foreign addresses and prefixes, each with what people noted and when it ends."""

from firewall import names
from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.elements.unique import all_different
from firewall.policy import Keys, Policy, PolicyError, Prefix
from firewall.ruleset import Element
from firewall.sets import of_length

LENGTHS = {4: range(8, 33), 6: (*range(16, 65), 128)}  # one rule each way per length in use, so they are bounded


def elements(policy: Policy) -> ElementsBySet:
    """Raises PolicyError when a prefix is banned twice, or of a length that no ban can have."""
    sets: ElementsBySet = {}
    for ban in policy.bans:
        length = ban.prefix.prefixlen
        if length not in LENGTHS[ban.prefix.version]:
            raise PolicyError(f"ban {ban.id}: {ban.prefix} is {'wider' if length < 24 else 'narrower'} than a ban can be")
        element = Element(comment=names.comment(ban.comment), expires=ban.expires)
        sets.setdefault(_set(ban.prefix), {})[ban.prefix.network_address.packed] = element
    all_different("ban of", [ban.prefix for ban in policy.bans], [key for elements in sets.values() for key in elements])
    return sets


def _set(prefix: Prefix) -> str:
    return of_length(f"bans{prefix.version}", prefix.prefixlen)


def keys(touched: Keys) -> KeysBySet:
    """Where the touched prefixes are banned, if they are."""
    found: KeysBySet = {}
    for prefix in touched.bans:
        found.setdefault(_set(prefix), set()).add(prefix.network_address.packed)
    return found
