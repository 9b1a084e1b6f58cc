"""Compares the kernel's ruleset with the committed one: rules by name, elements one by one. Pure; times are Unix seconds.

In: the ruleset as committed and as found, and what `NftTable.listing` returned then and returns now.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

from firewall.diff import list_lacking
from firewall.ruleset import Elements, Ruleset, drop_expired
from firewall.wire import DRIFT_SHOWN, ElementDrift
from gateway.running_ruleset import SLACK, reconcile_times

ChainFingerprints = Mapping[str, str]


def compare_rules(committed: Ruleset, found: Ruleset, before: ChainFingerprints, after: ChainFingerprints) -> tuple[str, ...]:
    """Return the names of chains, sets and counters that are missing, foreign or altered, each with its kind."""
    chains = (f"chain {name}" for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name))
    names = sorted(committed.sets.keys() | found.sets.keys())
    sets = (f"set {name}" for name in names if committed.sets.get(name) != found.sets.get(name))
    counters = (f"counter {name}" for name in sorted(committed.counters ^ found.counters))
    return (*chains, *sets, *counters)


def compare_elements(committed: Ruleset, found: Ruleset, now: float, slack: float = SLACK) -> dict[str, ElementDrift]:
    """Return the sets whose elements differ at `now`.

    An element with another value or expiry counts as both missing and foreign. slack: as in `reconcile_times`.
    """
    wanted, held = drop_expired(committed, now), drop_expired(reconcile_times(found, committed, now, slack), now)
    names = sorted(wanted.elements.keys() | held.elements.keys())
    return dict(_iter_element_drift((name, wanted.elements.get(name, {}), held.elements.get(name, {})) for name in names))


def _iter_element_drift(sets: Iterator[tuple[str, Elements, Elements]]) -> Iterator[tuple[str, ElementDrift]]:
    for name, wanted, held in sets:
        if wanted is held:
            continue
        missing, foreign = list_lacking(wanted, held), list_lacking(held, wanted)
        if missing or foreign:
            yield name, ElementDrift(_take_first(missing), _take_first(foreign), len(missing), len(foreign))


def _take_first(differing: Elements) -> Elements:
    return dict(islice(differing.items(), DRIFT_SHOWN))
