"""Readings of PostgreSQL's statistics (manual, "The Cumulative Statistics System"), as far as the portal's account may see them.

An account without pg_monitor sees what its own connections do, which are those of the portal.
"""

from typing import Any, Final

from django.db import connection

from apps.operations.portal_health.figures import DatabaseLevels, OpenTransaction, RunningStatement, TableActivity
from apps.operations.portal_health.statement_text import hide_values

MOST_TABLES: Final = 12
LEVELS: Final = """
    SELECT pg_database_size(oid),
        (SELECT count(*) FROM pg_stat_activity WHERE datid IS NOT NULL),
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
        greatest(age(datfrozenxid), mxid_age(datminmxid)),
        greatest(0, (SELECT max(age(backend_xmin)) FROM pg_stat_activity), (SELECT max(age(transaction)) FROM pg_prepared_xacts),
            (SELECT max(greatest(age(xmin), age(catalog_xmin))) FROM pg_replication_slots)),
        current_setting('server_version')
    FROM pg_database WHERE datname = current_database()
"""
TABLES: Final = """
    SELECT relname, pg_total_relation_size(relid), n_live_tup, n_dead_tup,
        extract(epoch FROM now() - greatest(last_vacuum, last_autovacuum))::bigint
    FROM pg_stat_user_tables ORDER BY n_dead_tup DESC, relname LIMIT %s
"""
TRANSACTION: Final = """
    SELECT application_name, state, extract(epoch FROM clock_timestamp() - xact_start)::bigint AS seconds, query
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND xact_start IS NOT NULL
    UNION ALL
    SELECT gid, 'prepared', extract(epoch FROM clock_timestamp() - prepared)::bigint, '' FROM pg_prepared_xacts
    WHERE database = current_database()
    ORDER BY seconds DESC LIMIT 1
"""
RUNNING: Final = """
    SELECT application_name, extract(epoch FROM clock_timestamp() - query_start)::bigint, coalesce(wait_event_type, '') = 'Lock', query
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state = 'active'
    ORDER BY query_start LIMIT 1
"""


def read_levels() -> DatabaseLevels:
    """Return the figures of the whole database."""
    [row] = _ask(LEVELS)
    return DatabaseLevels(*row)


def read_tables() -> tuple[TableActivity, ...]:
    """Return the tables with the most dead rows."""
    return tuple(TableActivity(*row) for row in _ask(TABLES, MOST_TABLES))


def find_oldest_transaction() -> OpenTransaction | None:
    """Return the transaction that is open longest, of any program that uses this database; None if there is none."""
    for program, state, seconds, statement in _ask(TRANSACTION):
        return OpenTransaction(program[:80], state, max(0, seconds), hide_values(statement))
    return None


def find_longest_statement() -> RunningStatement | None:
    """Return the statement that runs longest now; None if no other connection runs one."""
    for program, seconds, waits, statement in _ask(RUNNING):
        return RunningStatement(program[:80], max(0, seconds), waits, hide_values(statement))
    return None


def _ask(query: str, *values: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return list(cursor.fetchall())
