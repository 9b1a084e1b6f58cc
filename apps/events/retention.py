"""Bounds of this app's tables: both are pruned after a short time."""

from datetime import datetime, timedelta

from django.utils.translation import gettext_lazy as _

from apps.events import selectors
from apps.events.models import Event, Presence
from apps.operations.registry import delete_oldest_batch, register_pruned_table

PRESENCES = timedelta(minutes=10)  # a sign of presence holds for seconds; expired ones are removed here


def prune_events(now: datetime, at_most: int) -> int:
    """Delete events older than KEPT, which no stream replays any more."""
    return delete_oldest_batch(Event.objects.filter(at__lt=now - timedelta(seconds=selectors.KEPT)), "at", at_most)


def prune_presences(now: datetime, at_most: int) -> int:
    """Delete expired signs of presence."""
    return delete_oldest_batch(Presence.objects.filter(seen__lt=now - PRESENCES), "seen", at_most)


register_pruned_table("events.Event", kept=_("1 hour"), prune=prune_events)
register_pruned_table("events.Presence", kept=_("10 minutes"), prune=prune_presences)
