"""Bounds of this app's tables."""

from datetime import datetime, timedelta

from django.conf import settings

from apps.operations.registry import TableBound, delete_oldest, register_bounded, register_pruned
from apps.webhooks.models import Delivery


def prune_deliveries(now: datetime, at_most: int) -> int:
    """Delete deliveries that ended more than KEEP_WEBHOOK_DAYS ago."""
    old = Delivery.objects.filter(ended__lt=now - timedelta(days=settings.KEEP_WEBHOOK_DAYS))
    return delete_oldest(old, "ended", at_most)


register_pruned("webhooks.Delivery", kept="NETZWART_KEEP_WEBHOOK_DAYS", prune=prune_deliveries)
register_bounded(TableBound.PEOPLE, "webhooks.Endpoint")
register_bounded(TableBound.CODE, "webhooks.Position")
