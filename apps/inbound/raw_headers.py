"""The headers of a mail as octets, found without taking anything apart."""

from typing import Final

MOST: Final = 256 << 10


def extract_headers(octets: bytes, most: int = MOST) -> bytes:
    """What stands before the first empty line, at most so much of it."""
    first = octets[:most]
    ends = [at for at in (first.find(b"\n\n"), first.find(b"\r\n\r\n"), first.find(b"\r\r")) if at >= 0]
    return first[: min(ends, default=len(first))]
