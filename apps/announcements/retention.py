"""Bounds of this app's tables: an announcement is deleted a year after its end, first whom it reached, then itself. Drafts, too."""

from datetime import datetime, timedelta

from django.utils.translation import gettext_lazy as _

from apps.announcements.models import Announcement, AnnouncementRecipient
from apps.operations.registry import delete_oldest_batch, register_pruned_table

KEPT = timedelta(days=365)


def prune_announcements(now: datetime, at_most: int) -> int:
    """Delete announcements whose end was a year ago, and that have no recipients any more."""
    return delete_oldest_batch(Announcement.objects.filter(shown_until__lt=now - KEPT, recipients=None), "shown_until", at_most)


def prune_recipients(now: datetime, at_most: int) -> int:
    """Delete whom announcements reached whose end was a year ago."""
    return delete_oldest_batch(AnnouncementRecipient.objects.filter(announcement__shown_until__lt=now - KEPT), "pk", at_most)


register_pruned_table("announcements.Announcement", kept=_("1 year"), prune=prune_announcements)
register_pruned_table("announcements.AnnouncementRecipient", kept=_("1 year"), prune=prune_recipients)
