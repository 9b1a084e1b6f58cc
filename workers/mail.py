"""Tasks that send the outbox and write quota notices. The work is in `apps.mail.delivery` and `apps.traffic.quota_notices`."""

import structlog
from celery import shared_task
from django.utils import timezone

from apps.mail import delivery, transport
from apps.traffic import quota_notices
from workers.run_limit import RunLimit

_sending = RunLimit()  # alarms are watched for on the other thread
log = structlog.get_logger()


@shared_task(name="workers.send_mail")
def send_mail() -> None:
    """Send due mail. Queued after each commit that wrote mail, and by the schedule for retries."""
    if _sending.run(lambda: delivery.deliver_due_mails(transport.build_mail_transport()).more):
        send_mail.delay()


@shared_task(name="workers.tell_of_quotas")
def tell_of_quotas() -> None:
    """Write to members whose quota is nearly or wholly used up, once for each threshold and month."""
    if written := quota_notices.send_notices(timezone.now()):
        log.info("quota notices written", mails=written)
