"""Connects Celery with `apps.operations`: workers and scheduler send heartbeats, and the end of each task is recorded."""

from collections.abc import Mapping
from typing import Any, Final

import structlog
from celery import current_app
from celery.signals import (
    beat_embedded_init,
    beat_init,
    celeryd_after_setup,
    task_failure,
    task_postrun,
    task_prerun,
    task_success,
    worker_ready,
)
from django.conf import settings
from django.db import Error as DatabaseError

from apps.lib import trace_timing
from apps.lib.log_context import MESSAGE_HEADER
from apps.operations import jobs
from apps.operations.heartbeats import HeartbeatThread
from apps.operations.models import ProcessRole
from workers import memory_limit
from workers.queues import CHANGES, FEEDS, ROLES

RECORDED_BY_ROLE: Final = frozenset({"workers.report_served"})  # not by task
log = structlog.get_logger()


def connect() -> None:
    """Connect the signals. Called once in each Celery process, when Django is set up."""
    celeryd_after_setup.connect(begin_traces)
    worker_ready.connect(begin_heartbeat)
    beat_init.connect(begin_ticking)
    beat_embedded_init.connect(begin_ticking)
    task_prerun.connect(bind_ids)
    task_postrun.connect(forget_ids)
    task_success.connect(record_success)
    task_failure.connect(record_failure)


def compute_periods(schedule: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return the seconds between two runs of each scheduled task."""
    return {str(entry["task"]): float(entry["schedule"]) for entry in schedule.values() if entry["task"] not in RECORDED_BY_ROLE}


def begin_traces(instance: Any, **_given: Any) -> None:
    """Send the traces of the worker that brings changes; the others record no spans."""
    if CHANGES in instance.app.amqp.queues.consume_from:
        trace_timing.start_traces(settings.TRACES_URL, "netzwart-worker")


def begin_heartbeat(sender: Any, **_given: Any) -> None:
    """Start a worker's heartbeat, for each role whose queue it consumes. A worker that only imports feeds gets a memory limit."""
    queues = set(sender.app.amqp.queues.consume_from)
    HeartbeatThread([ProcessRole(role) for name, role in ROLES.items() if name in queues]).start()
    if queues == {FEEDS}:
        memory_limit.bound_memory(memory_limit.FEEDS)


def begin_ticking(**_given: Any) -> None:
    """Start the scheduler's heartbeat. The jobs expected from now on are those of its schedule."""
    try:
        jobs.set_schedule(compute_periods(current_app.conf.beat_schedule))
    except DatabaseError as error:
        log.warning("schedule not recorded", error=str(error).strip())
    HeartbeatThread([ProcessRole.TICKER]).start()


def bind_ids(task: Any, **_given: Any) -> None:
    """Let all lines that this thread logs until the task ends name the task, and the request that sent it."""
    request = task.request.get(MESSAGE_HEADER)
    structlog.contextvars.bind_contextvars(task=task.name.removeprefix("workers."), **({"request": request} if request else {}))


def forget_ids(**_given: Any) -> None:
    structlog.contextvars.clear_contextvars()


def record_success(sender: Any, **_given: Any) -> None:
    if sender.name not in RECORDED_BY_ROLE:
        _try_recording(jobs.record_success, sender.name)


def record_failure(sender: Any, exception: BaseException, **_given: Any) -> None:
    if sender.name not in RECORDED_BY_ROLE:
        _try_recording(jobs.record_failure, sender.name, exception)


def _try_recording(record: Any, *arguments: Any) -> None:
    """Record the end of a task. Without a database this is only logged: the task fails anyway."""
    try:
        record(*arguments)
    except DatabaseError as error:
        log.warning("end of a task not recorded", task=arguments[0], error=str(error).strip())
