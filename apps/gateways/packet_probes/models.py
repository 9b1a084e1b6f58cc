"""Whether packets pass each gateway: the last probes, by address family."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.gateways.families import FAMILY_CHOICES
from apps.network.models import Gateway

LOST = -1
"""In `recent`: no answer came back."""
REFUSED = -2
"""In `recent`: the target answered, but refused the connection."""
NOT_SENT = -1
"""In `lost_echoes`: no echo request was sent, or what was lost is part of an outage."""


class ProbeStatus(models.Model):
    """Result of the last probes of a gateway in one address family.

    at: time of the last probe. answered: when a packet last came back; None: never. since: since when the state is what it is. failures:
    probes in a row that did not pass. text: the prober's sentence about the last one. recent: microseconds until the last probes' targets
    accepted the connection, the newest last; LOST or REFUSED if one did not. lost_echoes: likewise, how many small echo requests were not
    answered; or NOT_SENT. full_size_answered: when a packet of full size last came back; None: never. full_size_lost: probes in a row since
    in which it did not, though small ones did. mtu: the largest packet that passes, as a router on the way said then; 0: none said.
    series, number: the last round of standing probes that is in here (firewall.probe_messages.ProbesRead).

    inward_at: when a connection from outside to the probe was last tried; None: never. inward_answered: when one last came in.
    inward_failures: tries in a row since in which none did. inward_shown: whether the last one has shown that it does not come in, or the
    responder could not be asked. inward_text: the sentence about the last one.
    """

    class State(models.TextChoices):
        PASSED = "passed", _("passes")
        LOST = "lost", _("does not pass")
        UNKNOWN = "unknown", _("not probed")

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="probe_statuses")
    family = models.PositiveSmallIntegerField(choices=FAMILY_CHOICES)
    at = models.DateTimeField()
    answered = models.DateTimeField(null=True)
    state = models.CharField(max_length=7, choices=State)
    since = models.DateTimeField()
    failures = models.PositiveIntegerField(default=0)
    text = models.TextField(blank=True)
    recent = ArrayField(models.IntegerField(), default=list)
    lost_echoes = ArrayField(models.SmallIntegerField(), default=list)
    full_size_answered = models.DateTimeField(null=True)
    full_size_lost = models.PositiveIntegerField(default=0)
    mtu = models.PositiveIntegerField(default=0)
    series = models.CharField(max_length=16, blank=True)
    number = models.PositiveBigIntegerField(default=0)
    inward_at = models.DateTimeField(null=True)
    inward_answered = models.DateTimeField(null=True)
    inward_failures = models.PositiveIntegerField(default=0)
    inward_shown = models.BooleanField(default=True)
    inward_text = models.TextField(blank=True)

    class Meta:
        ordering = ["gateway__name", "family"]
        constraints = [
            models.UniqueConstraint(fields=["gateway", "family"], name="probestatus_one_per_family"),
            models.CheckConstraint(condition=Q(family__in=[4, 6]), name="probestatus_family"),
            models.CheckConstraint(condition=Q(state__in=["passed", "lost", "unknown"]), name="probestatus_state"),
            models.CheckConstraint(
                condition=Q(state="passed", failures=0, answered__isnull=False) | (~Q(state="passed") & Q(failures__gt=0)),
                name="probestatus_failures",
            ),
            models.CheckConstraint(
                condition=Q(lost_echoes__len=models.F("recent__len")),
                name="probestatus_one_history",
            ),
            models.CheckConstraint(
                condition=Q(inward_at=None, inward_answered=None, inward_failures=0)
                | (
                    Q(inward_at__isnull=False)
                    & (Q(inward_failures__gt=0) | Q(inward_answered__isnull=False, inward_answered=models.F("inward_at")))
                ),
                name="probestatus_inward",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.gateway} IPv{self.family}: {self.state}"
