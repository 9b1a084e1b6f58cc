"""Elements of port forwards: public address, protocol and port, with the member's host and port they lead to. A range has one for
each port.

Ranges stay out of the kernel: a concatenation with intervals costs every new connection a walk through all of them.
"""

from ipaddress import IPv4Address

from firewall.elements.types import ElementError, ElementsBySet, KeysBySet
from firewall.policy import ForwardSpec, Policy, PolicyError, TouchedKeys, TransportProtocol
from firewall.ruleset import Element

PROTOCOL_KEY = {TransportProtocol.TCP: b"\x06\0\0\0", TransportProtocol.UDP: b"\x11\0\0\0"}  # IANA protocol numbers, padded
MOST_PORTS = 1000  # of one forward


def build_elements(policy: Policy) -> ElementsBySet:
    """Return the elements, by set. Raises PolicyError when a port leads to two places or is not valid, or a forward has too many ports."""
    found: dict[bytes, Element] = {}
    wanted = 0
    for forward in policy.forwards:
        _check(forward)
        public, private = forward.public.packed + PROTOCOL_KEY[forward.protocol], forward.private.packed
        away = forward.private_port - forward.public_port
        for port in _list_public_ports(forward):
            found[public + _pack_port(port)] = Element(private + _pack_port(port + away))
        wanted += forward.ports
    if len(found) != wanted:
        _raise_duplicate(policy.forwards)
    return {"forward4": found}


def _check(forward: ForwardSpec) -> None:
    if not 0 < forward.ports <= MOST_PORTS:
        raise PolicyError(f"forward {forward.id}: {forward.ports} ports; a forward has 1 to {MOST_PORTS}")
    for first in (forward.public_port, forward.private_port):
        if not 0 < first <= 65536 - forward.ports:
            wrong = first if not 0 < first < 65536 else first + forward.ports - 1
            raise PolicyError(f"forward {forward.id}: port {wrong} is not between 1 and 65535")


def _raise_duplicate(forwards: tuple[ForwardSpec, ...]) -> None:
    first: dict[tuple[TransportProtocol, IPv4Address, int], ForwardSpec] = {}
    for forward in forwards:
        for port in _list_public_ports(forward):
            before = first.setdefault((forward.protocol, forward.public, port), forward)
            if before is not forward:
                where = f"{forward.protocol} {forward.public}:{port}"
                raise PolicyError(f"forward of {where} is given twice: by forward {before.id} and by forward {forward.id}")


def _list_public_ports(forward: ForwardSpec) -> range:
    return range(forward.public_port, forward.public_port + forward.ports)


def _pack_port(port: int) -> bytes:
    return port.to_bytes(2) + b"\0\0"


def build_keys(touched: TouchedKeys) -> KeysBySet:
    """Return the keys, by set, that forwards of the touched ports would have."""
    return {"forward4": {public.packed + PROTOCOL_KEY[protocol] + _pack_port(port) for protocol, public, port in touched.ports}}


def parse_element(_name: str, key: bytes, element: Element) -> ForwardSpec:
    """Return the forward of one port that an element is; its id is 0, because elements do not have it. Raises ElementError."""
    protocol, port = parse_service(key[4:])
    return ForwardSpec(0, protocol, IPv4Address(key[:4]), port, IPv4Address(element.value[:4]), int.from_bytes(element.value[4:6]))


def parse_service(octets: bytes) -> tuple[TransportProtocol, int]:
    """Return protocol and port at the end of a key. Raises ElementError for a protocol that no object has."""
    return parse_protocol(octets[:4]), int.from_bytes(octets[4:6])


def parse_protocol(octets: bytes) -> TransportProtocol:
    """Return the protocol of four octets of a key. Raises ElementError for one that no object has."""
    for protocol, packed in PROTOCOL_KEY.items():
        if packed == octets:
            return protocol
    raise ElementError(f"protocol {octets[0]} is neither TCP nor UDP")
