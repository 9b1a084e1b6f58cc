"""The statements that take most of the database's time, from the extension pg_stat_statements if it is there and may be asked."""

from typing import Final

from django.db import Error as DatabaseError
from django.db import connection, transaction

from apps.operations.portal_health.figures import SlowStatement
from apps.operations.portal_health.statement_text import hide_values

MOST: Final = 8
NOT_INSTALLED, REFUSED = "not installed", "refused"
SCHEMA: Final = """
    SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'pg_stat_statements'
"""
SLOWEST: Final = """
    SELECT calls, (1000 * total_exec_time)::bigint, (1000 * mean_exec_time)::bigint, query FROM {schema}.pg_stat_statements
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY total_exec_time DESC LIMIT %s
"""


def read_statements() -> tuple[tuple[SlowStatement, ...] | None, str]:
    """Return the statements that took most time since their counters were reset; None with the reason if that cannot be known."""
    schema = _find_schema()
    if schema is None:
        return None, NOT_INSTALLED
    try:
        with transaction.atomic():  # the extension may be there and its library not loaded
            return read_from_schema(schema), ""
    except DatabaseError:
        return None, REFUSED


def _find_schema() -> str | None:
    with connection.cursor() as cursor:
        cursor.execute(SCHEMA)
        row = cursor.fetchone()
    return str(row[0]) if row else None


def read_from_schema(schema: str) -> tuple[SlowStatement, ...]:
    """Return the slowest statements from the extension's view. schema: quoted. Raises DatabaseError."""
    with connection.cursor() as cursor:
        cursor.execute(SLOWEST.format(schema=schema), [MOST])
        return tuple(SlowStatement(calls, total, mean, hide_values(text)) for calls, total, mean, text in cursor.fetchall())
