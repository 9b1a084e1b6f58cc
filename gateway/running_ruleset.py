"""The ruleset that runs, as far as the agent knows: it changes in place, and its digest with it.

It changes in place because copying one set of 100,000 elements costs more than a whole small deploy.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import TypeVar

from firewall import digest as digests
from firewall.diff import Delta, ElementChange
from firewall.ruleset import Element, Elements, Ruleset

T = TypeVar("T")  # Python 3.11 has no syntax for type parameters


class RunningRuleset:
    """A ruleset as of the time `now`, and its digest. digest: of the ruleset as given, if it is known."""

    def __init__(self, ruleset: Ruleset, now: int, digest: int | None = None) -> None:
        self.now = 0
        self._chains, self._sets, self._counters = ruleset.chains, ruleset.sets, ruleset.counters
        self._profile, self._shaper = ruleset.profile, ruleset.shaper
        self._elements = {name: dict(elements) for name, elements in ruleset.elements.items()}
        self._ends = [end for name, elements in self._elements.items() for end in _iter_ends(name, elements)]
        heapify(self._ends)
        self.digest = digests.digest_ruleset(ruleset) if digest is None else digest
        self.advance(now)

    @property
    def ruleset(self) -> Ruleset:
        """A view that changes with this object; not a copy."""
        return Ruleset(self._chains, self._sets, self._elements, self._counters, self._profile, self._shaper)

    def advance(self, now: int) -> None:
        """Set the time to `now` (0: keep the time), and remove what has expired, as the kernel does.

        The portal's clock may also go back; elements removed too early come back when the kernel is read.
        """
        self.now = now or self.now
        while self._ends and self._ends[0][0] <= now:
            expires, name, key = heappop(self._ends)
            element = self._elements.get(name, {}).get(key)
            if element and element.expires == expires:
                self.change(Delta(elements={name: ElementChange(self._sets[name], {key: element}, {})}))

    def change(self, delta: Delta, after: int | None = None) -> None:
        """Apply the delta, which must fit (see `misfit`). `after`: the digest it leads to, if already known."""
        self.digest = digests.update_digest(self.digest, delta) if after is None else after
        self._chains = _apply_changes(self._chains, {name: change.after for name, change in delta.chains.items()})
        self._sets = _apply_changes(self._sets, {name: change.after for name, change in delta.sets.items()})
        self._counters = self._counters - delta.counters.removed | delta.counters.added
        self._profile = delta.profile.after if delta.profile else self._profile
        self._shaper = delta.shaper.after if delta.shaper else self._shaper
        if delta.sets:
            self._elements = {name: {} if name in delta.sets else self._elements[name] for name in self._sets}
        for name, (_, removed, added) in delta.elements.items():
            if name in self._elements:
                self._change_elements(name, () if name in delta.sets else removed, added)

    def _change_elements(self, name: str, removed: Iterable[bytes], added: Elements) -> None:
        elements = self._elements[name]
        for key in removed:
            elements.pop(key, None)
        elements.update(added)
        for end in _iter_ends(name, added):
            heappush(self._ends, end)

    def find_misfit(self, delta: Delta) -> str:
        """Return the name of the first part of the delta that does not start from what runs, or "" if all of it fits."""
        chains, sets = self._chains, self._sets
        yet = [f"chain {name}" for name, change in delta.chains.items() if chains.get(name) != change.before]
        yet += [f"set {name}" for name, change in delta.sets.items() if sets.get(name) != change.before]
        yet += [f"counter {name}" for name in delta.counters.removed - self._counters | delta.counters.added & self._counters]
        yet += ["profile"] if delta.profile and delta.profile.before != self._profile else []
        yet += ["shaper"] if delta.shaper and delta.shaper.before != self._shaper else []
        yet += [f"elements of {name}" for name, change in delta.elements.items() if not self._fits(name, change, delta)]
        yet += [f"elements of {name}" for name in delta.sets if name not in delta.elements and self._elements.get(name)]
        return yet[0] if yet else ""

    def _fits(self, name: str, change: ElementChange, delta: Delta) -> bool:
        elements = self._elements.get(name, {})
        declared = delta.sets[name].after or delta.sets[name].before if name in delta.sets else self._sets.get(name)
        whole = name not in delta.sets or len(change.removed) == len(elements)
        return (
            change.of == declared
            and whole
            and all(elements.get(key) == element for key, element in change.removed.items())
            and all(key not in elements or key in change.removed for key in change.added)
        )


def _apply_changes(held: Mapping[str, T], changes: Mapping[str, T | None]) -> Mapping[str, T]:
    if not changes:
        return held
    kept = {name: each for name, each in held.items() if name not in changes}
    return kept | {name: after for name, after in changes.items() if after is not None}


def _iter_ends(name: str, elements: Elements) -> Iterator[tuple[int, str, bytes]]:
    return ((element.expires, name, key) for key, element in elements.items() if element.expires)


def drop_expired_changes(delta: Delta, now: float) -> Delta:
    """Return the delta without elements that have expired at `now`, on either side."""
    elements = {
        name: ElementChange(of, _prune_elements(removed, now), _prune_elements(added, now))
        if of.timeout
        else ElementChange(of, removed, added)
        for name, (of, removed, added) in delta.elements.items()
    }
    return replace(delta, elements={name: each for name, each in elements.items() if each.removed or each.added})


def _prune_elements(elements: Elements, now: float) -> dict[bytes, Element]:
    return {key: element for key, element in elements.items() if not 0 < element.expires <= now}


SLACK = 2  # seconds: the kernel rounds times, and a commit may be late by some before the agent corrects the expiry times


def is_same_within_slack(one: Element, other: Element, slack: float = SLACK) -> bool:
    """True if the elements are equal, except for up to `slack` seconds of their expiry times."""
    if one == other:
        return True
    return one[:2] == other[:2] and one.expires > 0 < other.expires and abs(one.expires - other.expires) <= slack


def reconcile_times(found: Ruleset, known: Ruleset, clock: float, slack: float = SLACK) -> Ruleset:
    """Return `found`, but with the known elements where only time makes a difference.

    This covers rounded expiry times, and elements about to expire that are already gone. slack: seconds; SLACK plus the duration
    of the read, because a remaining time was right at some unknown moment of the read.
    """
    elements: dict[str, Elements] = dict(found.elements)
    for name, declaration in found.sets.items():
        if declaration.timeout and name in known.elements:
            elements[name] = _reconcile_elements(found.elements[name], known.elements[name], clock, slack)
    return replace(found, elements=elements)


def _reconcile_elements(found: Elements, known: Elements, clock: float, slack: float) -> dict[bytes, Element]:
    ending = {key: element for key, element in known.items() if 0 < element.expires <= clock + slack}
    return ending | {
        key: known[key] if key in known and is_same_within_slack(element, known[key], slack) else element for key, element in found.items()
    }
