"""The difference between two rulesets: (running, wanted) -> Delta, a value that can be applied, inverted, rendered and sent.

Elements are compared by key; a chain is one thing and is rewritten whole when any of its rules differs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from firewall.policy import Profile
from firewall.ruleset import NO_ELEMENTS, Chain, Elements, Ruleset, Set, UplinkShaper, iter_used_sets


class ElementChange(NamedTuple):
    """Elements that leave a set and elements that enter it; a changed element does both. `of` declares their types."""

    of: Set
    removed: Elements
    added: Elements

    def apply(self, elements: Elements) -> Elements:
        """Return a new mapping: `elements` without the removed, with the added."""
        changed = elements.copy() if isinstance(elements, dict) else dict(elements)  # copy() is faster, above all after deletions
        for key in self.removed:
            changed.pop(key, None)
        changed.update(self.added)
        return changed


class ChainChange(NamedTuple):
    """A chain before and after; None where it does not exist. If both are equal, its rules are rewritten because a set they use is new."""

    before: Chain | None
    after: Chain | None


class SetChange(NamedTuple):
    """A set's declaration before and after; None where the set does not exist."""

    before: Set | None
    after: Set | None


class CounterChange(NamedTuple):
    """Names of the table's counters that are removed and added."""

    removed: frozenset[str]
    added: frozenset[str]


class KernelProfileChange(NamedTuple):
    """The kernel settings before and after; None: the kernel is left as it is."""

    before: Profile | None
    after: Profile | None


class ShaperChange(NamedTuple):
    """The uplink's shaper before and after; None: the uplink's queue is left as it is."""

    before: UplinkShaper | None
    after: UplinkShaper | None


NO_COUNTERS = CounterChange(frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Delta:
    """The difference between two rulesets, by name."""

    chains: Mapping[str, ChainChange] = field(default_factory=dict)
    sets: Mapping[str, SetChange] = field(default_factory=dict)
    elements: Mapping[str, ElementChange] = field(default_factory=dict)
    counters: CounterChange = NO_COUNTERS
    profile: KernelProfileChange | None = None
    shaper: ShaperChange | None = None

    def __bool__(self) -> bool:
        """True if there is anything to do."""
        return bool(self.touches_rules or self.elements or self.touches_kernel)

    @property
    def touches_kernel(self) -> bool:
        """True if the delta changes settings of the kernel beside the table."""
        return bool(self.profile or self.shaper)

    @property
    def touches_rules(self) -> bool:
        """True if the delta changes more of the table than elements."""
        return bool(self.chains or self.sets or any(self.counters))

    def invert(self) -> "Delta":
        """Return the delta that leads back."""
        return Delta(
            {name: ChainChange(after, before) for name, (before, after) in self.chains.items()},
            {name: SetChange(after, before) for name, (before, after) in self.sets.items()},
            {name: ElementChange(of, added, removed) for name, (of, removed, added) in self.elements.items()},
            CounterChange(self.counters.added, self.counters.removed),
            KernelProfileChange(self.profile.after, self.profile.before) if self.profile else None,
            ShaperChange(self.shaper.after, self.shaper.before) if self.shaper else None,
        )


def diff(running: Ruleset, wanted: Ruleset) -> Delta:
    """Return the delta that makes `wanted` out of `running`; empty when they are equal."""
    shape = diff_shape(running, wanted)
    elements = {}
    for name in sorted(running.sets.keys() | wanted.sets.keys()):
        of = wanted.sets.get(name) or running.sets[name]
        old, new = running.elements.get(name, {}), wanted.elements.get(name, {})
        removed, added = (old, new) if name in shape.sets else _compare(old, new)
        if removed or added:
            elements[name] = ElementChange(of, removed, added)
    return replace(shape, elements=elements)


def diff_shape(running: Ruleset, wanted: Ruleset) -> Delta:
    """Return the delta without elements. A set that is made anew loses its elements, so the caller has to put them into the delta."""
    sets = {
        name: SetChange(running.sets.get(name), wanted.sets.get(name))
        for name in sorted(running.sets.keys() | wanted.sets.keys())
        if running.sets.get(name) != wanted.sets.get(name)
    }
    chains = {}
    for name in _iter_names(running.chains, wanted.chains):
        before, after = running.chains.get(name), wanted.chains.get(name)
        if before != after or (after and not sets.keys().isdisjoint(iter_used_sets(after))):
            chains[name] = ChainChange(before, after)
    counters = CounterChange(running.counters - wanted.counters, wanted.counters - running.counters)
    profile = None if running.profile == wanted.profile else KernelProfileChange(running.profile, wanted.profile)
    shaper = None if running.shaper == wanted.shaper else ShaperChange(running.shaper, wanted.shaper)
    return Delta(chains, sets, {}, counters, profile, shaper)


def _iter_names(running: Mapping[str, Chain], wanted: Mapping[str, Chain]) -> Iterator[str]:
    yield from wanted
    yield from (name for name in running if name not in wanted)


def _compare(running: Elements, wanted: Elements) -> tuple[Elements, Elements]:
    if running is wanted:
        return {}, {}
    return list_lacking(running, wanted), list_lacking(wanted, running)


def list_lacking(these: Elements, those: Elements) -> Elements:
    """Return the elements of the first that are not in the second, sorted.

    They are compared as `Element` does, but here, because its methods would take six times as long: most are the very same objects,
    and there are hundreds of thousands.
    """
    lacking = [
        (key, element)
        for key, element in these.items()
        if (other := those.get(key)) is not element and (other is None or other[0] != element[0] or other[2] != element[2])
    ]
    return dict(sorted(lacking))


def apply(running: Ruleset, delta: Delta, after: Mapping[str, Elements] | None = None) -> Ruleset:
    """Return the ruleset that the delta leads to; `running` stays as it is, and both share what the delta does not change.

    after: the elements of sets afterwards, where the caller knows them: rulesets that share a set's elements go on sharing them.
    """
    chains = {name: chain for name, chain in running.chains.items() if name not in delta.chains}
    chains |= {name: change.after for name, change in delta.chains.items() if change.after}
    sets = {name: declaration for name, declaration in running.sets.items() if name not in delta.sets}
    sets |= {name: change.after for name, change in delta.sets.items() if change.after}
    elements = dict(running.elements)
    for name, change in delta.elements.items():
        elements[name] = after[name] if after and name in after else change.apply(elements.get(name, {}))
    counters = running.counters - delta.counters.removed | delta.counters.added
    profile = delta.profile.after if delta.profile else running.profile
    shaper = delta.shaper.after if delta.shaper else running.shaper
    return Ruleset(chains, sets, {name: elements.get(name, NO_ELEMENTS) for name in sets}, counters, profile, shaper)
