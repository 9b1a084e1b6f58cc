"""Hides the addresses at which mail acts as a staff member (`support+s…@`) wherever mail is shown, stored for reading or logged.

Such an address belongs to one person, and occurs only in mails to that person. Pure.
"""

import re
from typing import Final

STAFF_ADDRESS: Final = r"[^\s@<>]{0,64}\+s[0-9]{1,18}\.[0-9]{1,18}\.[a-z2-7]{24}@[a-z0-9.-]{1,253}"  # apps/tickets/addressing.py
HIDDEN: Final = "…@…"
_IN_TEXT: Final = re.compile(STAFF_ADDRESS, re.IGNORECASE)
_IN_OCTETS: Final = re.compile(STAFF_ADDRESS.encode(), re.IGNORECASE)


def redact_staff_addresses(text: str) -> str:
    """Replace such addresses in the text with HIDDEN."""
    return _IN_TEXT.sub(HIDDEN, text)


def redact_raw_mail(octets: bytes) -> bytes:
    """Replace them in a raw mail. Misses what the author wrapped or encoded; but mail needs more than the address to act as staff."""
    return _IN_OCTETS.sub(HIDDEN.encode(), octets)
