"""Members' private addresses and IPv6 prefixes: once for what they send and once for what they get, each counted."""

from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.elements.unique import all_different
from firewall.policy import Keys, Policy, PolicyError
from firewall.ruleset import PLAIN
from firewall.sets import of_length

LENGTHS = range(32, 65)
MOST_LENGTHS = 4


def elements(policy: Policy) -> ElementsBySet:
    """Raises PolicyError when an address or prefix is given twice, or a prefix cannot be a member's."""
    members = {address.packed: PLAIN for address in policy.addresses}
    all_different("address", policy.addresses, members)
    return {"up4": members, "down4": members.copy(), **_prefixes(policy)}


def _prefixes(policy: Policy) -> ElementsBySet:
    sets: ElementsBySet = {}
    for prefix in policy.prefixes:
        length = prefix.prefixlen
        if length not in LENGTHS:
            raise PolicyError(f"prefix {prefix}: a member's prefix is between /32 and /64 long")
        sets.setdefault(of_length("up6", length), {})[prefix.network_address.packed] = PLAIN
    all_different("prefix", policy.prefixes, [key for elements in sets.values() for key in elements])
    return sets | {name.replace("up", "down"): elements.copy() for name, elements in sets.items()}


def keys(touched: Keys) -> KeysBySet:
    """Where the touched addresses and prefixes are, if they are."""
    addresses = {address.packed for address in touched.addresses}
    found: KeysBySet = {"up4": addresses, "down4": addresses}
    for prefix in touched.prefixes:
        for family in ("up6", "down6"):
            found.setdefault(of_length(family, prefix.prefixlen), set()).add(prefix.network_address.packed)
    return found
