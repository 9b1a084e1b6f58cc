"""Splits a change into transactions: new sets that are large or expire are filled first, in batches; the rest follows in one. Pure.

Also picks some elements of a change, where looking at all of them would take too long.

Elements that expire are loaded few at a time: their remaining time is written when the transaction begins, but the kernel counts
it from when it accepts them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from firewall.diff import Delta, ElementChange
from firewall.ruleset import Element, Elements

LARGE = 4096  # elements
AT_ONCE = 65_536  # elements of one transaction, if there may be several
TIMED_AT_ONCE = 2048  # the same for elements that expire


def split_prefill(delta: Delta) -> tuple[Delta, Delta]:
    """Split the delta in two: new sets that are large or have expiring elements, with their elements, and the rest.

    The profile is in neither part: it is not committed.
    """
    first = {
        name
        for name, change in delta.sets.items()
        if change.before is None and name in delta.elements and _is_better_first(delta.elements[name])
    }
    return (
        Delta(sets={name: delta.sets[name] for name in first}, elements={name: delta.elements[name] for name in first}),
        Delta(
            delta.chains,
            {name: change for name, change in delta.sets.items() if name not in first},
            {name: change for name, change in delta.elements.items() if name not in first},
            delta.counters,
        ),
    )


def _is_better_first(change: ElementChange) -> bool:
    return len(change.added) > LARGE or (change.of.timeout and any(element.expires for element in change.added.values()))


def iter_change_batches(changes: Mapping[str, ElementChange], *, timed: bool) -> Iterator[Mapping[str, ElementChange]]:
    """Yield batches of the elements that are added to the sets whose elements can expire, at most TIMED_AT_ONCE; or, at most AT_ONCE,
    of those added to the others.
    """
    for name, change in changes.items():
        if change.of.timeout == timed:
            for some in iter_element_batches(change.added, TIMED_AT_ONCE if timed else AT_ONCE):
                yield {name: ElementChange(change.of, {}, some)}


def sample_elements(elements: Elements, most: int) -> dict[bytes, Element]:
    """Return at most so many of the elements, evenly spread."""
    return dict(islice(elements.items(), 0, None, len(elements) // most + 1))


def sample_delta(delta: Delta, most: int) -> Delta:
    """Return the delta with about so many of the elements that enter and leave each set. What replaces another element brings it along."""
    return replace(delta, elements={name: _sample_change(change, most) for name, change in delta.elements.items()})


def _sample_change(change: ElementChange, most: int) -> ElementChange:
    added = sample_elements(change.added, most)
    replaced = {key: change.removed[key] for key in added if key in change.removed}
    removed = {key: element for key, element in sample_elements(change.removed, most).items() if key in added or key not in change.added}
    return ElementChange(change.of, removed | replaced, added)


def iter_element_batches(elements: Elements, most: int) -> Iterator[dict[bytes, Element]]:
    remaining = iter(elements.items())
    while some := dict(islice(remaining, most)):
        yield some
