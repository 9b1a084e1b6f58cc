"""The database's clock, which is the same for all workers."""

from datetime import datetime

from django.db import connection


def read_database_clock() -> datetime:
    """Return the time of the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now
