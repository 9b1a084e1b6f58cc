"""Splits a change into the transactions in which it is loaded: what no rule looks up yet may be loaded piece by piece. Pure.

Elements with an end are loaded few at a time: the kernel counts their remaining time from when it takes them, and the remaining time is
written when their transaction begins.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

from firewall.diff import Delta, ElementChange
from firewall.ruleset import Element, Elements

LARGE = 4096  # elements
AT_ONCE = 65_536  # elements of one transaction, where there may be several
TIMED_AT_ONCE = 2048  # the same of those that have an end


def split_prefill(delta: Delta) -> tuple[Delta, Delta]:
    """The sets that are new and large or have elements that end, with their elements; and the rest of the delta."""
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


def iter_pieces(changes: Mapping[str, ElementChange]) -> Iterator[Mapping[str, ElementChange]]:
    """So few elements at a time that little of the time until they end passes before the kernel counts it."""
    for name, change in changes.items():
        for some in iter_batches(change.added, TIMED_AT_ONCE if change.of.timeout else AT_ONCE):
            yield {name: ElementChange(change.of, {}, some)}


def iter_batches(elements: Elements, most: int) -> Iterator[dict[bytes, Element]]:
    remaining = iter(elements.items())
    while some := dict(islice(remaining, most)):
        yield some
