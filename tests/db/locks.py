"""Connections that wait for a lock, as PostgreSQL reports them."""

from django.db import connection


def waiting() -> int:
    """Return how many connections to this database wait for a lock now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # statistics are otherwise cached for the whole transaction
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")
        return int(cursor.fetchone()[0])
