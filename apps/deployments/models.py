"""What was asked for at one moment (a revision), how it reached the gateways (a rollout), and what each gateway runs."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.lib.fields import SnapshotField
from apps.network.models import Gateway, GatewayGroup


class Revision(models.Model):
    """What the database asked for, of one group, as one consistent read saw it."""

    group = models.ForeignKey(GatewayGroup, models.PROTECT, related_name="revisions")
    created = models.DateTimeField(_("created"), auto_now_add=True)
    snapshot = SnapshotField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    cause = models.CharField(max_length=40, default="change")
    digests = models.JSONField(default=dict)  # gateway's name -> digest
    changes = models.JSONField(default=list)  # [{"kind": …, "added": n, "removed": n, "changed": n, "of": n}]
    delta = models.TextField(default="")  # nft text, cut
    elements = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"r{self.pk}"


class Rollout(models.Model):
    """A revision on its way to the gateways of its group, one after the other. One at a time per group."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        APPLYING = "applying", _("applying")
        CONFIRMED = "confirmed", _("confirmed")
        FAILED = "failed", _("failed")

    OPEN = (State.QUEUED, State.APPLYING)

    group = models.ForeignKey(GatewayGroup, models.PROTECT, related_name="rollouts")
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="rollouts")
    state = models.CharField(_("state"), max_length=9, choices=State, default=State.QUEUED)
    created = models.DateTimeField(_("started"), auto_now_add=True)
    finished = models.DateTimeField(_("finished"), null=True)
    lease_until = models.DateTimeField(null=True)
    token = models.PositiveBigIntegerField(default=0)
    error = models.TextField(blank=True)
    again = models.BooleanField(default=False)  # something changed while it was open

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["group"], condition=Q(state__in=["queued", "applying"]), name="rollout_one_at_a_time"),
            models.CheckConstraint(condition=Q(state__in=["queued", "applying", "confirmed", "failed"]), name="rollout_state_known"),
        ]

    def __str__(self) -> str:
        return str(self.revision)


class RolloutStep(models.Model):
    """One gateway's part of a rollout, with the evidence of each step."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        APPLYING = "applying", _("applying")
        CONFIRMED = "confirmed", _("confirmed")
        FAILED = "failed", _("failed")

    rollout = models.ForeignKey(Rollout, models.CASCADE, related_name="steps")
    gateway = models.ForeignKey(Gateway, models.PROTECT, related_name="steps")
    position = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    sent = models.DateTimeField(null=True)
    sent_octets = models.PositiveBigIntegerField(default=0)
    committed = models.DateTimeField(null=True)
    commit_ms = models.PositiveIntegerField(default=0)
    read_back_ms = models.PositiveIntegerField(default=0)
    confirmed = models.DateTimeField(null=True)
    error = models.TextField(blank=True)
    unreachable = models.BooleanField(default=False)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["rollout", "gateway"], name="rolloutstep_once_per_gateway")]
        indexes = [models.Index(fields=["gateway", "-confirmed"], name="rolloutstep_by_gateway")]


class GatewayState(models.Model):
    """What a gateway runs, as last seen. `snapshot` is the newest read of the database that this ruleset is true to."""

    gateway = models.OneToOneField(Gateway, models.CASCADE, related_name="status", primary_key=True)
    digest = models.CharField(max_length=64, blank=True)
    revision = models.ForeignKey(Revision, models.SET_NULL, null=True, related_name="+")
    snapshot = SnapshotField(null=True)
    since = models.DateTimeField(null=True)
    in_memory = models.BooleanField(default=False)
    seen = models.DateTimeField(null=True)
    unreachable_since = models.DateTimeField(null=True)
    error = models.TextField(blank=True)
