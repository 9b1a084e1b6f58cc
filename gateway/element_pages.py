"""Cuts a ruleset's elements into answers to ReadElements, ordered by set and key. Pure: a ruleset and a place come in."""

from heapq import nsmallest

from firewall.ruleset import Elements, Ruleset
from firewall.running_elements import MOST_ELEMENTS, ElementsAre


def build_page(running: Ruleset, after_set: str, after_key: bytes, most: int = MOST_ELEMENTS) -> ElementsAre:
    """Return the elements behind this place, at most `most`. A place whose element or set is gone meanwhile is a place all the same."""
    page: dict[str, Elements] = {}
    left, more = most, False
    for name in sorted(name for name in running.elements if name >= after_set):
        elements = running.elements[name]
        behind = [key for key in elements if name > after_set or key > after_key]
        if here := nsmallest(left, behind):
            page[name] = {key: elements[key] for key in here}
        left -= len(here)
        if more := len(here) < len(behind):
            break
    return ElementsAre({name: running.sets[name] for name in page}, page, more)
