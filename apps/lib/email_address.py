"""Comparison of email addresses in Python: only the ASCII letters A to Z are case-insensitive. Pure.

By Unicode's rules, different addresses would be equal: the capital of `ı` is `I`, the small letter of the Kelvin sign is `k`. The
owner of such a domain would be taken for a member. The database compares in the same way (`email_lookups.py`).
"""

from string import ascii_lowercase, ascii_uppercase
from typing import Final

SMALL: Final = str.maketrans(ascii_uppercase, ascii_lowercase)


def lower_ascii(text: str) -> str:
    """Return the text with A to Z in lower case; all other characters stay."""
    return text.translate(SMALL)


def is_same_address(one: str, other: str) -> bool:
    """True if both are the same address. "" equals nothing."""
    return bool(one) and lower_ascii(one) == lower_ascii(other)
