"""Every list of the API as a table to take away: what it is called, where it is, and how many rows it has."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch, resolve, reverse
from django.utils.functional import Promise
from rest_framework.request import Request

from apps.accounts.collection_names import iter_collection_groups

COUNTED: Final = 10_000  # rows; of more nobody waits for the number


@dataclass(frozen=True)
class ExportTable:
    """rows: how many; None where that is not known. many: more than COUNTED."""

    words: str | Promise
    url: str
    rows: int | None

    @property
    def many(self) -> bool:
        return self.rows is not None and self.rows > COUNTED


def iter_tables(request: HttpRequest, wanted: Callable[[str], bool]) -> Iterator[tuple[Promise, list[ExportTable]]]:
    """Those of the wanted collections that are lists of rows, in groups. A query for each."""
    for words, found in iter_collection_groups(lambda name: wanted(name) and bool(_find_url(name))):
        yield words, [ExportTable(called, _find_url(name), _count_rows(request, _find_url(name))) for name, called in found]


def _find_url(name: str) -> str:
    """The address of a collection's list; "" where it has none."""
    try:
        return "" if name == "export" else reverse(f"api:{name}-list")
    except NoReverseMatch:
        return ""


def _count_rows(request: HttpRequest, url: str) -> int | None:
    """As many as the list has for who asks, counted up to COUNTED + 1."""
    made: Any = resolve(url).func
    asked = Request(request)
    asked.user = request.user
    view = made.cls(**made.initkwargs, request=asked, action="list", kwargs={}, format_kwarg=None)
    found = view.get_queryset()
    if not isinstance(found, QuerySet):
        return None
    try:
        return found.order_by().values("pk")[: COUNTED + 1].count()
    except EmptyResultSet:
        return 0
