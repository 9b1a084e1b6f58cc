"""Task that brings announcements to members. The work is in `apps.announcements.mailing`."""

import structlog
from celery import shared_task
from django.utils import timezone

from apps.announcements import mailing

log = structlog.get_logger()


@shared_task(name="workers.send_announcements")
def send_announcements() -> None:
    """Write the next mails, and show announcements to new members. Queued at publication, and by the schedule for all that follows."""
    now = timezone.now()
    written, newcomers = mailing.write_pending_mails(now), mailing.reach_newcomers(now)
    if written or newcomers:
        log.info("announcements brought to members", mails=written, newcomers=newcomers)
