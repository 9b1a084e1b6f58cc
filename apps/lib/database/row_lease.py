"""Lease on the work of one row: a thread renews it while the process lives, however long the work takes.

The row has the columns `claim` and `claimed_until`. The claim is the fencing token: a worker that was frozen longer than the lease finds
another claim in the row, or none, and rolls back.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread
from typing import Any, Final
from uuid import UUID

import structlog
from django.db import Error as DatabaseError
from django.db import connection, models
from django.db.models.functions import Now

LEASE: Final = timedelta(minutes=1)
RENEWED_EVERY: Final = 10.0  # seconds

type ColumnReader = Callable[[], Mapping[str, Any]]

log = structlog.get_logger()


def renew_lease(model: type[models.Model], pk: int, claim: UUID, **columns: Any) -> bool:
    """Renew the lease, and write these columns. Return False if the claim is not valid any more."""
    return model._default_manager.filter(pk=pk, claim=claim).update(claimed_until=Now() + LEASE, **columns) == 1


def is_claim_valid(model: type[models.Model], pk: int, claim: UUID) -> bool:
    """True if the claim is still valid; the row stays locked, so no other worker can take it before the running transaction ends."""
    return model._default_manager.select_for_update().filter(pk=pk, claim=claim).exists()


@contextmanager
def keep_lease(
    model: type[models.Model], pk: int, claim: UUID, *, every: float = RENEWED_EVERY, read_columns: ColumnReader = dict
) -> Iterator[Event]:
    """Renew the lease every so many seconds during the block, in a thread and a connection of its own. Yield an event: the claim was lost.

    read_columns: returns what else is written to the row, such as the progress.
    """
    stop, lost = Event(), Event()

    def renew() -> None:
        while not stop.wait(every):
            try:
                if not renew_lease(model, pk, claim, **read_columns()):
                    lost.set()
                    return
            except DatabaseError as error:
                log.warning("lease not renewed", row=f"{model._meta.label} {pk}", error=str(error).strip())
            finally:
                connection.close()

    thread = Thread(target=renew, name=f"lease of {model._meta.label} {pk}", daemon=True)
    thread.start()
    try:
        yield lost
    finally:
        stop.set()
        thread.join()
