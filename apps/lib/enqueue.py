"""A nudge makes a worker look sooner; nothing depends on it. Lost, late or twice, the next tick finds what is due.

Goes out by task name after the commit, within a fifth of a second, without a retry: a dead broker never delays or fails a save.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from typing import Any

import structlog
from celery import Celery
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError

QUEUES = {
    "workers.send_mail": {"queue": "mail"},
    "workers.receive_mail": {"queue": "mail"},
    "workers.answer_tickets": {"queue": "mail"},
    "workers.tell_webhooks": {"queue": "readings"},
}  # of tasks that do not wait behind changes; as in workers.app
LIMIT = 0.2  # seconds, for connecting and for answering
log = structlog.get_logger()


def build_broker_url(redis_url: str) -> str:
    """Celery's form of a Redis address: it calls a unix socket `redis+socket`."""
    return redis_url.replace("unix://", "redis+socket://", 1)


@cache
def _get_publisher() -> Celery:
    publisher = Celery("nudges", broker=build_broker_url(settings.REDIS_URL), set_as_current=False)
    publisher.conf.update(
        broker_connection_retry=False,
        task_routes=QUEUES,
        broker_transport_options={"socket_timeout": LIMIT, "socket_connect_timeout": LIMIT, "max_retries": 0, "retry_on_timeout": False},
    )
    return publisher


_batched_tasks: ContextVar[set[tuple[Any, ...]] | None] = ContextVar("gathered", default=None)


def enqueue_task(task: str, *args: Any) -> None:
    """Ask for the task after the running transaction has committed; at once when there is none."""
    wanted = _batched_tasks.get()
    if wanted is None:
        transaction.on_commit(partial(send, task, *args), robust=True)
    else:
        wanted.add((task, *args))


@contextmanager
def batch_tasks() -> Iterator[None]:
    """Who does much at once asks once for each task, after it; who fails, for none."""
    wanted: set[tuple[Any, ...]] = set()
    token = _batched_tasks.set(wanted)
    try:
        yield
    finally:
        _batched_tasks.reset(token)
    for each in sorted(wanted, key=repr):
        enqueue_task(*each)


def send(task: str, *args: Any) -> bool:
    """Ask for the task now. False when the broker did not take it: the next tick will do."""
    try:
        _get_publisher().send_task(task, args=args, retry=False, ignore_result=True)
    except (OperationalError, OSError) as error:
        log.warning("nudge lost", task=task, error=str(error))
        return False
    return True
