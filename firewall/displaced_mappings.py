"""NAT mappings whose own public address, or block of its ports, comes to another private address in the same changes.

Two members never hold the same ports of a public address. So the removal of such a mapping cannot wait for an approval: it goes when the
other one comes.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from firewall.diff import ElementChange
from firewall.ruleset import Elements

_LONE_MAPPINGS: Final = ("snat4_own", "snat4_block")  # each public address, or block of its ports, is one member's alone


def find_displaced_mappings(removed: Mapping[str, Elements], changes: Mapping[str, ElementChange]) -> Mapping[str, Elements]:
    """Return the displaced part of what the changes remove, with the elements that repeat it. The cost grows with the changes."""
    gone = [(key, *_parse_place(element.value)) for name in _LONE_MAPPINGS for key, element in removed.get(name, {}).items()]
    new = _collect_new_places(changes) if gone else {}
    keys = {key for key, public, ports in gone if any(key != other and _overlap(ports, taken) for other, taken in new.get(public, ()))}
    parts = {name: {key: element for key, element in elements.items() if key in keys} for name, elements in removed.items() if keys}
    return {name: elements for name, elements in parts.items() if elements}


def _collect_new_places(changes: Mapping[str, ElementChange]) -> Mapping[bytes, list[tuple[bytes, range]]]:
    """Return the private addresses that get an own address or a block, with the ports, by public address."""
    found = defaultdict[bytes, list[tuple[bytes, range]]](list)
    for name in _LONE_MAPPINGS:
        if name in changes:
            _, removed, added = changes[name]
            for key, element in added.items():
                if removed.get(key) != element:  # a set that is made anew gets its other elements back
                    public, ports = _parse_place(element.value)
                    found[public].append((key, ports))
    return found


def _parse_place(value: bytes) -> tuple[bytes, range]:
    """Return the public address of a mapping's value, and the ports of it that are its own: those of its block, or all."""
    return value[:4], range(int.from_bytes(value[4:6]), int.from_bytes(value[12:14]) + 1) if len(value) > 4 else range(1 << 16)


def _overlap(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop
