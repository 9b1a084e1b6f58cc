"""After a commit: does the kernel hold what was asked for? Only what the delta touched is read."""

from firewall.diff import Delta, ElementChange
from firewall.ruleset import Elements, Set
from gateway.running import SLACK, same
from gateway.table import Table


def verify(table: Table, delta: Delta, now: int) -> str:
    """What is not as it should be, or "" when all is."""
    declared = table.declarations() if delta.sets else {}
    for name, declaration in delta.sets.items():
        if declared.get(name) != declaration.after:
            return f"set {name} is declared as {declared.get(name)}, not as {declaration.after}"
    for name, change in delta.elements.items():
        stays = name not in delta.sets or delta.sets[name].after
        if stays and (fault := _fault(table, change, now, anew=name in delta.sets)):
            return f"set {name}: {fault}"
    return ""


def _fault(table: Table, change: ElementChange, now: int, *, anew: bool) -> str:
    gone = () if anew else tuple(key for key in change.removed if key not in change.added)
    found = table.elements(change.of, (*change.added, *gone), now)
    if found == change.added:
        return ""
    if not found.keys().isdisjoint(gone):
        return f"{min(found.keys() & set(gone)).hex()} is still there"
    return _missing(change.of, change.added, found, now)


def _missing(of: Set, added: Elements, found: Elements, now: int) -> str:
    for key, element in added.items():
        held = found.get(key)
        if held is None and not (of.timeout and 0 < element.expires <= now + SLACK):
            return f"{key.hex()} is missing"
        if held is not None and not same(held, element):
            return f"{key.hex()} is {held}, not {element}"
    return ""
