"""Tell webhooks of changes. The work is in `apps.webhooks`."""

from celery import shared_task

from apps.webhooks import gathering, sending


@shared_task(name="workers.tell_webhooks")
def tell_webhooks() -> None:
    """Queue what has happened, and send what is due."""
    more = gathering.gather()
    if sending.send_due() or more:
        tell_webhooks.delay()
