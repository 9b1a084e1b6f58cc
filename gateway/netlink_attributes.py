"""Attributes, of which netlink messages of all families consist: type, length and value, where a value may be attributes again.

Pure. Layout: linux/netlink.h; types and lengths are in the machine's byte order. Values of nf_tables and conntrack are in network order.
"""

from collections.abc import Iterator
from struct import Struct

from gateway.table import TableError

_ATTRIBUTE = Struct("=HH")  # length, type
_NESTED = 0x8000
_TYPE_MASK = 0x3FFF


def pack_attribute(kind: int, value: bytes) -> bytes:
    """Return one attribute with its padding."""
    return _ATTRIBUTE.pack(4 + len(value), kind) + value + bytes(-len(value) % 4)


def pack_nested(kind: int, *parts: bytes) -> bytes:
    """Return an attribute that consists of attributes."""
    return pack_attribute(kind | _NESTED, b"".join(parts))


def pack_text(kind: int, value: str) -> bytes:
    """Return a text attribute, terminated by a zero octet."""
    return pack_attribute(kind, value.encode() + b"\0")


def iter_attribute_spans(octets: bytes, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int, int]]:
    """Return type, start and end of each attribute's value."""
    end = len(octets) if end is None else end
    while start + 4 <= end:
        length, kind = _ATTRIBUTE.unpack_from(octets, start)
        if length < 4 or start + length > end:
            raise TableError(f"netlink: an attribute of {length} octets where {end - start} are left")
        yield kind & _TYPE_MASK, start + 4, start + length
        start += (length + 3) & ~3


def parse_attributes(octets: bytes) -> dict[int, bytes]:
    """Return the attributes' values by type."""
    return {kind: octets[start:end] for kind, start, end in iter_attribute_spans(octets)}


def parse_attribute_text(value: bytes) -> str:
    """Return the text of an attribute."""
    return value.rstrip(b"\0").decode(errors="replace")


def parse_number(value: bytes) -> int:
    """Return the unsigned number in an attribute of any width."""
    return int.from_bytes(value)
