"""What happened lately, for pages and scripts that look at it now, and who looks at what. Neither is history: both are soon forgotten.

Triggers write the events (migrations/events/0001), in the transaction of what they tell of.
"""

from django.conf import settings
from django.db import models
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now

from apps.lib.fields import TransactionIdField


class Event(models.Model):
    """Something of this kind is in this state now: a hint to look, without anything personal.

    member_id: whose it is, None where it is nobody's. own: whether that member is told, too; with no member, every member is.
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
    """Somebody has a ticket open. It holds for PRESENT after it was last `seen` (presence.py); the table is not logged."""

    ticket_id = models.BigIntegerField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    writing = models.BooleanField(default=False)
    seen = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["ticket_id", "user"], name="presence_once")]
        indexes = [models.Index(fields=["seen"], name="presence_by_time")]

    def __str__(self) -> str:
        return f"{self.user_id} at {self.ticket_id}"
