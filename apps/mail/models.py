"""Outgoing mail: the outbox, the notices that recipients have switched off, and whether the mail server answers."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.lib.database.count_triggers import CountedColumn
from apps.lib.database.email_lookups import AsciiLower

COUNTED = CountedColumn(table="mail_message", counts="mail_messagecount", column="state", field="state")


class Message(models.Model):
    """A mail to one address. Its content, headers and Message-ID are written once, and every try sends the same.

    urgent: a person is waiting for it. bulk: one of many alike, which leave after all others. confidential: its link gives access to an
    account; pages and exports never show it, and its content is erased when it is sent. notice: the kind of notice, which its recipient
    can switch off; "" for none. about_type, about_id: the row that it reports on, such as `members.member` and 7. key: unique, so that
    one mail is not queued twice. due: time of the next try. claimed_until: end of the lease of the worker that is sending it. erased:
    when its content was erased.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        SENT = "sent", _("sent")
        FAILED = "failed", _("failed")
        DISCARDED = "discarded", _("discarded")

    to = models.EmailField()
    language = models.CharField(max_length=2, choices=settings.LANGUAGES)
    template = models.CharField(max_length=60, blank=True)
    notice = models.CharField(max_length=20, blank=True)
    urgent = models.BooleanField(default=False)
    bulk = models.BooleanField(default=False, db_default=False)
    confidential = models.BooleanField(default=False)
    automatic = models.BooleanField(default=True)
    subject = models.CharField(max_length=250)
    text = models.TextField(blank=True)
    html = models.TextField(blank=True)
    sender = models.CharField(max_length=320)
    reply_to = models.CharField(max_length=320, blank=True)
    message_id = models.CharField(max_length=250, unique=True)
    in_reply_to = models.CharField(max_length=998, blank=True)
    references = models.TextField(blank=True)
    unsubscribe = models.CharField(max_length=800, blank=True)
    about_type = models.CharField(max_length=60, blank=True)
    about_id = models.BigIntegerField(null=True)
    key = models.CharField(max_length=120, null=True, unique=True)
    written = models.DateTimeField(db_default=Now())
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    tries = models.PositiveIntegerField(default=0)
    due = models.DateTimeField(db_default=Now())
    claimed_until = models.DateTimeField(null=True)
    error = models.CharField(max_length=500, blank=True)
    ended = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    reason = models.CharField(max_length=200, blank=True)
    erased = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        triggers = COUNTED.build_triggers()
        indexes = [
            models.Index(F("urgent").desc(), F("bulk"), F("due"), F("id"), name="mail_waiting", condition=Q(state="waiting")),
            models.Index(fields=["state", "-id"], name="mail_by_state"),
            models.Index(fields=["about_type", "about_id"], name="mail_by_what_it_tells", condition=~Q(about_type="")),
            models.Index(fields=["ended"], name="mail_to_be_erased", condition=Q(erased=None)),
            models.Index(AsciiLower("to"), name="mail_by_address"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["waiting", "sent", "failed", "discarded"]), name="mail_state"),
            models.CheckConstraint(
                condition=Q(state="waiting", ended=None) | (~Q(state="waiting") & Q(ended__isnull=False)), name="mail_ended"
            ),
            models.CheckConstraint(condition=Q(claimed_until=None) | Q(tries__gt=0), name="mail_claimed_is_a_try"),
            models.CheckConstraint(condition=~Q(to="") & ~Q(message_id=""), name="mail_goes_somewhere"),
            models.CheckConstraint(condition=Q(urgent=False) | Q(bulk=False), name="mail_urgent_is_not_bulk"),
            models.CheckConstraint(condition=Q(key=None) | ~Q(key=""), name="mail_key"),
            models.CheckConstraint(
                condition=Q(about_type="", about_id=None) | (~Q(about_type="") & Q(about_id__isnull=False)), name="mail_about"
            ),
        ]

    def __str__(self) -> str:
        return self.subject


class MessageCount(models.Model):
    """How many mails a statement added to a state, or removed, if negative (COUNTED). Retention sums the rows up."""

    state = models.CharField(max_length=9, choices=Message.State)
    number = models.BigIntegerField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(state__in=["waiting", "sent", "failed", "discarded"]), name="mail_count_state")]


class SwitchedOff(models.Model):
    """A kind of notice that an address no longer receives."""

    address = models.EmailField()
    notice = models.CharField(max_length=20)
    since = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(AsciiLower("address"), "notice", name="mail_switched_off_once"),
            models.CheckConstraint(condition=~Q(address="") & ~Q(notice=""), name="mail_switched_off_what"),
        ]


class ServerAway(models.Model):
    """The single row that exists while the mail server accepts nothing: since when, why, and when it is tried next."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    since = models.DateTimeField()
    failures = models.PositiveIntegerField(default=1)
    next_try = models.DateTimeField()
    error = models.CharField(max_length=500)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="mail_one_server")]
