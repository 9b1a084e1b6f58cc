"""Connections that wait for a lock, as PostgreSQL reports them: those to this database, for tests run beside each other in one cluster."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

from django.db import connection, transaction

from tests.whole.system import wait_for


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


def run_after_waiting[Result](
    work: Callable[[], Result], change: Callable[[], object], *, meanwhile: Callable[[], object] | None = None
) -> Result:
    """Return the result of work that waits, on a connection of its own, until the transaction of a change ends.

    meanwhile: the rest of the change, made when the work waits already.
    """

    def work_alone() -> Result:
        try:
            with transaction.atomic():
                return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            change()
            result = pool.submit(work_alone)
            wait_for(waiting)
            if meanwhile:
                meanwhile()
        return result.result()


@contextmanager
def hold_lock_elsewhere(name: str) -> Iterator[None]:
    """Hold the advisory lock of this name in a transaction of another connection, as another worker would."""
    with closing(connection.copy()) as other:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [name])
        yield
        other.rollback()
