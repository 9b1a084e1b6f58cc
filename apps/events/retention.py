"""How this app's tables are bounded: both hold what is forgotten soon."""

from datetime import datetime, timedelta

from django.utils.translation import gettext_lazy as _

from apps.events import selectors
from apps.events.models import Event, Presence
from apps.operations.registry import delete_oldest, register_pruned

PRESENCES = timedelta(minutes=10)  # signs hold for seconds; who leaves last is cleared away here


def prune_events(now: datetime, at_most: int) -> int:
    """Remove events that nobody is told any more."""
    return delete_oldest(Event.objects.filter(at__lt=now - timedelta(seconds=selectors.KEPT)), "at", at_most)


def prune_presences(now: datetime, at_most: int) -> int:
    """Remove signs of who had a ticket open."""
    return delete_oldest(Presence.objects.filter(seen__lt=now - PRESENCES), "seen", at_most)


register_pruned("events.Event", kept=_("1 hour"), prune=prune_events)
register_pruned("events.Presence", kept=_("10 minutes"), prune=prune_presences)
