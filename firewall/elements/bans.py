"""Elements of bans: foreign addresses and prefixes, each with people's comment and its end.

A ban that holds both ways is one element; bans of one prefix for each way, with ends of their own, are two.
"""

from firewall import names
from firewall.elements.types import ElementsBySet, KeysBySet, parse_prefix_key
from firewall.elements.unique import check_unique
from firewall.policy import BanDirection, BanSpec, Policy, PolicyError, Prefix, TouchedKeys
from firewall.ruleset import Element, cap_expiry
from firewall.sets import format_set_name, split_set_name

LENGTHS = {4: range(8, 33), 6: (*range(16, 65), 128)}  # each length in use costs one rule each way, so lengths are bounded
FAMILIES = {BanDirection.BOTH: "bans", BanDirection.IN: "bans_in", BanDirection.OUT: "bans_out"}


def build_elements(policy: Policy) -> ElementsBySet:
    """Return the elements, by set. Raises PolicyError when a prefix is banned twice the same way, or has a length that no ban can have."""
    sets: ElementsBySet = {}
    for ban in policy.bans:
        if ban.prefix.prefixlen not in LENGTHS[ban.prefix.version]:
            raise PolicyError(f"ban {ban.id}: {ban.prefix} cannot be banned: {describe_valid_lengths(ban.prefix)}")
        element = Element(comment=names.sanitize_comment(ban.comment), expires=cap_expiry(ban.expires))
        sets.setdefault(_get_set_name(ban.direction, ban.prefix), {})[ban.prefix.network_address.packed] = element
    check_unique("ban of", [_describe_ban(ban) for ban in policy.bans], [key for elements in sets.values() for key in elements])
    _check_directions(sets)
    return sets


def describe_valid_lengths(prefix: Prefix) -> str:
    """Return which lengths the prefixes of bans may have in the family of this one."""
    return "an IPv4 prefix must be /8 to /32" if prefix.version == 4 else "an IPv6 prefix must be /16 to /64, or /128"


def _describe_ban(ban: BanSpec) -> str:
    return str(ban.prefix) if ban.direction is BanDirection.BOTH else f"{ban.prefix} ({ban.direction})"


def _check_directions(sets: ElementsBySet) -> None:
    """Raise PolicyError when a prefix is banned both ways and one way besides."""
    for name, elements in sets.items():
        start, length = split_set_name(name)
        for family in ("bans_in", "bans_out"):
            if start.startswith(family) and (twice := elements.keys() & sets.get(f"bans{start[-1]}_{length}", {}).keys()):
                raise PolicyError(f"{name}: {min(twice).hex()} is banned in both directions and in one; remove one of the bans")


def _get_set_name(direction: BanDirection, prefix: Prefix) -> str:
    return format_set_name(f"{FAMILIES[direction]}{prefix.version}", prefix.prefixlen)


def build_keys(touched: TouchedKeys) -> KeysBySet:
    """Return the keys, by set, that bans of the touched prefixes would have."""
    found: KeysBySet = {}
    for prefix in touched.bans:
        for direction in BanDirection:
            found.setdefault(_get_set_name(direction, prefix), set()).add(prefix.network_address.packed)
    return found


def parse_element(name: str, key: bytes, element: Element) -> BanSpec:
    """Return the ban that an element is; its id is 0. Raises ValueError."""
    start = split_set_name(name)[0][:-1]
    direction = next(direction for direction, family in FAMILIES.items() if family == start)
    return BanSpec(0, parse_prefix_key(name, key), element.comment, element.expires, direction)
