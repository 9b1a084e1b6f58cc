"""Bounds of this app's tables."""

from datetime import datetime, timedelta

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.alarms.models import Alarm, ChannelMessage, DutyShift, Silence
from apps.operations.registry import TableBoundKind, delete_oldest_batch, register_pruned_table, register_unpruned_tables

KEPT = timedelta(days=365)
MESSAGES_KEPT = timedelta(days=30)


def prune_alarms(now: datetime, at_most: int) -> int:
    """Delete alarms that have been over for a year."""
    return delete_oldest_batch(Alarm.objects.filter(ended__lt=now - KEPT), "ended", at_most)


def prune_silences(now: datetime, at_most: int) -> int:
    """Delete silences that have been over for a year."""
    return delete_oldest_batch(Silence.objects.filter(until__lt=now - KEPT), "until", at_most)


def prune_channel_messages(now: datetime, at_most: int) -> int:
    """Delete messages to channels that ended a month ago, as their alarm did: until then they tell what a channel was told of it."""
    long_ago = now - MESSAGES_KEPT
    no_longer_needed = Q(alarm=None) | Q(alarm__ended__lt=long_ago, alarm__owes_end=False)
    return delete_oldest_batch(ChannelMessage.objects.filter(no_longer_needed, ended__lt=long_ago), "ended", at_most)


def prune_shifts(now: datetime, at_most: int) -> int:
    """Delete shifts that ended a year ago."""
    return delete_oldest_batch(DutyShift.objects.filter(ends__lt=now - KEPT), "ends", at_most)


register_unpruned_tables(TableBoundKind.PEOPLE, "alarms.AlarmChannel", "alarms.DutyCalendar", "alarms.DutyFeed")
register_pruned_table("alarms.DutyShift", kept=_("1 year"), prune=prune_shifts)
register_pruned_table("alarms.ChannelMessage", kept=_("30 days"), prune=prune_channel_messages)
register_pruned_table("alarms.Alarm", kept=_("1 year"), prune=prune_alarms)
register_pruned_table("alarms.Silence", kept=_("1 year"), prune=prune_silences)
