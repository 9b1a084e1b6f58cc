"""Who waits for a lock, as PostgreSQL sees it."""

from django.db import connection


def waiting() -> int:
    """How many connections to this database wait for somebody's lock now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # within a transaction it looks once
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")
        return int(cursor.fetchone()[0])
