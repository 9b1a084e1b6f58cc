"""Types of arguments that several commands share, for argparse."""

from argparse import ArgumentTypeError
from typing import Final

MOST_DAYS: Final = 36_500


def parse_days(text: str) -> int:
    """Parse the number of days until something ends, at least 1. Raises ArgumentTypeError."""
    days = int(text) if text.isdecimal() else 0
    if not 1 <= days <= MOST_DAYS:
        raise ArgumentTypeError(f"“{text}” is no number of days from 1 to {MOST_DAYS}")
    return days
