"""Elements of IPv6 pinholes: the openings of members' addresses.

There is an element for each port of a range, one for all ports of a protocol, or one for everything.
"""

from collections.abc import Iterator
from ipaddress import IPv6Address

from firewall.elements.forwards import MOST_PORTS, PROTOCOL_KEY, parse_protocol, parse_service
from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.policy import Hole, PinholeSpec, Policy, PolicyError, TouchedKeys
from firewall.ruleset import PLAIN, Element


def build_elements(policy: Policy) -> ElementsBySet:
    """Return the elements, by set. Raises PolicyError when something is open twice, or a port is not valid."""
    holders: dict[tuple[str, bytes], PinholeSpec] = {}
    found: ElementsBySet = {"pinhole6": {}, "pinhole_protocol6": {}, "pinhole_host6": {}}
    for pinhole in policy.pinholes:
        _check(pinhole)
        for name, key in _iter_keys(pinhole.hole):
            before = holders.setdefault((name, key), pinhole)
            if before is not pinhole:
                raise PolicyError(f"pinhole {pinhole.id}: {_describe_hole(pinhole.hole)} is already open by pinhole {before.id}")
            found[name][key] = PLAIN
    return found


def _check(pinhole: PinholeSpec) -> None:
    _address, protocol, port, ports = pinhole.hole
    if protocol is None and port:
        raise PolicyError(f"pinhole {pinhole.id}: a port needs a protocol")
    if port and not 0 < ports <= MOST_PORTS:
        raise PolicyError(f"pinhole {pinhole.id}: {ports} ports; a pinhole has 1 to {MOST_PORTS}, or all")
    if not 0 <= port <= 65536 - (ports if port else 0):
        raise PolicyError(f"pinhole {pinhole.id}: ports {port} to {port + ports - 1} are not between 1 and 65535")


def _describe_hole(hole: Hole) -> str:
    return " ".join(filter(None, [str(hole.address), hole.protocol or "everything", str(hole.port or "")]))


def _iter_keys(hole: Hole) -> Iterator[tuple[str, bytes]]:
    """Yield set name and key of each of the hole's elements."""
    address, protocol, port, ports = hole
    if protocol is None:
        yield "pinhole_host6", address.packed
    elif not port:
        yield "pinhole_protocol6", address.packed + PROTOCOL_KEY[protocol]
    else:
        start = address.packed + PROTOCOL_KEY[protocol]
        for each in range(port, port + ports):
            yield "pinhole6", start + each.to_bytes(2) + b"\0\0"


def build_keys(touched: TouchedKeys) -> KeysBySet:
    """Return the keys, by set, that the touched holes would have."""
    found: KeysBySet = {}
    for hole in touched.holes:
        for name, key in _iter_keys(hole):
            found.setdefault(name, set()).add(key)
    return found


def parse_element(name: str, key: bytes, _element: Element) -> PinholeSpec:
    """Return the pinhole of one port, one protocol or everything that an element is; its id is 0. Raises ElementError."""
    address = IPv6Address(key[:16])
    if name == "pinhole_host6":
        return PinholeSpec(0, Hole(address))
    if name == "pinhole_protocol6":
        return PinholeSpec(0, Hole(address, parse_protocol(key[16:])))
    return PinholeSpec(0, Hole(address, *parse_service(key[16:])))
