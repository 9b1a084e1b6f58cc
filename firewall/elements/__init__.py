"""What the objects of a policy are in the kernel. A module for each kind of object, with two functions:

`build_elements(policy)`: the elements that its objects are, by set; `build_keys(touched)`: the keys under which touched objects may be.
"""

from firewall.elements import allowed, bans, blocks, forwards, listeners, mappings, members, pinholes, rates
from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.policy import Policy, PolicyKeys

KINDS = (members, mappings, forwards, pinholes, bans, allowed, blocks, listeners, rates)


def build_all_elements(policy: Policy) -> ElementsBySet:
    """What the policy's objects are in the kernel: for each set its elements.

    Raises PolicyError when two objects are the same element.
    """
    found: ElementsBySet = {}
    for kind in KINDS:
        for name, elements in kind.build_elements(policy).items():
            found[name] = found[name] | elements if name in found else elements
    return found


def build_all_keys(touched: PolicyKeys) -> KeysBySet:
    """Under which keys of which sets the touched objects are, if they are."""
    found: KeysBySet = {}
    for kind in KINDS:
        for name, keys in kind.build_keys(touched).items():
            if keys:
                found[name] = found.get(name, set()) | keys
    return found
