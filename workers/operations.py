"""Tasks for the portal's own upkeep: retention, and proof that each queue is served. The work is in `apps.operations`."""

from celery import shared_task

from apps.operations import heartbeats, registry
from apps.operations.models import ProcessRole


@shared_task(name="workers.forget")
def forget() -> None:
    """Remove rows past their retention, table by table, in bounded steps. Queues itself again if rows are left."""
    if registry.prune_all():
        forget.delay()


@shared_task(name="workers.report_served")
def report_served(role: str) -> None:
    """Record that this role's queue is served."""
    heartbeats.record_served(ProcessRole(role))
