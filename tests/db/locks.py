"""Connections that wait for a lock, as PostgreSQL reports them: those to this database, for tests run beside each other in one cluster."""

from django.db import connection


def waiting() -> int:
    """Return how many connections to this database wait for a lock now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # statistics are otherwise cached for the whole transaction
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")
        return int(cursor.fetchone()[0])


def end_waiting() -> None:
    """End the connections to this database that wait for a lock now."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
