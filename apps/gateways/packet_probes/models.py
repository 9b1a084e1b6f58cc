"""Whether packets pass each gateway: the last probes, by address family."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.gateways.families import FAMILY_CHOICES
from apps.network.models import Gateway

LOST = -1
"""In `recent`: no answer came back."""


class ProbeStatus(models.Model):
    """Result of the last probes of a gateway in one address family.

    at: time of the last probe. answered: when one last came back; None: never. since: since when the state is what it is. failures:
    probes in a row that did not pass. text: the prober's sentence about the last one. recent: microseconds until the answer of the last
    probes, the newest last; LOST for one without.
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
        ]

    def __str__(self) -> str:
        return f"{self.gateway} IPv{self.family}: {self.state}"
