"""Elements of a policy's objects in the kernel. Each kind of object has a module with two functions:

`build_elements(policy)` returns the elements of its objects, by set; `build_keys(touched)` the keys that touched objects would have.
"""

from firewall.elements import allowed, bans, blocks, forwards, listeners, mappings, members, pinholes, rates
from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.policy import Policy, TouchedKeys

KINDS = (members, mappings, forwards, pinholes, bans, allowed, blocks, listeners, rates)


def build_all_elements(policy: Policy) -> ElementsBySet:
    """Return the elements of all objects of the policy, by set.

    Raises PolicyError when two objects are the same element.
    """
    found: ElementsBySet = {}
    for kind in KINDS:
        for name, elements in kind.build_elements(policy).items():
            found[name] = found[name] | elements if name in found else elements
    return found


def build_touched_keys(touched: TouchedKeys) -> KeysBySet:
    """Return the keys, by set, that the touched objects would have if they exist."""
    found: KeysBySet = {}
    for kind in KINDS:
        for name, keys in kind.build_keys(touched).items():
            if keys:
                found[name] = found.get(name, set()) | keys
    return found
