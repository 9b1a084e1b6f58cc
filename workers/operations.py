"""Tasks for the portal's own upkeep: retention, proof that each queue is served, its health. The work is in `apps.operations`."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from apps.lib.database.clock_check import check_clock
from apps.operations import heartbeats, pruning
from apps.operations.models import ProcessRole
from apps.operations.portal_health.collection import read_portal
from apps.preferences.declarations import BACKUP_HOURS
from apps.preferences.selectors import read_setting
from workers.queues import ROLES


@shared_task(name="workers.forget")
def forget() -> None:
    """Remove rows past their retention, table by table, in bounded steps. Queues itself again if rows are left.

    Fails while this machine's clock differs from the database's.
    """
    if pruning.prune_all(check_clock(timezone.now())):
        forget.delay()


@shared_task(name="workers.report_served")
def report_served(role: str) -> None:
    """Record that this role's queue is served."""
    heartbeats.record_served(ProcessRole(role))


@shared_task(name="workers.read_portal_health")
def read_portal_health() -> None:
    """Read and judge the health of the portal's database, queues and backups."""
    read_portal(ROLES, timedelta(hours=read_setting(BACKUP_HOURS)), timezone.now())
