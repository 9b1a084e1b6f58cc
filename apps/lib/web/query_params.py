"""What stands in the address of a page, whatever somebody typed there."""

from datetime import date

from django.http import QueryDict


def parse_number(params: QueryDict, name: str, otherwise: int = 0) -> int:
    """A number that a database takes; `otherwise` where there is none."""
    text = params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else otherwise


def parse_words(params: QueryDict, name: str, most: int = 200) -> str:
    """Text without what a database cannot hold, and not without end."""
    return params.get(name, "").replace("\0", "").strip()[:most]


def parse_day(params: QueryDict, name: str) -> date | None:
    """A day as `2026-12-01`; None where there is none."""
    try:
        return date.fromisoformat(params.get(name, ""))
    except ValueError:
        return None
