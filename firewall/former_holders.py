"""Members' addresses and prefixes that changes take from their holders, by the elements that go or get another owner.

Input: the changes of a set's elements, one on top of the other. An element's owner is its value (firewall/owners.py).
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from firewall.diff import ElementChange
from firewall.ruleset import Element, Elements
from firewall.sets import format_set_name


class FormerHolder(NamedTuple):
    """A holder that an element had: the element's set and key, and the owner."""

    set_name: str
    key: bytes
    owner: bytes


class LostElements:
    """Elements of one set that go or get another owner, all changes taken together: one that comes again as it was is none of them."""

    def __init__(self) -> None:
        self._before: dict[bytes, Element] = {}  # by key, of elements that any of the changes removes: as they were first
        self._now: dict[bytes, Element] = {}  # those of them that are there again

    def note(self, change: ElementChange) -> None:
        """Note one more change, on top of those before."""
        for key, element in change.removed.items():
            self._before.setdefault(key, element)
            self._now.pop(key, None)
        for key in self._before.keys() & change.added.keys():
            self._now[key] = change.added[key]

    def collect(self) -> dict[bytes, Element]:
        """Return them by key, as they were before the first change."""
        return {key: element for key, element in self._before.items() if _is_lost(element, self._now.get(key))}


def _is_lost(before: Element, after: Element | None) -> bool:
    """True if the element goes or gets another owner; not if no owner was written down before."""
    return after is None or (before.value != after.value and bool(before.value))


def iter_former_holders(lost: Mapping[tuple[int, int], Elements], address: bytes) -> Iterator[FormerHolder]:
    """Yield the holders that had this address before they lost these elements, as far as they are written down.

    lost: elements by the octets of an address and the length of their prefixes.
    """
    for (octets, length), elements in lost.items():
        if octets == len(address):
            key = truncate_address(address, length)
            element = elements.get(key)
            if element is not None and element.value:
                yield FormerHolder("up4" if octets == 4 else format_set_name("up6", length), key, element.value)


def truncate_address(address: bytes, length: int) -> bytes:
    """Return the address with zeros behind the prefix of this length."""
    away = len(address) * 8 - length
    return (int.from_bytes(address) >> away << away).to_bytes(len(address)) if away else address
