"""Paginators for long lists from the database."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet


class CountedPaginator(Paginator[Any]):
    """Paginator for a list of known length, which is not counted."""

    def __init__(self, number: int, rows: Any, per_page: int) -> None:
        super().__init__(rows, per_page)
        self.number = number

    @property
    def count(self) -> int:
        return self.number


class DeferredJoinPaginator(Paginator[Any]):
    """Paginator that reads joins only for the rows of the page.

    Rows before the page are skipped in an index, not joined first. Pages after the middle are counted from the end. count: number
    of rows, if it is known without counting. key: a column that is different in each of the rows; if an index has all columns of
    their condition and order and this one, the rows before the page are not even read.
    """

    object_list: QuerySet[Any]

    def __init__(self, rows: QuerySet[Any], per_page: int, *, count: int | None = None, key: str = "pk") -> None:
        super().__init__(rows, per_page)
        self._key = key
        if count is not None:
            self.count = count

    def page(self, number: int | str) -> Page[Any]:
        number = self.validate_number(number)
        keys = self._list_keys((number - 1) * self.per_page)
        known = {getattr(row, self._key): row for row in self.object_list.order_by().filter(**{f"{self._key}__in": keys})}
        return Page([known[key] for key in keys if key in known], number, self)

    def _list_keys(self, first: int) -> list[Any]:
        """Return the keys of the page that begins at this row."""
        behind, keys = self.count - first, self.object_list.prefetch_related(None).values_list(self._key, flat=True)
        if first < behind:
            return list(keys[first : first + self.per_page])
        return list(keys.reverse()[max(behind - self.per_page, 0) : behind])[::-1]
