"""Lease on the refresh of a feed: a thread renews it while the process lives, however long the import takes.

The claim is the fencing token: a worker that was frozen longer than the lease finds another claim in the row, and rolls back.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread
from typing import Final
from uuid import UUID

import structlog
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models.functions import Now

from apps.bans.models import BanFeed

LEASE: Final = timedelta(minutes=1)
RENEWED_EVERY: Final = 10.0  # seconds

log = structlog.get_logger()


def renew_lease(feed: int, claim: UUID) -> bool:
    """Renew the lease. Return False if another worker holds it by now."""
    return BanFeed.objects.filter(pk=feed, claim=claim).update(claimed_until=Now() + LEASE) == 1


def is_claim_valid(feed: int, claim: UUID) -> bool:
    """True if the claim is still valid; the row stays locked, so no other worker can take it before the running transaction ends."""
    return BanFeed.objects.select_for_update().filter(pk=feed, claim=claim).exists()


@contextmanager
def keep_lease(feed: int, claim: UUID) -> Iterator[None]:
    """Renew the lease every RENEWED_EVERY seconds during the block, in a thread and a connection of its own."""
    stop = Event()
    thread = Thread(target=_renew_until, args=(feed, claim, stop), name=f"lease of feed {feed}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _renew_until(feed: int, claim: UUID, stop: Event) -> None:
    while not stop.wait(RENEWED_EVERY):
        try:
            if not renew_lease(feed, claim):
                return
        except DatabaseError as error:
            log.warning("lease not renewed", feed=feed, error=str(error).strip())
        finally:
            connection.close()
