"""Canonical octets of a ruleset's values: equal values give equal octets on every machine and under every version of Python.

Two sides that must agree hash these octets, never text, because a library may change how it writes an address (Python 3.13 writes
::ffff:0.0.0.0/96 where 3.11 wrote ::ffff:0:0/96). Unequal values give unequal octets: each part says its kind and its length. A
field with its default value is left out, so that a new field changes nothing for values that do not use it.
"""

from dataclasses import MISSING, fields
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any


def encode_canonical(value: Any) -> bytes:
    """Return the octets of a text, number, address or prefix, of None, or of a tuple or dataclass of these.

    Raises TypeError for anything else.
    """
    if isinstance(value, str):
        text = value.encode()
        return b"s%d:%b" % (len(text), text)
    if isinstance(value, int):
        return b"i%d;" % value
    if isinstance(value, tuple):
        return b"(%b)" % b"".join(map(encode_canonical, value))
    if value is None:
        return b"n"
    return _encode_address(value) or _encode_dataclass(value)


def _encode_address(value: Any) -> bytes:
    match value:
        case IPv4Address() | IPv6Address():
            return b"a%d:%b" % (value.version, value.packed)
        case IPv4Network() | IPv6Network():
            return b"p%d:%b%d;" % (value.version, value.network_address.packed, value.prefixlen)
    return b""


def _encode_dataclass(value: Any) -> bytes:
    kind: Any = type(value)
    parts = [b"<", encode_canonical(kind.__name__)]
    for name, head, default in _list_fields(kind):
        held = getattr(value, name)
        if default is MISSING or held != default:
            parts += (head, encode_canonical(held))
    return b"".join((*parts, b">"))


@cache
def _list_fields(kind: Any) -> tuple[tuple[str, bytes, Any], ...]:
    """Return each field of this dataclass: its name, as text and in octets, and its default."""
    return tuple((each.name, encode_canonical(each.name), each.default) for each in fields(kind))
