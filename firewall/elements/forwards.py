"""Port forwards: which member's host and port a public address, protocol and port lead to."""

from ipaddress import IPv4Address

from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.elements.unique import all_different
from firewall.policy import Forward, Keys, Policy, PolicyError, Protocol
from firewall.ruleset import Element

PROTOCOL_KEY = {Protocol.TCP: b"\x06\0\0\0", Protocol.UDP: b"\x11\0\0\0"}  # IANA protocol numbers, padded


def elements(policy: Policy) -> ElementsBySet:
    """Raises PolicyError when a port leads to two places, or is none."""
    forwards = policy.forwards
    found = {_public(forward): Element(forward.private.packed + _port(forward, forward.private_port)) for forward in forwards}
    all_different("forward of", [f"{each.protocol} {each.public}:{each.public_port}" for each in forwards], found)
    return {"fwd4": found}


def _public(forward: Forward) -> bytes:
    return forward.public.packed + PROTOCOL_KEY[forward.protocol] + _port(forward, forward.public_port)


def _port(forward: Forward, port: int) -> bytes:
    if not 0 < port < 65536:
        raise PolicyError(f"forward {forward.id}: port {port} is not between 1 and 65535")
    return port.to_bytes(2) + b"\0\0"


def keys(touched: Keys) -> KeysBySet:
    """Where the touched ports are, if they are."""
    return {"fwd4": {_key(*port) for port in touched.ports}}


def _key(protocol: Protocol, public: IPv4Address, port: int) -> bytes:
    return public.packed + PROTOCOL_KEY[protocol] + port.to_bytes(2) + b"\0\0"
