"""Alarms: conditions that staff are told of; and silences, during which nobody is. Channels have a room of their own."""

from datetime import datetime

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from apps.alarms.channels.models import AlarmChannel, ChannelMessage
from apps.alarms.duty.models import DutyCalendar, DutyFeed, DutyShift
from apps.alarms.severity import Severity

__all__ = ["Alarm", "AlarmChannel", "ChannelMessage", "DutyCalendar", "DutyFeed", "DutyShift", "Severity", "Silence"]


class Alarm(models.Model):
    """A condition that needs action, from its first sight until it is over.

    key: the condition, such as "gateway-3"; only one alarm of a key is open. texts: by language, a title and the evidence, in the newest
    words. path: the page that shows it. gateways: ids of the gateways whose state it is; none: it is the network's. began: when it was
    first found. gone: since when it is no longer found; it is over (`ended`) if that lasts. reported: when the first mails about it were
    written. told_to: ids of the accounts that got one. escalated: when those were told, too, who are not on duty. announced: when
    webhooks were told, which is also when it was first told at all: they need no reader. waits_since: since when it is told and waits for
    somebody to see it. seen, seen_by: who has said that they take care of it.

    worsened: since when it has been more urgent than it was; None: it never was less urgent, or has become so again. If that lasts, what
    was told is told again in a new `turn`, which counts how often that happened; worsenings: since when it was worse, of those turns that
    began lately. owes_end: it ended in a silence, and those who were told that it began are still to be told that it is over.
    """

    key = models.CharField(max_length=80)
    severity = models.CharField(max_length=8, choices=Severity)
    texts = models.JSONField()
    path = models.CharField(max_length=300, blank=True)
    gateways = ArrayField(models.BigIntegerField(), default=list, blank=True)
    began = models.DateTimeField()
    gone = models.DateTimeField(null=True)
    reported = models.DateTimeField(null=True)
    told_to = ArrayField(models.BigIntegerField(), default=list, blank=True)
    escalated = models.DateTimeField(null=True)
    announced = models.DateTimeField(null=True)
    waits_since = models.DateTimeField(null=True)
    worsened = models.DateTimeField(null=True)
    worsenings = ArrayField(models.DateTimeField(), default=list, blank=True)
    turn = models.PositiveIntegerField(default=0)
    ended = models.DateTimeField(null=True)
    owes_end = models.BooleanField(default=False)
    seen = models.DateTimeField(null=True)
    seen_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta:
        verbose_name = _("alarm")
        ordering = ["-began", "-id"]
        indexes = [
            models.Index(fields=["key", "-began"], name="alarm_by_key"),
            models.Index(fields=["-ended"], name="alarm_ended", condition=Q(ended__isnull=False)),
            models.Index(fields=["id"], name="alarm_owes_end", condition=Q(owes_end=True)),
        ]
        constraints = [
            models.UniqueConstraint(fields=["key"], name="alarm_open_once", condition=Q(ended=None)),
            models.CheckConstraint(condition=~Q(key=""), name="alarm_has_a_key"),
            models.CheckConstraint(condition=Q(severity__in=Severity.values), name="alarm_severity"),
            models.CheckConstraint(condition=Q(ended=None) | Q(ended__gte=F("began")), name="alarm_ends_after_it_began"),
            models.CheckConstraint(condition=Q(ended=None) | Q(gone__isnull=False), name="alarm_is_gone_before_it_ends"),
            models.CheckConstraint(condition=Q(owes_end=False) | Q(ended__isnull=False), name="alarm_owes_its_end_once_over"),
            models.CheckConstraint(condition=Q(seen_by=None) | Q(seen__isnull=False), name="alarm_seen_by_at_a_time"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        """What is wrong, in the active language."""
        return self.get_text("title")

    @property
    def evidence(self) -> str:
        """What was seen, in the active language."""
        return self.get_text("evidence")

    @property
    def urgent_since(self) -> datetime:
        """When it became as urgent as it is."""
        return self.worsened or self.began

    @property
    def is_worse_than_told(self) -> bool:
        """True if it has become more urgent since it was told."""
        return self.announced is not None and self.worsened is not None and self.announced < self.worsened

    def get_text(self, part: str) -> str:
        known: dict[str, str] = self.texts.get((get_language() or "").partition("-")[0]) or next(iter(self.texts.values()), {})
        return str(known.get(part, ""))


class Silence(models.Model):
    """A time during which no mails about alarms are written, of one condition (`key`) or, if it is empty, of any.

    Alarms are recorded all the same. What is still open when the silence is over is reported then. by: who asked for it. ended_by: who
    ended it before its time, which is why `until` lies earlier than it was asked for.
    """

    key = models.CharField(max_length=80, blank=True)
    reason = models.CharField(_("reason"), max_length=200)
    since = models.DateTimeField(db_default=Now())
    until = models.DateTimeField(_("until"))
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta:
        verbose_name = _("silence")
        ordering = ["-until", "-id"]
        indexes = [models.Index(fields=["until"], name="silence_until")]
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="silence_has_a_reason"),
            models.CheckConstraint(condition=Q(until__gte=F("since")), name="silence_ends_after_it_began"),
        ]

    def __str__(self) -> str:
        return self.reason

    def covers(self, key: str, now: datetime) -> bool:
        """True if no mail about this condition may be written now."""
        return self.until > now and self.key in ("", key)
