"""Tasks that send one answer to many tickets, and count tickets. The work is in `apps.tickets.bulk` and `apps.tickets.period_counts`."""

from celery import shared_task
from django.utils import timezone

from apps.tickets import bulk, period_counts


@shared_task(name="workers.answer_tickets")
def answer_tickets() -> None:
    """Send the next pending answers. Queued when staff send them, and by the schedule for what a worker left."""
    if bulk.send_pending_answers():
        answer_tickets.delay()


@shared_task(name="workers.count_tickets")
def count_tickets() -> None:
    """Count the tickets of days and weeks that are over."""
    period_counts.store_all_past_periods(timezone.now())
