"""What a member sees of announcements on their own pages. Every function takes the member, and reaches only what reached them."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import get_language

from apps.announcements.models import Announcement, AnnouncementRecipient, AnnouncementWords
from apps.members.models import Member

MAX_STRIPS: Final = 3  # on top of a member's page, so that the state of the connection stays in sight
LONGEST_STRIP: Final = 700  # characters


@dataclass(frozen=True)
class OwnAnnouncement:
    """An announcement as its reader sees it, in the language of the page if it was written in it."""

    pk: int
    words: AnnouncementWords
    since: datetime
    until: datetime
    is_shown: bool
    seen: datetime | None

    @property
    def is_shortened(self) -> bool:
        """True if the text is too long for the top of the page."""
        return len(self.words.text) > LONGEST_STRIP

    @property
    def short_words(self) -> AnnouncementWords:
        """The words for the top of the page: a long text ends after a word, so that no link is cut."""
        if not self.is_shortened:
            return self.words
        begin = self.words.text[: LONGEST_STRIP + 1].rsplit(maxsplit=1)
        return replace(self.words, text=f"{begin[0] if len(begin) > 1 else ''} …".lstrip())


def list_unseen_announcements(member: Member, now: datetime) -> list[OwnAnnouncement]:
    """Return what is shown on top of the member's page: the newest that are shown now and were not dismissed, at most MAX_STRIPS."""
    shown = list_reached_announcements(member, now).filter(announcement__shown_until__gt=now, seen=None)[:MAX_STRIPS]
    return [describe_own_announcement(each, now) for each in shown]


def list_reached_announcements(member: Member, now: datetime) -> QuerySet[AnnouncementRecipient]:
    """Return all that was or is shown to the member, the newest first. Withdrawn ones are gone."""
    begun = {"announcement__state": Announcement.State.PUBLISHED, "announcement__shown_from__lte": now}
    return member.announcements.filter(**begun).select_related("announcement").order_by("-announcement__shown_from", "-pk")


def describe_own_announcement(row: AnnouncementRecipient, now: datetime) -> OwnAnnouncement:
    """Return the announcement in the active language."""
    about = row.announcement
    since = max(about.shown_from or row.since, row.since)
    return OwnAnnouncement(about.pk, about.choose_words(get_language()), since, about.shown_until, about.is_shown(now), row.seen)


def mark_announcement_seen(*, member: Member, announcement: int) -> bool:
    """Take an announcement from the top of the member's page. Return False if it did not reach them. Idempotent."""
    mine = member.announcements.filter(announcement=announcement)
    mine.filter(seen=None).update(seen=Now())
    return mine.exists()
