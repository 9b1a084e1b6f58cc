"""Recent events for pages and scripts, and which accounts have which tickets open. Both are kept only for a short time.

Triggers write the events (migrations/events/0001), in the transaction of the change that they report.
"""

from django.conf import settings
from django.db import models
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now

from apps.lib.fields import TransactionIdField


class Event(models.Model):
    """A hint that an object of this kind now has this state, without personal data.

    member_id: the member that the object belongs to; None if there is none. own: True if that member may see the event; without a
    member, all members may.
    """

    kind = models.CharField(max_length=16)
    object_id = models.BigIntegerField()
    state = models.CharField(max_length=20)
    member_id = models.BigIntegerField(null=True)
    own = models.BooleanField(default=False)
    transaction = TransactionIdField(db_default=RawSQL("pg_current_xact_id()", ()))
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(fields=["transaction"], name="event_by_transaction"),
            models.Index(fields=["at"], name="event_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id}: {self.state}"


class Presence(models.Model):
    """An account that has a ticket open. Valid for PRESENT after it was last `seen` (tickets/presence.py). The table is unlogged."""

    ticket_id = models.BigIntegerField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    writing = models.BooleanField(default=False)
    seen = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["ticket_id", "user"], name="presence_once")]
        indexes = [models.Index(fields=["seen"], name="presence_by_time")]

    def __str__(self) -> str:
        return f"{self.user_id} at {self.ticket_id}"
