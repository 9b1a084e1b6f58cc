"""Bounds of this app's tables."""

from datetime import datetime, timedelta

from apps.operations.registry import TableBoundKind, delete_oldest_batch, register_pruned_table, register_unpruned_tables
from apps.preferences.declarations import KEEP_WEBHOOK_DAYS
from apps.preferences.selectors import describe_lazily, read_setting
from apps.webhooks.models import Delivery


def prune_deliveries(now: datetime, at_most: int) -> int:
    """Delete deliveries that ended longer ago than they are kept."""
    old = Delivery.objects.filter(ended__lt=now - timedelta(days=read_setting(KEEP_WEBHOOK_DAYS)))
    return delete_oldest_batch(old, "ended", at_most)


register_pruned_table("webhooks.Delivery", kept=describe_lazily(KEEP_WEBHOOK_DAYS), prune=prune_deliveries)
register_unpruned_tables(TableBoundKind.PEOPLE, "webhooks.Endpoint")
register_unpruned_tables(TableBoundKind.CODE, "webhooks.Position")
