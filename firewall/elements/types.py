"""Types of elements, and of keys of elements, by the name of their set; and prefixes read back from keys."""

from ipaddress import ip_network
from typing import TypeAlias

from firewall.policy import Prefix
from firewall.ruleset import Element
from firewall.sets import split_set_name

ElementsBySet: TypeAlias = dict[str, dict[bytes, Element]]
KeysBySet: TypeAlias = dict[str, set[bytes]]


class ElementError(ValueError):
    """An element that no object of a policy is compiled to."""


def parse_prefix_key(name: str, key: bytes) -> Prefix:
    """Return the address or prefix that a key of this set stands for. Raises ValueError if the set's prefixes have no such key."""
    return ip_network((key, int(split_set_name(name)[1] or 8 * len(key))))


def parse_row_id(element: Element, label: str) -> int:
    """Return the id in an element's comment such as “block 12”; 0 if the comment is another."""
    number = element.comment.removeprefix(f"{label} ")
    return int(number) if number != element.comment and number.isascii() and number.isdecimal() else 0
