"""After a commit: does the kernel hold what was asked for? Only what the delta touched is read, and of very much only a sample.

The transaction was accepted as a whole, so what is looked for are mistakes of a kind, which a sample has too. A dump of
500,000 elements takes the kernel longer than loading them; the Digest operation does it, outside a deploy.
"""

from collections.abc import Callable
from itertools import islice

from firewall.diff import Delta, ElementChange
from firewall.ruleset import Elements, Set
from gateway.running_ruleset import SLACK, is_same_element
from gateway.table import NftTable

MOST = 512  # keys read back of each set


def verify(table: NftTable, delta: Delta, clock: Callable[[], float]) -> str:
    """What is not as it should be, or "" when all is. clock: Unix seconds."""
    declared = table.declarations() if delta.sets else {}
    for name, declaration in delta.sets.items():
        if declared.get(name) != declaration.after:
            return f"set {name} is declared as {declared.get(name)}, not as {declaration.after}"
    for name, change in delta.elements.items():
        stays = name not in delta.sets or delta.sets[name].after
        if stays and (fault := _find_fault(table, change, clock, anew=name in delta.sets)):
            return f"set {name}: {fault}"
    return ""


def _find_fault(table: NftTable, change: ElementChange, clock: Callable[[], float], *, anew: bool) -> str:
    gone = set() if anew else _sample(change.removed).difference(change.added)
    added = {key: change.added[key] for key in _sample(change.added)}
    start = clock()
    found = table.elements(change.of, (*added, *gone), start)
    if found == added:
        return ""
    if still := found.keys() & gone:
        return f"{min(still).hex()} is still there"
    return _find_missing(change.of, added, found, start, clock() - start + table.lateness)


def _sample(elements: Elements) -> set[bytes]:
    """Keys, evenly spread over all of them."""
    return set(islice(elements, 0, None, len(elements) // MOST + 1))


def _find_missing(of: Set, added: Elements, found: Elements, start: float, spent: float) -> str:
    """start, spent: when reading began, and how many seconds ends may lie apart for that it took, and for what was too slow before."""
    for key, element in added.items():
        held = found.get(key)
        if held is None and not (of.timeout and 0 < element.expires <= start + spent + SLACK):
            return f"{key.hex()} is missing"
        if held is not None and not is_same_element(held, element, SLACK + spent):
            return f"{key.hex()} is {held}, not {element}"
    return ""
