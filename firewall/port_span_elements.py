"""Ports in a row that are elements one by one: how many things of people they are."""

from collections.abc import Mapping

from firewall.ruleset import PLAIN, Element, Elements
from firewall.sets import find_kind

_OF_PORTS = ("forward4", "pinhole6")  # their keys end with a port, and the values of a map too


def count_things(elements: Mapping[str, Elements]) -> int:
    """How many forwards, pinholes and other things these elements are, by set; those of sets that repeat others are not counted.

    Ports in a row that lead to the same host, each as far behind, are one thing, though two people may have opened them.
    """
    return sum(_count_set_things(name, each) for name, each in elements.items() if find_kind(name))


def _count_set_things(name: str, elements: Elements) -> int:
    if name not in _OF_PORTS:
        return len(elements)
    return sum(elements.get(_decrement_port(key)) != _build_previous(element) for key, element in elements.items())


def _decrement_port(octets: bytes) -> bytes:
    """A key or value with the port before; ports are never 0."""
    return octets[:-4] + (int.from_bytes(octets[-4:-2]) - 1).to_bytes(2) + octets[-2:]


def _build_previous(element: Element) -> Element:
    """What the port before it is, if it belongs to the same range."""
    return Element(_decrement_port(element.value)) if element.value else PLAIN
