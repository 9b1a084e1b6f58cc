"""Elements of mail permits: the private addresses that may send mail."""

from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.policy import Policy, TouchedKeys
from firewall.ruleset import Element


def build_elements(policy: Policy) -> ElementsBySet:
    """Return the elements, by set."""
    return {"mail_permit4": {each.address.packed: Element() for each in policy.mail_permits}}


def build_keys(touched: TouchedKeys) -> KeysBySet:
    """Return the keys, by set, that permits of the touched addresses would have."""
    return {"mail_permit4": {address.packed for address in touched.addresses}}
