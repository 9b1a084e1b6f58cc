"""Verifies after a commit that the kernel holds what was requested. Reads only what the delta touched, and of large sets only a sample.

The kernel accepted the transaction as a whole, so this looks for systematic errors, which a sample shows too. A dump of 500,000
elements takes the kernel longer than loading them; the Digest operation does it, outside a deploy.
"""

from collections.abc import Callable

from firewall.diff import Delta, ElementChange
from firewall.ruleset import Elements, Set
from gateway.load_plan import sample_elements
from gateway.running_ruleset import SLACK, is_same_within_slack
from gateway.table import NftTable

MAX_CHECKED_KEYS = 128  # keys read back of each set


def verify_commit(table: NftTable, delta: Delta, clock: Callable[[], float]) -> str:
    """Return the first fault, or "" if there is none. clock: returns Unix seconds."""
    declared = table.read_declarations() if delta.sets else {}
    for name, declaration in delta.sets.items():
        if declared.get(name) != declaration.after:
            return f"set {name} is declared as {declared.get(name)}, not as {declaration.after}"
    for name, change in delta.elements.items():
        stays = name not in delta.sets or delta.sets[name].after
        if stays and (fault := _find_fault(table, change, clock, anew=name in delta.sets)):
            return f"set {name}: {fault}"
    return ""


def _find_fault(table: NftTable, change: ElementChange, clock: Callable[[], float], *, anew: bool) -> str:
    gone = set() if anew else sample_elements(change.removed, MAX_CHECKED_KEYS).keys() - change.added.keys()
    added = sample_elements(change.added, MAX_CHECKED_KEYS)
    start = clock()
    found = table.read_elements(change.of, (*added, *gone), start)
    if found == added:
        return ""
    if still := found.keys() & gone:
        return f"{min(still).hex()} is still there"
    return _find_missing(change.of, added, found, start, clock() - start + table.lateness)


def _find_missing(of: Set, added: Elements, found: Elements, start: float, spent: float) -> str:
    """Describe the first element that is missing or differs; "" if there is none.

    start: when reading began. spent: seconds by which expiry times may differ besides SLACK: the duration of the read, and the
    lateness of the load before it.
    """
    for key, element in added.items():
        held = found.get(key)
        if held is None and not (of.timeout and 0 < element.expires <= start + spent + SLACK):
            return f"{key.hex()} is missing"
        if held is not None and not is_same_within_slack(held, element, SLACK + spent):
            return f"{key.hex()} is {held}, not {element}"
    return ""
