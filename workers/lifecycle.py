"""Task for what is due in memberships, such as departures and moves. The work is in `apps.desk.lifecycle.due`."""

from celery import shared_task
from django.utils import timezone

from apps.desk.lifecycle import due
from apps.lib.database.clock_check import check_clock


@shared_task(name="workers.lifecycle")
def run_lifecycle() -> None:
    """Carry out what is due now. Fails while this machine's clock differs from the database's: members who left would be erased early."""
    due.carry_out_due_changes(check_clock(timezone.now()))
