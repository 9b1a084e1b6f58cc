"""Channels for alarms, and the messages that are written to them."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.alarms.severity import Severity
from apps.lib.database.history import track_history
from apps.lib.models import Versioned

MOST_MINUTES = 1440


@track_history(exclude=["target", "failing_since", "error"])
class AlarmChannel(Versioned):
    """A way to tell people of alarms.

    target: apprise's address of it, encrypted, because it holds passwords. shown: the same with its secrets masked. after_minutes: 0, or
    how long an alarm must be open without anybody having seen it. person: the one whose channel it is: while somebody else is on duty, it
    waits like that person's mails; None: it is everybody's. quiet_from, quiet_until: local time in which only critical alarms are
    told; what is still open at its end is told then. failing_since, error: since when messages fail, and why the last one did.
    """

    name = models.CharField(_("name"), max_length=80)
    target = models.TextField()
    shown = models.CharField(_("address"), max_length=300)
    only_critical = models.BooleanField(_("only critical alarms"), default=False)
    after_minutes = models.PositiveSmallIntegerField(_("if nobody has seen it after, minutes"), default=0)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="alarm_channels", verbose_name=_("person")
    )
    quiet_from = models.TimeField(_("quiet from"), null=True, blank=True)
    quiet_until = models.TimeField(_("quiet until"), null=True, blank=True)
    language = models.CharField(_("language"), max_length=8, choices=settings.LANGUAGES, default="en")
    active = models.BooleanField(_("active"), default=True)
    failing_since = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        verbose_name = _("channel")
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["name"], name="channel_name"),
            models.CheckConstraint(condition=~Q(name="") & ~Q(target=""), name="channel_goes_somewhere"),
            models.CheckConstraint(condition=Q(after_minutes__lte=MOST_MINUTES), name="channel_after_minutes"),
            models.CheckConstraint(
                condition=Q(quiet_from=None, quiet_until=None) | Q(quiet_from__isnull=False, quiet_until__isnull=False),
                name="channel_quiet_hours",
            ),
            models.CheckConstraint(condition=Q(quiet_from=None) | ~Q(quiet_from=F("quiet_until")), name="channel_is_not_always_quiet"),
        ]

    def __str__(self) -> str:
        return self.name


class ChannelMessage(models.Model):
    """A message about one alarm, or a test. severity, turn: those of the alarm then; if it gets worse, it is told again in its next turn.

    due: time of the next try. claimed_until: end of a worker's claim.
    """

    class Event(models.TextChoices):
        BEGAN = "began", _("began")
        OVER = "over", _("over")
        TEST = "test", _("test")

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        SENT = "sent", _("sent")
        FAILED = "failed", _("failed")

    channel = models.ForeignKey(AlarmChannel, models.CASCADE, related_name="messages")
    alarm = models.ForeignKey("alarms.Alarm", models.CASCADE, null=True, related_name="channel_messages")
    event = models.CharField(max_length=5, choices=Event)
    severity = models.CharField(max_length=8, choices=Severity, blank=True)
    turn = models.PositiveIntegerField(default=0)
    title = models.CharField(max_length=300)
    text = models.TextField()
    written = models.DateTimeField(db_default=Now())
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    due = models.DateTimeField(db_default=Now())
    claimed_until = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True)
    ended = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("message to a channel")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["due"], name="channelmessage_waiting", condition=Q(state="waiting")),
            models.Index(fields=["channel", "-id"], name="channelmessage_of_channel"),
            models.Index(fields=["ended"], name="channelmessage_ended", condition=Q(ended__isnull=False)),
        ]
        constraints = [
            models.UniqueConstraint(fields=["channel", "alarm", "event", "severity", "turn"], name="channelmessage_once"),
            models.CheckConstraint(condition=Q(state__in=["waiting", "sent", "failed"]), name="channelmessage_state"),
            models.CheckConstraint(
                condition=Q(event="test", alarm=None) | (Q(event__in=["began", "over"]) & Q(alarm__isnull=False)),
                name="channelmessage_event",
            ),
            models.CheckConstraint(
                condition=Q(state="waiting", ended=None) | (~Q(state="waiting") & Q(ended__isnull=False)), name="channelmessage_ended_once"
            ),
        ]

    def __str__(self) -> str:
        return self.title
