"""Queues events that are no changes of the history, such as an alarm that began. Called in the transaction that notes them."""

from collections.abc import Callable, Mapping
from typing import Any

from apps.accounts.models import User
from apps.lib.enqueue import enqueue_task
from apps.webhooks.delivery_gathering import build_delivery, is_subscribed
from apps.webhooks.models import Delivery, Endpoint
from apps.webhooks.subscribable_kinds import RegisteredKind

TASK = "workers.tell_webhooks"
type BuildFacts = Callable[[User], Mapping[str, Any]]


def queue_event(kind: RegisteredKind, event: str, build: BuildFacts) -> int:
    """Queue one delivery for each endpoint that wants the event and whose owner may see it. Return their number.

    build: returns the facts without the delivery's id, in the language of this owner. They contain `event`, and `at` as text.
    """
    active = Endpoint.objects.filter(active=True, owner__is_active=True).select_related("owner").order_by("pk")
    wanted = [each for each in active if is_subscribed(each, kind) and (not each.on or kind.counts_as[event] in each.on)]
    Delivery.objects.bulk_create(build_delivery(each, {"event": f"{kind.name}.{event}", **build(each.owner)}) for each in wanted)
    if wanted:
        enqueue_task(TASK)
    return len(wanted)
