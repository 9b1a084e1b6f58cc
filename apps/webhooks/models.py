"""Webhook endpoints, their deliveries, and the position up to which the history has been read for them."""

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


@track_history(exclude=["salt", "failures", "failing_since", "rest_until"])
class Endpoint(Versioned):
    """A program that receives changes over HTTP. Its secret is derived from `salt` and the portal's key, and is not stored.

    owner: the endpoint gets only what this account may see. kinds, on: which kinds of objects and which events it gets; empty
    means all. failures: failed tries in a row. failing_since: the first of them since it last accepted something or a person changed it
    or sent a delivery again. rest_until: no delivery is tried before this time.
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
    failing_since = models.DateTimeField(null=True)
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
    """One event for one endpoint. Its body is written once, and every try sends the same.

    uid: the id that receivers see. source, position: history table and id of the event; unset for a test. due: time of the next
    try. claimed_until: end of a worker's claim. status, answer: answer to the last try, truncated.
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
    """Position up to which the events of one table have been read (`done`).

    All ids up to `settled` are committed or never will be; see delivery_gathering.py.
    """

    table = models.CharField(max_length=80, primary_key=True)
    done = models.BigIntegerField()
    settled = models.BigIntegerField()
    candidate = models.BigIntegerField(null=True)
    holders = ArrayField(models.CharField(max_length=40), default=list)

    def __str__(self) -> str:
        return f"{self.table} {self.done}"
