"""Pages of whole collections, by a query that is compiled once for each process: to build and compile one takes Django a millisecond.

Only for collections that declare their rows as `queryset`, and for requests that name nothing but limit and offset.
"""

from typing import Any, Final

from django.db.models import QuerySet

from apps.lib.api.row_counts import build_count_key, count_rows
from apps.lib.database.compiled_query import CompiledQuery

PLAIN: Final = frozenset({"limit", "offset"})
LIMIT, OFFSET = 2**60, 2**59  # stand for those of a request


def select_page(rows: QuerySet[Any], offset: int, limit: int) -> QuerySet[Any]:
    """Return a page of the rows. It skips rows by their ids, without reading their joins."""
    return rows.filter(pk__in=rows.values("pk")[offset : offset + limit])


class CompiledPages:
    """The pages of a queryset, with its count. Raises EmptyResultSet for `none()`."""

    def __init__(self, rows: QuerySet[Any]) -> None:
        self._rows, self._count_key, self._query = rows, build_count_key(rows), CompiledQuery(select_page(rows, OFFSET, LIMIT))

    def read(self, offset: int, limit: int) -> list[Any]:
        """Return the rows of one page."""
        return self._query.read(limits={f"LIMIT {LIMIT} OFFSET {OFFSET}": f"LIMIT {limit:d} OFFSET {offset:d}"})

    def count(self) -> int:
        """Return the number of rows, as `count_rows` does."""
        return count_rows(self._rows.all(), self._count_key)
