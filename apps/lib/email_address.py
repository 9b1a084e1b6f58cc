"""Comparison of e-mail addresses in Python: capital ASCII letters equal their small ones, and nothing else equals anything else.

Unicode's rules would take different addresses for one: the capital of `ı` is `I`, the small letter of the Kelvin sign is `k`. Whoever
owned such a domain would be found as a member. The database compares alike (`email_lookups.py`). Pure.
"""

from string import ascii_lowercase, ascii_uppercase
from typing import Final

SMALL: Final = str.maketrans(ascii_uppercase, ascii_lowercase)


def lower_ascii(text: str) -> str:
    """The text with small letters for A to Z; every other character stays."""
    return text.translate(SMALL)


def is_same_address(one: str, other: str) -> bool:
    """Whether both are one address; "" is none."""
    return bool(one) and lower_ascii(one) == lower_ascii(other)
