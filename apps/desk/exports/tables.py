"""Tables to download: every list of the API, with its title, URL and number of rows."""

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

NO_TABLES: Final = ("export", "metric")  # collections that are no lists of rows
COUNTED: Final = 10_000  # rows; counting more takes too long


@dataclass(frozen=True)
class ExportTable:
    """A list of the API. rows: their number, None if unknown; many: there are more than COUNTED."""

    words: str | Promise
    url: str
    rows: int | None

    @property
    def is_large(self) -> bool:
        return self.rows is not None and self.rows > COUNTED


def iter_tables(request: HttpRequest, wanted: Callable[[str], bool]) -> Iterator[tuple[Promise, list[ExportTable]]]:
    """Yield the wanted collections that are lists of rows, in groups. One query per collection."""
    for words, found in iter_collection_groups(lambda name: wanted(name) and bool(_find_url(name))):
        yield words, [ExportTable(called, _find_url(name), _count_rows(request, _find_url(name))) for name, called in found]


def _find_url(name: str) -> str:
    """Return the URL of a collection's list, "" if there is none."""
    try:
        return "" if name in NO_TABLES else reverse(f"api:{name}-list")
    except NoReverseMatch:
        return ""


def _count_rows(request: HttpRequest, url: str) -> int | None:
    """Return the number of rows that this user's list has, counted up to COUNTED + 1; None if it is not a queryset."""
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
