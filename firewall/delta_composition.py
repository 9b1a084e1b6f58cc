"""Composition of two deltas into one, to show how rulesets differ that are several deltas apart, at the cost of what changed.

Not for sending: where a set was made anew in between, a gateway would need all of its elements.
"""

from collections.abc import Mapping

from firewall.diff import NO_COUNTERS, ChainChange, CounterChange, Delta, ElementChange, KernelProfileChange, SetChange, ShaperChange
from firewall.ruleset import Element


def compose_deltas(first: Delta, second: Delta) -> Delta:
    """Return the delta of both: `apply(apply(ruleset, first), second) == apply(ruleset, compose(first, second))`.

    What comes and goes again is left out.
    """
    names = dict.fromkeys([*first.elements, *second.elements])
    elements = {name: _compose_elements(first.elements.get(name), second.elements.get(name)) for name in names}
    return Delta(
        _compose_chains(first.chains, second.chains),
        _compose_sets(first.sets, second.sets),
        {name: change for name, change in elements.items() if change and (change.removed or change.added)},
        _compose_counters(first.counters, second.counters),
        _compose_profile(first.profile, second.profile),
        _compose_shaper(first.shaper, second.shaper),
    )


def _compose_profile(first: KernelProfileChange | None, second: KernelProfileChange | None) -> KernelProfileChange | None:
    if first is None or second is None:
        return first or second
    return None if first.before == second.after else KernelProfileChange(first.before, second.after)


def _compose_shaper(first: ShaperChange | None, second: ShaperChange | None) -> ShaperChange | None:
    if first is None or second is None:
        return first or second
    return None if first.before == second.after else ShaperChange(first.before, second.after)


def _compose_elements(first: ElementChange | None, second: ElementChange | None) -> ElementChange | None:
    if first is None or second is None:
        return first or second
    ways: dict[bytes, tuple[Element | None, Element | None]] = {}
    for change in (first, second):
        for key in change.removed.keys() | change.added.keys():
            before = ways[key][0] if key in ways else change.removed.get(key)
            ways[key] = before, change.added.get(key)
    changed = {key: way for key, way in sorted(ways.items()) if way[0] != way[1]}
    removed = {key: before for key, (before, _after) in changed.items() if before is not None}
    added = {key: after for key, (_before, after) in changed.items() if after is not None}
    return ElementChange(second.of, removed, added)


def _compose_chains(first: Mapping[str, ChainChange], second: Mapping[str, ChainChange]) -> dict[str, ChainChange]:
    ways = {name: ChainChange(first.get(name, change).before, change.after) for name, change in second.items()}
    return {name: way for name, way in (dict(first) | ways).items() if way.before != way.after}


def _compose_sets(first: Mapping[str, SetChange], second: Mapping[str, SetChange]) -> dict[str, SetChange]:
    ways = {name: SetChange(first.get(name, change).before, change.after) for name, change in second.items()}
    return {name: way for name, way in (dict(first) | ways).items() if way.before != way.after}


def _compose_counters(first: CounterChange, second: CounterChange) -> CounterChange:
    if first == NO_COUNTERS or second == NO_COUNTERS:
        return second if first == NO_COUNTERS else first
    removed = (first.removed | second.removed) - (first.added | second.added)
    added = (first.added | second.added) - (first.removed | second.removed)
    return CounterChange(removed, added)
