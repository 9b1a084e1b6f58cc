"""Parsers of a page's query parameters, which accept any input."""

from collections.abc import Iterable
from datetime import date, datetime

from django.http import QueryDict

from apps.lib.database.validity import EARLIEST, FARTHEST


def parse_number(params: QueryDict, name: str, otherwise: int = 0) -> int:
    """Return a number that the database can store, or `otherwise`."""
    text = params.get(name, "")
    return int(text) if _is_number(text) else otherwise


def parse_ids(given: Iterable[str]) -> list[int]:
    """Return the ids that a form sent, in its order, without duplicates and without what is not an id."""
    return list(dict.fromkeys(int(text) for text in given if _is_number(text)))


def _is_number(text: str) -> bool:
    """True for digits that are a number which the database can store."""
    return text.isascii() and text.isdigit() and len(text) < 19


def parse_text_param(params: QueryDict, name: str, most: int = 200) -> str:
    """Return text without characters that a database cannot store, of limited length."""
    return params.get(name, "").replace("\0", "").strip()[:most]


def parse_day(params: QueryDict, name: str) -> date | None:
    """Return a day written as `2026-12-01`, or None. None too for a day that cannot be meant, so that callers may count days from it."""
    try:
        day = date.fromisoformat(params.get(name, ""))
    except ValueError:
        return None
    return day if EARLIEST <= day < FARTHEST else None


def parse_exact_time(params: QueryDict, name: str) -> datetime | None:
    """Return a time in ISO 8601 with its offset, as a hidden field carries it to the microsecond, or None."""
    try:
        time = datetime.fromisoformat(params.get(name, ""))
    except ValueError:
        return None
    return time if time.tzinfo and EARLIEST <= time.date() < FARTHEST else None
