"""Tables to download: every list of the API, with its title, URL and number of rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.core.exceptions import EmptyResultSet
from django.db import connection
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


def list_tables(request: HttpRequest, wanted: Callable[[str], bool]) -> list[tuple[Promise, list[ExportTable]]]:
    """Return the wanted collections that are lists of rows, in groups. All rows are counted in one query."""
    groups = [(words, list(found)) for words, found in iter_collection_groups(lambda name: wanted(name) and bool(_find_url(name)))]
    urls = [_find_url(name) for _words, found in groups for name, _called in found]
    numbers = dict(zip(urls, _count_rows([_find_rows(request, url) for url in urls]), strict=True))
    return [(words, [ExportTable(called, _find_url(name), numbers[_find_url(name)]) for name, called in found]) for words, found in groups]


def _find_url(name: str) -> str:
    """Return the URL of a collection's list, "" if there is none."""
    try:
        return "" if name in NO_TABLES else reverse(f"api:{name}-list")
    except NoReverseMatch:
        return ""


def _find_rows(request: HttpRequest, url: str) -> QuerySet[Any] | None:
    """Return the rows that this user's list has; None if it is not a queryset."""
    made: Any = resolve(url).func
    asked = Request(request)
    asked.user = request.user
    view = made.cls(**made.initkwargs, request=asked, action="list", kwargs={}, format_kwarg=None)
    found = view.get_queryset()
    return found if isinstance(found, QuerySet) else None


def _count_rows(lists: Sequence[QuerySet[Any] | None]) -> list[int | None]:
    """Return the number of rows of each list, up to COUNTED + 1, in one query; None for what is not a queryset."""
    queries = [_compile_count(rows) if rows is not None else ("NULL", ()) for rows in lists]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(sql for sql, _given in queries)}", [each for _sql, given in queries for each in given])
        return list(cursor.fetchone() or ())


def _compile_count(rows: QuerySet[Any]) -> tuple[str, tuple[Any, ...]]:
    """Return the SQL expression, with its parameters, for the number of rows up to COUNTED + 1."""
    try:
        sql, given = rows.order_by().values("pk")[: COUNTED + 1].query.sql_with_params()
    except EmptyResultSet:
        return "0", ()
    return f"(SELECT count(*) FROM ({sql}) AS listed)", given  # noqa: S608 - a query of the ORM
