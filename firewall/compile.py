"""Compiler from a policy to the ruleset of one gateway, whole or for a change.

firewall/elements turns members, bans and other objects into elements; firewall/chains builds the rules that look these up. Both
ways end in `_build_shape`, so that compiling a change alone gives the very ruleset that compiling everything would give.
"""

from collections.abc import Mapping, Set
from dataclasses import replace

from firewall import chains, conflicts, limit_sets, probing, profile, shaper
from firewall.chains.used_sets import UsedSets
from firewall.conflicts import ElementsAfter
from firewall.diff import Delta, ElementChange, diff_shape
from firewall.elements import build_all_elements, build_touched_keys
from firewall.elements.members import MOST_LENGTHS
from firewall.elements.types import ElementsBySet
from firewall.policy import GatewaySpec, Policy, PolicyError, TouchedKeys
from firewall.ruleset import NO_ELEMENTS, Elements, Ruleset, UplinkShaper
from firewall.sets import ALWAYS, declare, iter_dependent_sets

_USUAL_LENGTH = 64  # of a member's IPv6 prefix, while no member has one


def compile_policy(policy: Policy) -> Ruleset:
    """Return the whole ruleset of the policy's gateway.

    Raises PolicyError when the policy must not be deployed, naming the culprits.
    """
    return assemble_ruleset(policy.gateway, build_all_elements(policy))


def compile_change(running: Ruleset, *, touched: TouchedKeys, come: Policy) -> Delta:
    """Return the delta of a change to a running ruleset: `touched` names the objects that may differ, `come` has those that exist now.

    The cost grows with the touched objects and sets, not with the network. What is in `come` counts as touched.
    """
    return compute_shape_delta(running, come.gateway, compute_element_changes(running, touched, build_all_elements(come)))


def compute_element_changes(running: Ruleset, touched: TouchedKeys, come: ElementsBySet) -> dict[str, ElementChange]:
    """Return the elements that leave and enter each set in a change. The gateways of a group share the result."""
    keys = {name: each for name, each in build_touched_keys(touched).items() if name in running.elements}
    found = {
        name: _compute_element_change(name, running.elements.get(name, {}), keys.get(name, set()), come.get(name, {}))
        for name in sorted(keys.keys() | come.keys())
    }
    return {name: change for name, change in found.items() if change.removed or change.added}


def compute_shape_delta(running: Ruleset, gateway: GatewaySpec, changes: Mapping[str, ElementChange]) -> Delta:
    """Return the whole delta around these changes of elements, with chains and sets of prefix lengths that come or go, and sets that grow.

    Raises PolicyError when what comes cannot be this gateway's.
    """
    probing.check_probe_collisions(gateway, {name: change.added for name, change in changes.items()})
    conflicts.check_listener_conflicts(ElementsAfter(running.elements, changes))
    counts = {name: len(elements) for name, elements in running.elements.items()}
    for name, change in changes.items():
        counts[name] = counts.get(name, 0) + len(change.added) - len(change.removed)
    shape = diff_shape(running, _build_shape(gateway, counts))
    elements = dict(changes)
    for name, (old, new) in shape.sets.items():
        of = new or old
        if of and not of.dynamic:  # a set that is made anew or removed takes all its elements with it
            before_all = running.elements.get(name, {})
            elements[name] = ElementChange(of, before_all, _apply_change(before_all, elements.get(name)) if new else {})
    elements = {name: change for name, change in sorted(elements.items()) if change.removed or change.added}
    return replace(shape, elements=elements)


def _apply_change(before: Elements, change: ElementChange | None) -> Elements:
    return change.apply(before) if change else before


def _compute_element_change(name: str, running: Elements, touched: Set[bytes], after: Elements) -> ElementChange:
    removed = {key: running[key] for key in sorted(touched | after.keys()) if key in running and running[key] != after.get(key)}
    added = {key: element for key, element in sorted(after.items()) if running.get(key) != element}
    return ElementChange(declare(name, len(running)), removed, added)


def assemble_ruleset(gateway: GatewaySpec, elements: Mapping[str, Elements]) -> Ruleset:
    """Return the ruleset around these elements, without sets of prefix lengths that are no longer in use.

    Raises PolicyError when the elements cannot be this gateway's.
    """
    shape = _build_shape(gateway, {name: len(each) for name, each in elements.items()})
    probing.check_probe_collisions(gateway, elements)
    conflicts.check_listener_conflicts(ElementsAfter(elements, {}))
    return replace(shape, elements={name: elements.get(name, NO_ELEMENTS) for name in shape.sets})


def _build_shape(gateway: GatewaySpec, counts: Mapping[str, int]) -> Ruleset:
    """Return the ruleset without its elements, from the number of elements in each set."""
    _check_management(gateway)
    there = {name for name, count in counts.items() if name in ALWAYS or count}
    there |= {follower for name in there for follower in iter_dependent_sets(name)}
    sets = {name: declare(name, counts.get(name, 0)) for name in sorted(there)}
    used = UsedSets(frozenset(sets))
    if len(used.list_lengths("up6")) > MOST_LENGTHS:
        text = "members' IPv6 prefixes have {} different lengths; at most {} are possible"
        raise PolicyError(text.format(len(used.list_lengths("up6")), MOST_LENGTHS))
    sets |= limit_sets.build_limit_sets(gateway.settings.limits)
    if gateway.settings.profile:
        profile.check_profile(gateway.settings.profile)
    built, counters = chains.build_chains(gateway, used), chains.list_counters(gateway, used)
    return Ruleset(built, dict(sorted(sets.items())), {}, counters, gateway.settings.profile, _build_shaper(gateway, used))


def _build_shaper(gateway: GatewaySpec, used: UsedSets) -> UplinkShaper | None:
    """Build the shaper of the gateway's uplink. Addresses that share the longest of the members' IPv6 prefixes belong to one member: with
    a shorter one, several members would be taken for one.
    """
    if gateway.settings.shaping is None:
        return None
    made = UplinkShaper(gateway.interfaces.wan, gateway.settings.shaping, max(used.list_lengths("up6"), default=_USUAL_LENGTH))
    shaper.check_shaper(made)
    return made


def _check_management(gateway: GatewaySpec) -> None:
    if not gateway.management.sources:
        raise PolicyError(f"gateway {gateway.name}: it has no management network, so this ruleset would lock everybody out; add one")
