"""Limits on how long one query may wait for a lock and run, for processes that answer people.

A page that waits for a lock that somebody else holds would hang as long as they hold it, and keep a thread from everybody else.
PostgreSQL ends such a query, and `apps.lib.web.database_outage` answers 503. Workers, commands and migrations are not limited.
"""

from typing import Any

from django.conf import settings
from django.db import connection


def limit_queries() -> None:
    """Sets both limits for every connection that this process opens from now on; call it before the first one."""
    limits = (
        f"-c lock_timeout={_to_milliseconds(settings.LOCK_SECONDS)} -c statement_timeout={_to_milliseconds(settings.STATEMENT_SECONDS)}"
    )
    options: Any = settings.DATABASES["default"]["OPTIONS"]
    options["options"] = " ".join(filter(None, (options.get("options"), limits)))


def lift_statement_limit() -> None:
    """Lets the rest of this transaction take as long as it takes: for writes whose size is the user's to choose."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")


def _to_milliseconds(seconds: float) -> int:
    """PostgreSQL's unit; 0 is no limit."""
    return round(seconds * 1000)
