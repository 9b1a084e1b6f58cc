"""The portal's own upkeep: removing what is too old, and proof that each queue is served. The work is in `apps.operations`."""

from celery import shared_task

from apps.operations import heartbeats, registry
from apps.operations.models import ProcessRole


@shared_task(name="workers.forget")
def forget() -> None:
    """Remove what is older than it is kept, table by table, in bounded steps; whatever is left is asked for again."""
    if registry.prune_all():
        forget.delay()


@shared_task(name="workers.report_served")
def report_served(role: str) -> None:
    """Proof that a task of this role's queue is taken and carried out."""
    heartbeats.record_served(ProcessRole(role))
