"""Keeps a worker's lease on a rollout while it works on it, however long a gateway takes."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import structlog
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models.functions import Now

from apps.deployments.models import Rollout
from apps.deployments.rollouts import LEASE

SECONDS = 2.0  # a rollout that is over sooner never beats

log = structlog.get_logger()


def beat(rollout: Rollout) -> bool:
    """Keep the lease. False when it was lost."""
    mine = Rollout.objects.filter(pk=rollout.pk, state=Rollout.State.APPLYING, token=rollout.token)
    return mine.update(lease_until=Now() + LEASE) == 1


@contextmanager
def heartbeat(rollout: Rollout) -> Iterator[None]:
    """The lease is kept as long as this process lives and can reach the database, however long a gateway takes."""
    stop = Event()
    thread = Thread(target=_beat_until, args=(rollout, stop), name=f"heartbeat {rollout}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()


def _beat_until(rollout: Rollout, stop: Event) -> None:
    try:
        while not stop.wait(SECONDS):
            try:
                if not beat(rollout):
                    return
            except DatabaseError as error:
                log.warning("no heartbeat", rollout=rollout.pk, error=str(error))
                connection.close()
    finally:
        connection.close()
