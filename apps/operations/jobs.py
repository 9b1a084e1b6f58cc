"""Records the outcomes of periodic jobs, so that the dashboard shows jobs that fail or do not run.

A success is written at most once every WRITE_EVERY, a failure always: the most frequent job runs every few seconds.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from django.db import connection
from django.db.models import QuerySet

from apps.lib.web.frame_reads import read_with_frame
from apps.operations.heartbeats import list_heartbeats
from apps.operations.models import JobRecord, ProcessRole

WRITE_EVERY: Final = timedelta(seconds=10)
MISSED_PERIODS: Final = 3
GRACE: Final = timedelta(seconds=90)
SUCCEEDED = """
    INSERT INTO operations_jobrecord AS job (name, ran, succeeded) VALUES (%(name)s, now(), now())
    ON CONFLICT (name) DO UPDATE SET ran = now(), succeeded = now(), failing = NULL, error = '', failures = 0
    WHERE job.succeeded IS NULL OR job.failing IS NOT NULL OR job.succeeded < now() - %(every)s::interval
"""
FAILED = """
    INSERT INTO operations_jobrecord AS job (name, ran, failing, error, failures) VALUES (%(name)s, now(), now(), %(error)s, 1)
    ON CONFLICT (name) DO UPDATE SET ran = now(), failing = coalesce(job.failing, now()), error = %(error)s, failures = job.failures + 1
"""
log = structlog.get_logger()


@dataclass(frozen=True)
class JobFault:
    """A job that fails (`error` says why), or that has not run for several periods (`error` is empty).

    since: start of the failure or silence.
    """

    name: str
    since: datetime
    error: str
    succeeded: datetime | None


def record_success(name: str) -> None:
    """Record that the job has succeeded."""
    _write(SUCCEEDED, {"name": name, "every": WRITE_EVERY})


def forget_failure(name: str) -> None:
    """Record that another job has done what this one failed to do. Nothing happens if it does not fail."""
    JobRecord.objects.filter(name=name).exclude(failing=None).update(failing=None, error="", failures=0)


def record_failure(name: str, error: BaseException) -> None:
    """Record that the job has failed, with the exception's text."""
    _write(FAILED, {"name": name, "error": describe_error(error)})


def _write(query: str, values: dict[str, Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query, values)


def describe_error(error: BaseException) -> str:
    """Return the exception's type and the first line of its text, without NUL and short enough for the column."""
    first = str(error).strip().partition("\n")[0].replace("\0", "")
    return f"{type(error).__name__}: {first}"[:500] if first else type(error).__name__


@contextmanager
def record_outcome(name: str) -> Iterator[None]:
    """Run a part of a job. A failure stops nothing else: it is logged and recorded, not raised."""
    try:
        yield
    except Exception as error:
        log.exception("job failed", job=name)
        record_failure(name, error)
    else:
        record_success(name)


def set_schedule(periods: Mapping[str, float]) -> None:
    """Set the periods of the scheduled jobs (seconds), and delete scheduled jobs that the code no longer knows."""
    for name, period in periods.items():
        JobRecord.objects.update_or_create(name=name, defaults={"period": period})
    JobRecord.objects.exclude(name__in=periods).exclude(period=None).delete()


@read_with_frame
def _list_records() -> QuerySet[JobRecord]:
    return JobRecord.objects.order_by("name")


def list_job_faults(now: datetime) -> list[JobFault]:
    """Return jobs that currently fail, and jobs that have not run for several periods while the scheduler was alive."""
    ticker = list_heartbeats().get(ProcessRole.TICKER)
    began = (ticker.started or ticker.expected) if ticker else None
    found = []
    for job in _list_records():
        if job.failing:
            found.append(JobFault(job.name, job.failing, job.error, job.succeeded))
        elif began and job.period and is_overdue(job, began, now):
            found.append(JobFault(job.name, job.ran or job.expected, "", job.succeeded))
    return found


def is_overdue(job: JobRecord, began: datetime, now: datetime) -> bool:
    """True if the job has missed several periods. A scheduler that has just started gets some time first."""
    last, period = job.ran or job.expected, timedelta(seconds=job.period or 0)
    return now - last > MISSED_PERIODS * period + GRACE and now - began > min(period, MISSED_PERIODS * GRACE) + GRACE
