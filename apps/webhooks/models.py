"""Who is told of changes, what is told, and how far the history has been read for that."""

from uuid import uuid4

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.models import Versioned

EVENTS = ("created", "changed", "removed")


@track_history(exclude=["salt", "failures", "rest_until"])
class Endpoint(Versioned):
    """A program of somebody's that is told of changes. Its secret is derived from `salt` and the portal's key, and stands nowhere.

    owner: only what this person may see is told. kinds, on: of what and which events, none: all. failures: tries in a row that went
    wrong; rest_until: nothing is tried before.
    """

    name = models.CharField(_("name"), max_length=80)
    url = models.CharField(_("address"), max_length=1000)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="webhooks", verbose_name=_("owner"))
    kinds = ArrayField(models.CharField(max_length=40), default=list, blank=True, verbose_name=_("kinds"))
    on = ArrayField(models.CharField(max_length=10), default=list, blank=True, verbose_name=_("events"))
    active = models.BooleanField(_("active"), default=True)
    created = models.DateTimeField(_("added"), db_default=Now())
    salt = models.BinaryField(max_length=32)
    failures = models.PositiveIntegerField(default=0)
    rest_until = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("webhook")
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["name"], name="webhook_name"),
            models.CheckConstraint(condition=~Q(name="") & ~Q(url=""), name="webhook_goes_somewhere"),
        ]

    def __str__(self) -> str:
        return self.name


class Delivery(models.Model):
    """One thing that happened, for one endpoint: its body is written once, and every try sends the same.

    uid: what receivers know it by. source, position: of which event it tells, as the history counts; none for a test. due: when it is
    tried next. claimed_until: until then a worker has it in hand. status, answer: what the last try was answered, cut.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        SENT = "sent", _("sent")
        FAILED = "failed", _("failed")
        DROPPED = "dropped", _("dropped")

    endpoint = models.ForeignKey(Endpoint, models.CASCADE, related_name="deliveries")
    uid = models.UUIDField(default=uuid4, unique=True)
    event = models.CharField(max_length=60)
    source = models.CharField(max_length=80, blank=True)
    position = models.BigIntegerField(null=True)
    object_id = models.BigIntegerField(null=True)
    body = models.TextField()
    written = models.DateTimeField(db_default=Now())
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    tries = models.PositiveIntegerField(default=0)
    due = models.DateTimeField(db_default=Now())
    claimed_until = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True)
    answer = models.TextField(blank=True)
    error = models.CharField(max_length=320, blank=True)
    ended = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["due", "id"], name="delivery_waiting", condition=Q(state="waiting")),
            models.Index(fields=["endpoint", "-id"], name="delivery_by_endpoint"),
            models.Index(fields=["ended"], name="delivery_to_be_erased", condition=Q(ended__isnull=False)),
        ]
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "source", "position"], name="delivery_once"),
            models.CheckConstraint(condition=Q(state__in=["waiting", "sent", "failed", "dropped"]), name="delivery_state"),
            models.CheckConstraint(
                condition=Q(state="waiting", ended=None) | (~Q(state="waiting") & Q(ended__isnull=False)), name="delivery_ended"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.uid}"


class Position(models.Model):
    """How far the events of one table have been read: `done`. All up to `settled` are there or never will be; see delivery_gathering.py."""

    table = models.CharField(max_length=80, primary_key=True)
    done = models.BigIntegerField()
    settled = models.BigIntegerField()
    candidate = models.BigIntegerField(null=True)
    holders = ArrayField(models.CharField(max_length=40), default=list)

    def __str__(self) -> str:
        return f"{self.table} {self.done}"
