"""Tell webhooks of changes. The work is in `apps.webhooks`."""

import structlog
from celery import shared_task
from django.conf import settings
from django.utils import timezone

from apps.webhooks import gathering, sending

log = structlog.get_logger()


@shared_task(name="workers.tell_webhooks")
def tell_webhooks() -> None:
    """Queue what has happened, and send what is due."""
    more = gathering.gather()
    if sending.send_due() or more:
        tell_webhooks.delay()


@shared_task(name="workers.erase_deliveries")
def erase_deliveries() -> None:
    """Forget what webhooks were told long ago."""
    if gone := sending.erase_old(timezone.now(), settings.KEEP_WEBHOOK_DAYS):
        log.info("old deliveries forgotten", deliveries=gone)
