"""Cursor for a text that a process sends again and again: PostgreSQL parses and plans it once for each connection, not each time.

Parameters are written `$1`. Through PgBouncer, whose transactions come to any connection, each execution is planned anew.
"""

from typing import Any, Final, Self

from django.conf import settings
from django.db import connections
from django.db.backends.utils import CursorWrapper
from psycopg import RawCursor

AT_ONCE: Final = 0
"""Executions until a text is prepared. Django turns preparing off for its own queries, because few of their texts return."""


def open_prepared_cursor() -> CursorWrapper:
    """Return a cursor of Django's connection, with its wrappers, whose queries are prepared."""
    connection: Any = connections["default"]
    connection.ensure_connection()
    cursor: CursorWrapper = connection._prepare_cursor(_PreparedCursor(connection.connection))
    return cursor


class _PreparedCursor(RawCursor[Any]):
    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        if settings.DATABASE_IS_POOLED:
            return super().execute(query, params, **options)
        self.connection.prepare_threshold = AT_ONCE
        try:
            return super().execute(query, params, prepare=True, **options)
        finally:
            self.connection.prepare_threshold = None
