"""Task that sends events to webhooks. The work is in `apps.webhooks`."""

from celery import shared_task

from apps.webhooks import delivery_gathering, delivery_sender
from workers.run_limit import RunLimit

_telling = RunLimit(2)  # a slow receiver takes one, and gateways are read on the other threads


@shared_task(name="workers.tell_webhooks")
def tell_webhooks() -> None:
    """Queue new events, and send due deliveries."""
    if _telling.run(_tell):
        tell_webhooks.delay()


def _tell() -> bool:
    more = delivery_gathering.gather_deliveries()
    return delivery_sender.send_due_deliveries() or more
