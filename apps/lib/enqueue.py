"""Enqueues tasks so that a worker acts at once. Nothing depends on them: the schedule finds everything that is due.

Tasks are sent by name after the commit, within LIMIT and without a retry: a dead broker never fails a save, nor delays it for
longer. RabbitMQ, which has to be asked several times for a connection, may take some times as long. While traces are on, they
delay a save by trace_links.REDIS_SECONDS more.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, Final

import structlog
from amqp.exceptions import AMQPError, MessageNacked
from celery import Celery
from celery.signals import before_task_publish
from django.db import transaction
from kombu.exceptions import OperationalError

from apps.lib import message_broker, trace_links, trace_timing
from apps.lib.log_context import MESSAGE_HEADER, get_request_id

QUEUES = {
    "workers.send_mail": {"queue": "mail"},
    "workers.receive_mail": {"queue": "mail"},
    "workers.answer_tickets": {"queue": "mail"},
    "workers.send_announcements": {"queue": "mail"},
    "workers.send_alarm_messages": {"queue": "mail"},
    "workers.mail_status_updates": {"queue": "mail"},
    "workers.collect_one": {"queue": "readings"},
    "workers.tell_webhooks": {"queue": "readings"},
    "workers.collect_evidence": {"queue": "readings"},
    "workers.read_timeouts": {"queue": "readings"},
    "workers.examine_machines": {"queue": "readings"},
    "workers.import_people": {"queue": "feeds"},
    "workers.read_duty_calendars": {"queue": "feeds"},
}  # tasks that must not wait behind changes; as in workers.app
QUEUED_AT: Final = "queued_at"
"""Header of each message: when it was queued. The broker itself does not keep it."""
RECONCILE = "workers.reconcile"
RECONCILE_GROUP = "workers.reconcile_group"
LIMIT = 0.2  # seconds, for connecting and for the answer
REDIS_OPTIONS: Final = {"socket_timeout": LIMIT, "socket_connect_timeout": LIMIT, "max_retries": 0, "retry_on_timeout": False}
log = structlog.get_logger()


@before_task_publish.connect
def stamp_message(headers: dict[str, Any], **_given: Any) -> None:
    """Write into each message of this process when it is queued, so that the age of a queue can be told, and for which request."""
    headers[QUEUED_AT] = datetime.now(UTC).isoformat()
    if request := get_request_id():
        headers[MESSAGE_HEADER] = request


@cache
def _get_publisher() -> Celery:
    publisher = Celery("nudges", broker=message_broker.get_broker_url(), set_as_current=False)
    publisher.conf.update(broker_connection_retry=False, task_routes=QUEUES)
    publisher.conf.update(_build_rabbitmq_settings() if message_broker.is_rabbitmq() else {"broker_transport_options": REDIS_OPTIONS})
    return publisher


def _build_rabbitmq_settings() -> dict[str, Any]:
    """Return what the publisher is told of RabbitMQ: it declares queues as workers do. A connection that has died is opened again once."""
    return {
        "broker_transport_options": message_broker.build_rabbitmq_options(LIMIT),
        "broker_use_ssl": message_broker.build_tls_options(),
        "broker_connection_timeout": LIMIT,
        "task_default_queue_type": "quorum",
        "task_create_missing_queue_type": "quorum",
        "task_publish_retry_policy": {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0},
    }


_batched_tasks: ContextVar[set[tuple[Any, ...]] | None] = ContextVar("gathered", default=None)


def enqueue_task(task: str, *args: Any) -> None:
    """Enqueue the task after the current transaction commits; at once if there is none."""
    wanted = _batched_tasks.get()
    if wanted is None:
        transaction.on_commit(partial(_send_after_commit, task, *args), robust=True)
    else:
        wanted.add((task, *args))


def enqueue_reconcile(*groups: int, by: int | None) -> None:
    """Enqueue a reconciliation of these groups only, after the current transaction commits. by: id of the account that asked.

    For changes that concern no other group. With many groups, looking at each of them after each change would take all of a worker's time.
    """
    for group in sorted(set(groups)):
        enqueue_task(RECONCILE_GROUP, group, by)


@contextmanager
def batch_tasks() -> Iterator[None]:
    """Collect the tasks enqueued inside and enqueue each once at the end; none if an exception is raised."""
    wanted: set[tuple[Any, ...]] = set()
    token = _batched_tasks.set(wanted)
    try:
        yield
    finally:
        _batched_tasks.reset(token)
    for each in sorted(wanted, key=repr):
        enqueue_task(*each)


def _send_after_commit(task: str, *args: Any) -> None:
    if task in (RECONCILE, RECONCILE_GROUP):
        trace_links.note_request(args[0] if task == RECONCILE_GROUP else None)
    send_task(task, *args)


def send_task(task: str, *args: Any, expires: float | None = None) -> bool:
    """Send the task now. Returns False if the broker did not accept it; the next scheduled run does the work then.

    expires: seconds after which no worker begins it any more.

    The message carries the current trace as W3C `traceparent`, if there is one.
    """
    traceparent = trace_timing.get_traceparent()
    headers = {"traceparent": traceparent} if traceparent else None
    try:
        _get_publisher().send_task(
            task, args=args, headers=headers, retry=message_broker.is_rabbitmq(), ignore_result=True, expires=expires
        )
    except (OperationalError, OSError, AMQPError, MessageNacked) as error:
        log.warning("nudge lost", task=task, error=str(error))
        return False
    return True
