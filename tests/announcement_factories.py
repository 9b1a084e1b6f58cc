"""Factories for announcements, through the services."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from apps.accounts.models import User
from apps.announcements.audience import preview_audience
from apps.announcements.models import Announcement
from apps.announcements.services import AnnouncementFacts, draft_announcement, publish_announcement

TITLE, TEXT = "Water off on Thursday", "From 9 to 11.\n\nAsk https://lindenhof.example/water for more."
GERMAN: dict[str, Any] = {"title_de": "Donnerstag kein Wasser", "text_de": "Von 9 bis 11 Uhr."}


def draft(by: User, **facts: Any) -> Announcement:
    """Save a draft that is shown for a week, in English if no text is given."""
    words = {} if {"title_en", "title_de"} & set(facts) else {"title_en": TITLE, "text_en": TEXT}
    given = AnnouncementFacts(**({"shown_until": timezone.now() + timedelta(days=7)} | words | facts))
    return Announcement.objects.get(pk=draft_announcement(facts=given, by=by).pk)


def publish(by: User, **facts: Any) -> Announcement:
    """Save a draft, look at the preview, and publish it."""
    row = draft(by, **facts)
    return publish_announcement(announcement=row, version=row.version, members=preview_audience(row).members, by=by)
