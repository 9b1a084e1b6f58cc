"""From a policy to the ruleset of one gateway, whole or by what changed.

People become elements in firewall/elements; firewall/chains has the shape that looks them up. Both ways end in `_shape`, so that a
change compiled alone gives the very ruleset that compiling everything would give.
"""

from collections.abc import Mapping, Set
from dataclasses import replace

from firewall import chains, conflicts, limit_sets, probing, profile
from firewall.chains.used_sets import Used
from firewall.conflicts import After
from firewall.diff import Delta, ElementChange, diff_shape
from firewall.elements import elements_of, keys_of
from firewall.elements.members import MOST_LENGTHS
from firewall.elements.types import ElementsBySet
from firewall.policy import Gateway, Keys, Policy, PolicyError
from firewall.ruleset import NO_ELEMENTS, Elements, Ruleset
from firewall.sets import ALWAYS, declare, following


def compile_policy(policy: Policy) -> Ruleset:
    """The whole ruleset of the policy's gateway.

    Raises PolicyError when the policy must not be deployed, naming the culprits.
    """
    return assemble(policy.gateway, elements_of(policy))


def compile_change(running: Ruleset, *, touched: Keys, come: Policy) -> Delta:
    """What a change makes of a running ruleset: `touched` names the objects that may differ, `come` has those that exist now.

    Costs what the touched objects and sets cost, not what the network does. What is in `come` counts as touched.
    """
    return change_shape(running, come.gateway, change_elements(running, touched, elements_of(come)))


def change_elements(running: Ruleset, touched: Keys, come: ElementsBySet) -> dict[str, ElementChange]:
    """What a change makes of the elements: of each set those that leave and enter. The gateways of a group share it."""
    keys = {name: each for name, each in keys_of(touched).items() if name in running.elements}
    found = {
        name: _element_change(name, running.elements.get(name, {}), keys.get(name, set()), come.get(name, {}))
        for name in sorted(keys.keys() | come.keys())
    }
    return {name: change for name, change in found.items() if change.removed or change.added}


def change_shape(running: Ruleset, gateway: Gateway, changes: Mapping[str, ElementChange]) -> Delta:
    """The whole delta around these changes of elements: chains and sets of prefix lengths that come or go, and sets that grow.

    Raises PolicyError when what comes cannot be this gateway's.
    """
    probing.collide(gateway, {name: change.added for name, change in changes.items()})
    conflicts.check(After(running.elements, changes))
    counts = {name: len(elements) for name, elements in running.elements.items()}
    for name, change in changes.items():
        counts[name] = counts.get(name, 0) + len(change.added) - len(change.removed)
    shape = diff_shape(running, _shape(gateway, counts))
    elements = dict(changes)
    for name, (old, new) in shape.sets.items():
        of = new or old
        if of and not of.dynamic:  # the set is made anew, or goes: all its elements do
            before_all = running.elements.get(name, {})
            elements[name] = ElementChange(of, before_all, _afterwards(before_all, elements.get(name)) if new else {})
    elements = {name: change for name, change in sorted(elements.items()) if change.removed or change.added}
    return replace(shape, elements=elements)


def _afterwards(before: Elements, change: ElementChange | None) -> Elements:
    return change.apply(before) if change else before


def _element_change(name: str, running: Elements, touched: Set[bytes], after: Elements) -> ElementChange:
    removed = {key: running[key] for key in sorted(touched | after.keys()) if key in running and running[key] != after.get(key)}
    added = {key: element for key, element in sorted(after.items()) if running.get(key) != element}
    return ElementChange(declare(name, len(running)), removed, added)


def assemble(gateway: Gateway, elements: Mapping[str, Elements]) -> Ruleset:
    """The ruleset around these elements; sets of lengths that nobody uses any more are left out.

    Raises PolicyError when they cannot be this gateway's.
    """
    shape = _shape(gateway, {name: len(each) for name, each in elements.items()})
    probing.collide(gateway, elements)
    conflicts.check(After(elements, {}))
    return replace(shape, elements={name: elements.get(name, NO_ELEMENTS) for name in shape.sets})


def _shape(gateway: Gateway, counts: Mapping[str, int]) -> Ruleset:
    """The ruleset without its elements, from how many each set has."""
    _check_management(gateway)
    there = {name for name, count in counts.items() if name in ALWAYS or count}
    there |= {follower for name in there for follower in following(name)}
    sets = {name: declare(name, counts.get(name, 0)) for name in sorted(there)}
    used = Used(frozenset(sets))
    if len(used.lengths("up6")) > MOST_LENGTHS:
        text = "members' IPv6 prefixes have {} different lengths; at most {} are possible"
        raise PolicyError(text.format(len(used.lengths("up6")), MOST_LENGTHS))
    sets |= limit_sets.sets(gateway.settings.limits)
    if gateway.settings.profile:
        profile.check(gateway.settings.profile)
    built, counters = chains.build(gateway, used), chains.counters(gateway, used)
    return Ruleset(built, dict(sorted(sets.items())), {}, counters, gateway.settings.profile)


def _check_management(gateway: Gateway) -> None:
    if not gateway.management.sources:
        raise PolicyError(f"gateway {gateway.name}: no management network is given; this ruleset would lock everybody out")
