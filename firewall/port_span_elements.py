"""Counts objects in sets in which a range of ports is one element for each port."""

from collections.abc import Mapping

from firewall.ruleset import PLAIN, Element, Elements
from firewall.sets import find_kind

_OF_PORTS = ("forward4", "pinhole6")  # their keys end with a port, and the values of a map too


def count_element_objects(elements: Mapping[str, Elements]) -> int:
    """Return the number of objects (forwards, pinholes and others) that these elements are; sets that repeat others do not count.

    Ports in a row that lead to the same host, each as far behind, are one object, though two people may have opened them.
    """
    return sum(_count_set_things(name, each) for name, each in elements.items() if find_kind(name))


def _count_set_things(name: str, elements: Elements) -> int:
    if name not in _OF_PORTS:
        return len(elements)
    return sum(elements.get(_decrement_port(key)) != _build_previous(element) for key, element in elements.items())


def _decrement_port(octets: bytes) -> bytes:
    """Return a key or value with the port before its own; ports are never 0."""
    return octets[:-4] + (int.from_bytes(octets[-4:-2]) - 1).to_bytes(2) + octets[-2:]


def _build_previous(element: Element) -> Element:
    """Return the element of the port before, as it is if it belongs to the same range."""
    return Element(_decrement_port(element.value)) if element.value else PLAIN
