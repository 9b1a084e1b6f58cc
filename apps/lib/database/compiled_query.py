"""Compiled queries: querysets that Django turns into SQL once for each process, and reads any number of times with other values.

For small queries that every request asks: to build and compile one takes Django about as long as to send it, wait, and build the rows.
"""

from collections.abc import Callable, Mapping
from copy import copy
from functools import cache, wraps
from types import MappingProxyType
from typing import Any, Final

from django.db import connections
from django.db.models import QuerySet

NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})
STAND_IN: Final = -(2**62)
"""Id that no row has: of a query that is compiled for one row, and read for another."""


class CompiledQuery[Row]:
    """A queryset with its SQL. What changes with time has to be an expression, such as Now(). Raises EmptyResultSet for `none()`."""

    def __init__(self, queryset: QuerySet[Any, Row]) -> None:
        self._queryset = queryset
        self._compiler: Any = queryset.query.get_compiler(using=queryset.db)
        self._sql, self._parameters = self._compiler.as_sql()

    def read(self, replaced: Mapping[Any, Any] = NOTHING, *, limits: Mapping[str, str] = NOTHING) -> list[Row]:
        """Return the rows. replaced: parameters that are given now, by the texts or numbers for which the query was compiled.

        limits: the same for LIMIT and OFFSET, which Django writes into the query itself.
        """
        parameters = tuple(replaced.get(value, value) if isinstance(value, str | int) else value for value in self._parameters)
        compiler, queryset = copy(self._compiler), self._queryset._chain()  # type: ignore[attr-defined]  # as its own methods do
        compiler.connection = connections[queryset.db]
        sql = self._sql
        for before, now in limits.items():
            sql = sql.replace(before, now)
        compiler.as_sql = lambda *_args, **_options: (sql, parameters)
        queryset.query.get_compiler = lambda *_args, **_options: compiler
        return list(queryset)


def compile_once[Row](build: Callable[[int], QuerySet[Any, Row]]) -> Callable[[int], list[Row]]:
    """Decorate a function that builds the queryset of an object's id: it is compiled at the first call, and each call reads its rows."""

    @cache
    def compile_query() -> CompiledQuery[Row]:
        return CompiledQuery(build(STAND_IN))

    @wraps(build)
    def read(of: int) -> list[Row]:
        return compile_query().read({STAND_IN: of})

    return read
