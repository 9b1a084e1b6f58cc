"""Task for what is due in memberships, such as departures and moves. The work is in `apps.desk.lifecycle.due`."""

from celery import shared_task
from django.utils import timezone

from apps.desk.lifecycle import due


@shared_task(name="workers.lifecycle")
def run_lifecycle() -> None:
    """Carry out what is due now."""
    due.carry_out_due_changes(timezone.now())
