"""Ports in a row that are elements one by one: how many things of people they are."""

from collections.abc import Mapping

from firewall.ruleset import PLAIN, Element, Elements
from firewall.sets import kind_of

_OF_PORTS = ("fwd4", "pin6")  # their keys end with a port, and the values of a map too


def count_things(elements: Mapping[str, Elements]) -> int:
    """How many forwards, pinholes and other things these elements are, by set; those of sets that repeat others are not counted.

    Ports in a row that lead to the same host, each as far behind, are one thing, though two people may have opened them.
    """
    return sum(_things(name, each) for name, each in elements.items() if kind_of(name))


def _things(name: str, elements: Elements) -> int:
    if name not in _OF_PORTS:
        return len(elements)
    return sum(elements.get(_one_less(key)) != _before(element) for key, element in elements.items())


def _one_less(octets: bytes) -> bytes:
    """A key or value with the port before; ports are never 0."""
    return octets[:-4] + (int.from_bytes(octets[-4:-2]) - 1).to_bytes(2) + octets[-2:]


def _before(element: Element) -> Element:
    """What the port before it is, if it belongs to the same range."""
    return Element(_one_less(element.value)) if element.value else PLAIN
