"""Hides the addresses at which mail acts as one of the staff (`support+s…@`), wherever mail is shown, stored for reading or logged.

Such an address belongs to one person, and stands in mails to that person alone. Pure.
"""

import re
from typing import Final

STAFF_ADDRESS: Final = r"[^\s@<>]{0,64}\+s[0-9]{1,18}\.[0-9]{1,18}\.[a-z2-7]{24}@[a-z0-9.-]{1,253}"  # apps/tickets/addressing.py
HIDDEN: Final = "…@…"
_IN_TEXT: Final = re.compile(STAFF_ADDRESS, re.IGNORECASE)
_IN_OCTETS: Final = re.compile(STAFF_ADDRESS.encode(), re.IGNORECASE)


def redact(text: str) -> str:
    """The text with HIDDEN in place of such addresses."""
    return _IN_TEXT.sub(HIDDEN, text)


def redact_octets(octets: bytes) -> bytes:
    """The same in a mail as it came. Not found is what its author wrapped or encoded: mail acts as staff by more than the address."""
    return _IN_OCTETS.sub(HIDDEN.encode(), octets)
