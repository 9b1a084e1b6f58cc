"""Elements of the allow list: foreign addresses and prefixes that no ban affects, each with its end."""

from firewall import names
from firewall.elements.bans import LENGTHS, describe_valid_lengths
from firewall.elements.types import ElementsBySet, KeysBySet, parse_prefix_key
from firewall.elements.unique import check_unique
from firewall.policy import AllowEntrySpec, Policy, PolicyError, Prefix, TouchedKeys
from firewall.ruleset import Element, cap_expiry
from firewall.sets import format_set_name


def build_elements(policy: Policy) -> ElementsBySet:
    """Return the elements, by set. Raises PolicyError when a prefix is allowed twice, or has a length that no ban can have."""
    sets: ElementsBySet = {}
    for entry in policy.allowed:
        if entry.prefix.prefixlen not in LENGTHS[entry.prefix.version]:
            raise PolicyError(f"allow entry {entry.id}: {entry.prefix} cannot be allowed: {describe_valid_lengths(entry.prefix)}")
        element = Element(comment=names.sanitize_comment(entry.comment), expires=cap_expiry(entry.expires))
        sets.setdefault(_get_set_name(entry.prefix), {})[entry.prefix.network_address.packed] = element
    check_unique("allow entry of", [entry.prefix for entry in policy.allowed], [key for each in sets.values() for key in each])
    return sets


def _get_set_name(prefix: Prefix) -> str:
    return format_set_name(f"allowed{prefix.version}", prefix.prefixlen)


def build_keys(touched: TouchedKeys) -> KeysBySet:
    """Return the keys, by set, that allow entries of the touched prefixes would have."""
    found: KeysBySet = {}
    for prefix in touched.allowed:
        found.setdefault(_get_set_name(prefix), set()).add(prefix.network_address.packed)
    return found


def parse_element(name: str, key: bytes, element: Element) -> AllowEntrySpec:
    """Return the allow entry that an element is; its id is 0. Raises ValueError."""
    return AllowEntrySpec(0, parse_prefix_key(name, key), element.comment, element.expires)
