"""Announcements to members, and whom each one reached: a row for every member, which remembers their mail and that they have seen it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.models import Versioned
from apps.mail.models import Message
from apps.members.models import Member, Site, Tariff
from apps.network.models import GatewayGroup, Pool

AUDIENCE_KINDS: Final = ("sites", "pools", "groups", "tariffs")
"""Kinds of an audience's parts, which are many-to-many fields of Announcement."""
LANGUAGES: Final = ("en", "de")


@dataclass(frozen=True)
class AnnouncementWords:
    """Title and text in one language."""

    title: str
    text: str
    language: str


@track_history()
class Announcement(Versioned):
    """A message to all active members or some of them: on their pages from `shown_from` until `shown_until`, and by mail if `by_mail`.

    narrowed_by: the kinds of which something was chosen. A kind stays in it when the last chosen object is removed, so that an
    announcement to one house never becomes one to everybody. audience: names of what was chosen, for people; "" for all members.
    reached: number of members that were confirmed when it was published. shown_from: None until then means at once.
    """

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        PUBLISHED = "published", _("published")
        WITHDRAWN = "withdrawn", _("withdrawn")

    title_en = models.CharField(_("English title"), max_length=200, blank=True)
    title_de = models.CharField(_("German title"), max_length=200, blank=True)
    text_en = models.TextField(_("English text"), blank=True)
    text_de = models.TextField(_("German text"), blank=True)
    sites = models.ManyToManyField(Site, related_name="+", blank=True)
    pools = models.ManyToManyField(Pool, related_name="+", blank=True)
    groups = models.ManyToManyField(GatewayGroup, related_name="+", blank=True)
    tariffs = models.ManyToManyField(Tariff, related_name="+", blank=True)
    narrowed_by = ArrayField(models.CharField(max_length=8), default=list, blank=True)
    audience = models.TextField(_("audience"), blank=True)
    shown_from = models.DateTimeField(_("shown from"), null=True, blank=True)
    shown_until = models.DateTimeField(_("shown until"))
    by_mail = models.BooleanField(_("also by mail"), default=True)
    state = models.CharField(_("state"), max_length=9, choices=State, default=State.DRAFT)
    reached = models.PositiveIntegerField(_("members"), null=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("author"))
    created = models.DateTimeField(db_default=Now())
    published = models.DateTimeField(_("published"), null=True)
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("published by"))
    withdrawn = models.DateTimeField(_("withdrawn"), null=True)
    withdrawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("withdrawn by"))

    class Meta:
        verbose_name = _("announcement")
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="draft", published=None, withdrawn=None, reached=None)
                | Q(state="published", published__isnull=False, withdrawn=None, reached__isnull=False, shown_from__isnull=False)
                | Q(state="withdrawn", published__isnull=False, withdrawn__isnull=False, reached__isnull=False, shown_from__isnull=False),
                name="announcement_state",
            ),
            models.CheckConstraint(condition=Q(shown_from=None) | Q(shown_until__gt=F("shown_from")), name="announcement_until_after_from"),
            models.CheckConstraint(
                condition=Q(title_en="", text_en="") | (~Q(title_en="") & ~Q(text_en="")), name="announcement_english_is_whole"
            ),
            models.CheckConstraint(
                condition=Q(title_de="", text_de="") | (~Q(title_de="") & ~Q(text_de="")), name="announcement_german_is_whole"
            ),
            models.CheckConstraint(condition=~Q(title_en="", title_de=""), name="announcement_says_something"),
            models.CheckConstraint(condition=Q(narrowed_by__contained_by=list(AUDIENCE_KINDS)), name="announcement_audience_kinds"),
            models.CheckConstraint(condition=Q(narrowed_by=[]) | ~Q(audience=""), name="announcement_audience_is_named"),
            models.CheckConstraint(condition=Q(reached=None) | Q(reached__gt=0), name="announcement_reaches_somebody"),
        ]

    def __str__(self) -> str:
        return self.choose_words(get_language()).title

    def choose_words(self, language: str | None) -> AnnouncementWords:
        """Return title and text in this language, or in the other one if it was not written."""
        wanted = "de" if (language or "").startswith("de") else "en"
        found = wanted if getattr(self, f"title_{wanted}") else next(each for each in LANGUAGES if each != wanted)
        return AnnouncementWords(getattr(self, f"title_{found}"), getattr(self, f"text_{found}"), found)

    def list_emptied_kinds(self) -> list[str]:
        """Return the kinds that narrow it though all that was chosen of them was removed: nobody fits these."""
        return [kind for kind in self.narrowed_by if not getattr(self, kind).exists()]

    def is_over(self, now: datetime) -> bool:
        """True if it was published, and its time on the members' pages is over."""
        return self.state == self.State.PUBLISHED and self.shown_until <= now

    def is_shown(self, now: datetime) -> bool:
        """True while members see it."""
        return self.state == self.State.PUBLISHED and self.shown_from is not None and self.shown_from <= now < self.shown_until


class AnnouncementRecipient(models.Model):
    """A member whom an announcement reaches. delivery: what became of the mail. message: the mail. seen: when the member dismissed it.

    Who fits the audience only after publication gets a row, too, but no mail (delivery PAGE).
    """

    class Delivery(models.TextChoices):
        PAGE = "page", _("on the page only")
        WAITING = "waiting", _("mail waits")
        WRITTEN = "written", _("mail written")
        NO_ADDRESS = "no_address", _("no mail address")
        UNWANTED = "unwanted", _("switched such mails off")
        LEFT = "left", _("no longer a member")
        STOPPED = "stopped", _("withdrawn, or over, before the mail was written")

    announcement = models.ForeignKey(Announcement, models.CASCADE, related_name="recipients")
    member = models.ForeignKey(Member, models.CASCADE, related_name="announcements")
    since = models.DateTimeField(db_default=Now())
    delivery = models.CharField(max_length=10, choices=Delivery)
    message = models.OneToOneField(Message, models.SET_NULL, null=True, related_name="+")
    seen = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["announcement", "id"], name="announcement_mail_waits", condition=Q(delivery="waiting"))]
        constraints = [
            models.UniqueConstraint(fields=["announcement", "member"], name="announcement_reaches_once"),
            models.CheckConstraint(
                condition=Q(delivery__in=["page", "waiting", "written", "no_address", "unwanted", "left", "stopped"]),
                name="announcement_delivery",
            ),
            models.CheckConstraint(condition=Q(message=None) | Q(delivery="written"), name="announcement_mail_is_written"),
        ]

    def __str__(self) -> str:
        return f"{self.announcement}: {self.member}"
