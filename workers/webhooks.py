"""Task that sends events to webhooks. The work is in `apps.webhooks`."""

from celery import shared_task

from apps.webhooks import delivery_gathering, delivery_sender


@shared_task(name="workers.tell_webhooks")
def tell_webhooks() -> None:
    """Queue new events, and send due deliveries."""
    more = delivery_gathering.gather_deliveries()
    if delivery_sender.send_due_deliveries() or more:
        tell_webhooks.delay()
