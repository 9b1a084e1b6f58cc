"""Limits on how long a query may run and wait for a lock, in processes that answer people.

Otherwise a page that waits for a lock would hang as long as the lock is held, and occupy a thread. PostgreSQL cancels such a
query, and `apps.lib.web.database_outage` answers 503. Workers, commands and migrations have no limits. PgBouncer takes no limits from
a client: an entry of its own sets them (docs/scale.md).
"""

from typing import Any

from django.conf import settings
from django.db import connection


def limit_queries() -> None:
    """Set both limits for all connections that this process opens from now on. Must be called before the first one."""
    if settings.DATABASE_IS_POOLED:
        settings.DATABASES["default"].update(settings.DATABASE_OF_PAGES)
        return
    limits = (
        f"-c lock_timeout={_to_milliseconds(settings.LOCK_SECONDS)} -c statement_timeout={_to_milliseconds(settings.STATEMENT_SECONDS)}"
    )
    options: Any = settings.DATABASES["default"]["OPTIONS"]
    options["options"] = " ".join(filter(None, (options.get("options"), limits)))


def lift_statement_limit() -> None:
    """Lift the time limit for the rest of this transaction: for writes of a size that the user chooses."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")


def _to_milliseconds(seconds: float) -> int:
    """Convert to PostgreSQL's unit. 0 means no limit."""
    return round(seconds * 1000)
