"""Finds the headers of a mail as octets, without parsing them."""

from typing import Final

MAX_HEADER_OCTETS: Final = 256 << 10


def extract_headers(octets: bytes, most: int = MAX_HEADER_OCTETS) -> bytes:
    """Return the octets before the first empty line, at most `most`."""
    first = octets[:most]
    ends = [at for at in (first.find(b"\n\n"), first.find(b"\r\n\r\n"), first.find(b"\r\r")) if at >= 0]
    return first[: min(ends, default=len(first))]
