"""Incoming mail as it arrived: stored raw first, read later."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.mail.redaction import redact_staff_addresses


class Arrival(models.Model):
    """A mail as it arrived, with its envelope.

    sender: of the envelope, "" if empty (RFC 5321, 4.5.5), None if unknown. octets: None once they are erased. size, sha256: of the
    octets. message_id: as in its header, "" if there is none; mails with the same one and the same octets are one arrival. place: where it
    was fetched from (server, user, mailbox, UIDVALIDITY and UID), None if it was delivered; a place is fetched only once. times: how
    often it arrived. tries: how often reading was started; it is the fencing token of the last worker. claimed_until: end of that worker's
    lease. reason: why it is in quarantine, or was deleted from there; detail: what else is known.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        TAKEN = "taken", _("taken")
        QUARANTINED = "quarantined", _("in quarantine")
        DELETED = "deleted", _("deleted")

    class Way(models.TextChoices):
        PIPE = "pipe", _("pipe")
        LMTP = "lmtp", "LMTP"
        IMAP = "imap", "IMAP"

    arrived = models.DateTimeField(db_default=Now())
    way = models.CharField(max_length=4, choices=Way)
    sender = models.CharField(max_length=320, null=True)
    recipients = ArrayField(models.CharField(max_length=320), default=list, blank=True)
    octets = models.BinaryField(null=True)
    size = models.PositiveIntegerField()
    sha256 = models.BinaryField(max_length=32)
    message_id = models.CharField(max_length=250, blank=True)
    place = models.CharField(max_length=500, null=True, unique=True)
    times = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=11, choices=State, default=State.WAITING)
    tries = models.PositiveIntegerField(default=0)
    claimed_until = models.DateTimeField(null=True)
    ended = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    reason = models.CharField(max_length=200, blank=True)
    detail = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["id"], name="inbound_waiting", condition=Q(state="waiting")),
            models.Index(fields=["state", "-id"], name="inbound_by_state"),
            models.Index(fields=["ended"], name="inbound_to_be_erased", condition=Q(octets__isnull=False)),
        ]
        constraints = [
            models.UniqueConstraint(F("message_id"), F("sha256"), name="inbound_once", condition=~Q(message_id="")),
            models.CheckConstraint(condition=Q(state__in=["waiting", "taken", "quarantined", "deleted"]), name="inbound_state"),
            models.CheckConstraint(condition=Q(way__in=["pipe", "lmtp", "imap"]), name="inbound_way"),
            models.CheckConstraint(
                condition=Q(state="waiting", ended=None) | (~Q(state="waiting") & Q(ended__isnull=False)), name="inbound_ended"
            ),
            models.CheckConstraint(condition=Q(octets__isnull=False) | Q(state__in=["taken", "deleted"]), name="inbound_kept_until_read"),
            models.CheckConstraint(condition=~Q(state="quarantined") | ~Q(reason=""), name="inbound_quarantine_says_why"),
            models.CheckConstraint(condition=Q(claimed_until=None) | Q(state="waiting", tries__gt=0), name="inbound_claimed_is_a_try"),
            models.CheckConstraint(condition=Q(place=None) | ~Q(place=""), name="inbound_place"),
        ]

    @property
    def first_recipient(self) -> str:
        """The first recipient, as pages may show it."""
        return redact_staff_addresses(self.recipients[0]) if self.recipients else ""

    @property
    def other_count(self) -> int:
        """The number of recipients besides the first."""
        return max(len(self.recipients) - 1, 0)

    def __str__(self) -> str:
        return f"{self.message_id or _('a mail')} ({self.pk})"


class Mailbox(models.Model):
    """The single row with the result of the last mailbox run. failing: since when every run has failed; error: its error."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    place = models.CharField(max_length=700)
    tried = models.DateTimeField()
    succeeded = models.DateTimeField(null=True)
    failing = models.DateTimeField(null=True)
    error = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="inbound_one_mailbox"),
            models.CheckConstraint(
                condition=Q(failing=None, error="") | (Q(failing__isnull=False) & ~Q(error="")), name="inbound_failing_says_why"
            ),
        ]

    def __str__(self) -> str:
        return self.place
