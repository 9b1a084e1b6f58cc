"""Task that watches for alarms. The work is in `apps.alarms`."""

from celery import shared_task
from django.utils import timezone

from apps.alarms import watch


@shared_task(name="workers.watch_alarms")
def watch_alarms() -> None:
    """Compare what is wrong now with the open alarms, and write mails about what began and what is over."""
    watch.watch_alarms(timezone.now())
