"""Joint reads: several small queries, which the database answers in one.

Each queryset becomes a column of one row, its own rows as JSON. Django builds objects of them as of rows that it has fetched itself:
with related rows, annotations and prefetches. All are of the same moment. For a few rows each: long lists are faster alone.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.fields.ranges import RangeField
from django.core.exceptions import EmptyResultSet
from django.db import connections, models
from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet
from psycopg.types.numeric import Int8
from psycopg.types.range import Range

from apps.lib.database.prepared_cursor import open_prepared_cursor

type AnyField = models.Field[Any, Any]
type Restorer = Callable[[Any], Any]

_RANGE: Final = re.compile(r'([\[(])"?([^",]*)"?,"?([^",]*)"?([\])])')
_RESTORERS: Final[tuple[tuple[type[AnyField], Restorer], ...]] = (
    (models.JSONField, json.dumps),  # its own converter parses text
    (models.DateTimeField, datetime.fromisoformat),
    (models.DateField, date.fromisoformat),
    (models.TimeField, time.fromisoformat),
    (models.FloatField, float),
    (models.UUIDField, UUID),
)
_UNKNOWN_FORMS: Final = (models.BinaryField, models.DurationField, models.DecimalField)


def read_together(*querysets: QuerySet[Any, Any]) -> list[list[Any]]:
    """Return the rows of each queryset, in one query that does not return: it is not prepared."""
    return JointQuery(querysets).read_once()


class JointQuery:
    """Querysets compiled into one query, which can be read any number of times, and which PostgreSQL plans once for each connection.

    stand_in: a whole number among the parameters, in place of one that is given at each reading. Raises TypeError for columns that JSON
    cannot hold.
    """

    def __init__(self, querysets: Iterable[QuerySet[Any, Any]], stand_in: int | None = None) -> None:
        self._parts = [_compile(queryset) for queryset in querysets]
        columns = (f"(SELECT json_agg(part) FROM ({part.sql}) AS part)" for part in self._parts)  # noqa: S608 - Django's own SQL
        parameters = [value for part in self._parts for value in part.parameters]
        self._sql = f"SELECT {', '.join(columns)}" % tuple(_render_parameters(parameters, stand_in))

    def read(self, *given: int) -> list[list[Any]]:
        """Return the rows of each queryset. given: the number in place of the stand-in, if there is one."""
        return self._read(open_prepared_cursor, [Int8(number) for number in given])

    def read_once(self) -> list[list[Any]]:
        """Return the rows of each queryset, and let PostgreSQL forget the query."""
        return self._read(connections["default"].cursor, None)

    def _read(self, open_cursor: Callable[[], CursorWrapper], given: Sequence[Int8] | None) -> list[list[Any]]:
        if not self._parts:
            return []
        with open_cursor() as cursor:
            cursor.execute(self._sql, given)
            found = cursor.fetchone()
        return [part.build_rows(rows or ()) for part, rows in zip(self._parts, found or (), strict=True)]


def _render_parameters(parameters: Iterable[Any], stand_in: int | None) -> Iterator[str]:
    """Yield the parameters as literals of SQL, and `$1` for the stand-in."""
    with connections["default"].cursor() as cursor:
        for value in parameters:
            yield "$1" if value is not None and value == stand_in else cursor.mogrify("%s", [value])


@dataclass(frozen=True)
class _Part:
    """One queryset of a joint query. restorers: by column, what makes of a value in JSON the one that psycopg would have returned."""

    queryset: QuerySet[Any, Any]
    compiler: Any
    sql: str
    parameters: Sequence[Any]
    restorers: Sequence[Restorer | None]

    def build_rows(self, found: Iterable[Mapping[str, Any]]) -> list[Any]:
        """Build the queryset's rows of what the database has returned."""
        values = [self._restore(row) for row in found]
        compiler, queryset = copy(self.compiler), self.queryset._chain()  # type: ignore[attr-defined]  # as its own methods do
        compiler.connection = connections[queryset.db]
        compiler.execute_sql = lambda *_args, **_options: [values]
        queryset.query.get_compiler = lambda *_args, **_options: compiler
        return list(queryset)

    def _restore(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        pairs = zip(row.values(), self.restorers, strict=True)
        return tuple(value if restore is None or value is None else restore(value) for value, restore in pairs)


def _compile(queryset: QuerySet[Any, Any]) -> _Part:
    compiler = queryset.query.get_compiler(using=queryset.db)
    try:
        sql, parameters = compiler.as_sql(with_col_aliases=True)
    except EmptyResultSet:
        return _Part(queryset, compiler, "SELECT WHERE false", (), ())
    return _Part(queryset, compiler, sql, parameters, [_find_restorer(each.output_field) for each, *_ in compiler.select])


def _find_restorer(field: AnyField) -> Restorer | None:
    """Return None for a column whose value in JSON is the one that psycopg returns."""
    if isinstance(field, _UNKNOWN_FORMS):
        raise TypeError(f"{field} cannot be read jointly: JSON does not hold its values as they are. Read it in a query of its own.")
    if isinstance(field, RangeField):
        bound: Any = field.base_field  # the stubs take it for a class
        return partial(_restore_range, _find_restorer(bound) or int)
    if isinstance(field, ArrayField):
        inner = _find_restorer(field.base_field)
        return partial(_restore_list, inner) if inner else None
    return next((restore for kind, restore in _RESTORERS if isinstance(field, kind)), None)


def _restore_list(inner: Restorer, values: Iterable[Any]) -> list[Any]:
    return [None if value is None else inner(value) for value in values]


def _restore_range(inner: Restorer, text: str) -> Range[Any]:
    """Parse a range as PostgreSQL writes it: `["2026-11-29 04:00:00+00",)`."""
    if text == "empty":
        return Range(empty=True)
    match = _RANGE.fullmatch(text)
    if match is None:
        raise ValueError(f"PostgreSQL wrote the range {text!r}, which is not one of numbers or times.")
    left, lower, upper, right = match.groups()
    return Range(inner(lower) if lower else None, inner(upper) if upper else None, left + right)
