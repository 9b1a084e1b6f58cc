"""Bans: foreign addresses and prefixes, each with what people noted and when it ends.

One that holds both ways is one element; the two ways of one prefix with ends of their own are two.
"""

from firewall import names
from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.elements.unique import all_different
from firewall.policy import Ban, Direction, Keys, Policy, PolicyError, Prefix
from firewall.ruleset import Element, lasting
from firewall.sets import of_length

LENGTHS = {4: range(8, 33), 6: (*range(16, 65), 128)}  # one rule each way per length in use, so they are bounded
FAMILIES = {Direction.BOTH: "bans", Direction.IN: "bansin", Direction.OUT: "bansout"}


def elements(policy: Policy) -> ElementsBySet:
    """Raises PolicyError when a prefix is banned twice the same way, or of a length that no ban can have."""
    sets: ElementsBySet = {}
    for ban in policy.bans:
        if ban.prefix.prefixlen not in LENGTHS[ban.prefix.version]:
            raise PolicyError(f"ban {ban.id}: {ban.prefix} is {too(ban.prefix)} than a ban can be")
        element = Element(comment=names.comment(ban.comment), expires=lasting(ban.expires))
        sets.setdefault(_set(ban.direction, ban.prefix), {})[ban.prefix.network_address.packed] = element
    all_different("ban of", [_named(ban) for ban in policy.bans], [key for elements in sets.values() for key in elements])
    _no_way_twice(sets)
    return sets


def too(prefix: Prefix) -> str:
    """What is wrong with the length of a prefix that no ban can have."""
    return "wider" if prefix.prefixlen < 24 else "narrower"


def _named(ban: Ban) -> str:
    return str(ban.prefix) if ban.direction is Direction.BOTH else f"{ban.prefix} ({ban.direction})"


def _no_way_twice(sets: ElementsBySet) -> None:
    """Who is banned both ways is not banned one way besides."""
    for name, elements in sets.items():
        start, _, length = name.partition("_")
        for family in ("bansin", "bansout"):
            if start.startswith(family) and (twice := elements.keys() & sets.get(f"bans{start[-1]}_{length}", {}).keys()):
                raise PolicyError(f"{name}: {min(twice).hex()} is banned both ways already")


def _set(direction: Direction, prefix: Prefix) -> str:
    return of_length(f"{FAMILIES[direction]}{prefix.version}", prefix.prefixlen)


def keys(touched: Keys) -> KeysBySet:
    """Where the touched prefixes are banned, if they are."""
    found: KeysBySet = {}
    for prefix in touched.bans:
        for direction in Direction:
            found.setdefault(_set(direction, prefix), set()).add(prefix.network_address.packed)
    return found
