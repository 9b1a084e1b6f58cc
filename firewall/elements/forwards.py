"""Port forwards: which member's host and port a public address, protocol and port lead to. A range is an element for each of its ports.

Ranges stay out of the kernel: a concatenation with intervals costs every new connection a walk through all of them.
"""

from ipaddress import IPv4Address

from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.policy import Forward, Keys, Policy, PolicyError, Protocol
from firewall.ruleset import Element

PROTOCOL_KEY = {Protocol.TCP: b"\x06\0\0\0", Protocol.UDP: b"\x11\0\0\0"}  # IANA protocol numbers, padded
MOST_PORTS = 1000  # of one forward


def elements(policy: Policy) -> ElementsBySet:
    """Raises PolicyError when a port leads to two places, or is none, or a forward has too many."""
    found: dict[bytes, Element] = {}
    wanted = 0
    for forward in policy.forwards:
        _check(forward)
        public, private = forward.public.packed + PROTOCOL_KEY[forward.protocol], forward.private.packed
        away = forward.private_port - forward.public_port
        for port in _public_ports(forward):
            found[public + _port(port)] = Element(private + _port(port + away))
        wanted += forward.ports
    if len(found) != wanted:
        _name_twice(policy.forwards)
    return {"fwd4": found}


def _check(forward: Forward) -> None:
    if not 0 < forward.ports <= MOST_PORTS:
        raise PolicyError(f"forward {forward.id}: {forward.ports} ports; a forward has 1 to {MOST_PORTS}")
    for first in (forward.public_port, forward.private_port):
        if not 0 < first <= 65536 - forward.ports:
            wrong = first if not 0 < first < 65536 else first + forward.ports - 1
            raise PolicyError(f"forward {forward.id}: port {wrong} is not between 1 and 65535")


def _name_twice(forwards: tuple[Forward, ...]) -> None:
    first: dict[tuple[Protocol, IPv4Address, int], Forward] = {}
    for forward in forwards:
        for port in _public_ports(forward):
            before = first.setdefault((forward.protocol, forward.public, port), forward)
            if before is not forward:
                where = f"{forward.protocol} {forward.public}:{port}"
                raise PolicyError(f"forward of {where} is given twice: by forward {before.id} and by forward {forward.id}")


def _public_ports(forward: Forward) -> range:
    return range(forward.public_port, forward.public_port + forward.ports)


def _port(port: int) -> bytes:
    return port.to_bytes(2) + b"\0\0"


def keys(touched: Keys) -> KeysBySet:
    """Where the touched ports are, if they are."""
    return {"fwd4": {public.packed + PROTOCOL_KEY[protocol] + _port(port) for protocol, public, port in touched.ports}}
