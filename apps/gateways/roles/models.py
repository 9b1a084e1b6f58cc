"""Roles as they were reported, the changes of who carries a family, and the switches that people asked for."""

from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.gateways.families import FAMILY_CHOICES, join_family_names
from apps.network.models import Gateway, GatewayGroup
from firewall import roles
from firewall.file_digest import LENGTH


class FailoverStatus(models.Model):
    """What a gateway reported of its failover when it was asked last. Without a row it was never asked.

    problem: why it could not be asked, "" if it could. elected, synchronised: when keepalived and conntrackd were last seen to work
    there; None: never. tracked: connections in its kernel's table. running: digest of the files with which keepalived started, "" if it
    is not known. edited: paths of files that were changed by hand.
    """

    gateway = models.OneToOneField(Gateway, models.CASCADE, related_name="failover_status", primary_key=True)
    asked = models.DateTimeField()
    seen = models.DateTimeField(null=True)
    problem = models.TextField(blank=True, default="")
    elected = models.DateTimeField(null=True)
    synchronised = models.DateTimeField(null=True)
    tracked = models.PositiveIntegerField(default=0)
    running = models.CharField(max_length=LENGTH, blank=True, default="")
    edited = ArrayField(models.TextField(), blank=True, default=list)


class GatewayRole(models.Model):
    """A gateway's role for one address family when it answered last (firewall/roles.py). since: as the gateway says; None: unknown."""

    class Role(models.TextChoices):
        PRIMARY = roles.FailoverRole.PRIMARY.value, _("primary")
        STANDBY = roles.FailoverRole.STANDBY.value, _("standby")
        FAULT = roles.FailoverRole.FAULT.value, _("not ready")
        STOPPED = roles.FailoverRole.STOPPED.value, _("keepalived stopped")
        UNKNOWN = roles.FailoverRole.UNKNOWN.value, _("unknown")

    status = models.ForeignKey(FailoverStatus, models.CASCADE, related_name="roles")
    family = models.PositiveSmallIntegerField(choices=FAMILY_CHOICES)
    role = models.CharField(max_length=7, choices=Role)
    since = models.DateTimeField(null=True)
    carries = models.BooleanField()
    is_drained = models.BooleanField()

    class Meta:
        ordering = ["family"]
        constraints = [
            models.UniqueConstraint(fields=["status", "family"], name="gatewayrole_one_per_family"),
            models.CheckConstraint(condition=Q(family__in=[4, 6]), name="gatewayrole_family"),
            models.CheckConstraint(condition=Q(role__in=[each.value for each in roles.FailoverRole]), name="gatewayrole_role"),
        ]


class RoleSwitch(models.Model):
    """A person's wish that a gateway gives up families, is ready for them again, or installs its files, and what became of it.

    SWITCH: another gateway takes the families over, and this one stands by. DRAIN: it does not stand by either. RESUME: it stands by
    again. INSTALL: it installs the files of today's settings. outcome: a code, empty until it has ended; details: its values, and until
    then the step that is under way, if it has steps (outcomes.py).
    """

    class Kind(models.TextChoices):
        SWITCH = "switch", _("switch over")
        DRAIN = "drain", _("drain for maintenance")
        RESUME = "resume", _("back again")
        INSTALL = "install", _("install its files")

    class State(models.TextChoices):
        WAITING = "waiting", _("waits for a worker")
        RUNNING = "running", _("under way")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    OPEN: ClassVar = (State.WAITING, State.RUNNING)
    MOVES: ClassVar = (Kind.SWITCH, Kind.DRAIN, Kind.RESUME)  # kinds that move roles

    group = models.ForeignKey(GatewayGroup, models.CASCADE, related_name="role_switches")
    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="role_switches")
    kind = models.CharField(max_length=7, choices=Kind)
    families = ArrayField(models.PositiveSmallIntegerField(choices=FAMILY_CHOICES))
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(db_default=Now())
    started = models.DateTimeField(null=True)
    ended = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=16, blank=True, default="")
    details = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["group"], condition=Q(state__in=["waiting", "running"]), name="roleswitch_one_at_a_time"),
            models.CheckConstraint(condition=Q(kind__in=["switch", "drain", "resume", "install"]), name="roleswitch_kind"),
            models.CheckConstraint(condition=Q(families__len__gte=1) & Q(families__contained_by=[4, 6]), name="roleswitch_families"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running"], ended=None, outcome="")
                | Q(state__in=["done", "failed"], ended__isnull=False) & ~Q(outcome=""),
                name="roleswitch_ends_with_outcome",
            ),
        ]

    @property
    def families_text(self) -> str:
        """The families, such as “IPv4 + IPv6”."""
        return join_family_names(self.families)


class CarrierChange(models.Model):
    """A move of an address family within a group, as the portal has seen it.

    carriers: names of the gateways that carried it from then on; none: nobody, several: more than one at once. at: when the new
    carrier says that it took over, or else when it was seen.
    """

    class Cause(models.TextChoices):
        FIRST = "first", _("first seen")
        SWITCH = "switch", _("switched here")
        INSTALL = "install", _("files were installed here")
        DRAINED = "drained", _("drained on the gateway")
        FAULT = "fault", _("the former carrier failed")
        ELECTION = "election", _("keepalived elected anew")

    group = models.ForeignKey(GatewayGroup, models.CASCADE, related_name="carrier_changes")
    family = models.PositiveSmallIntegerField(choices=FAMILY_CHOICES)
    carriers = ArrayField(models.CharField(max_length=40), blank=True)
    at = models.DateTimeField()
    cause = models.CharField(max_length=8, choices=Cause)
    switch = models.ForeignKey(RoleSwitch, models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["group", "family", "-id"], name="carrierchange_newest")]
        constraints = [
            models.CheckConstraint(condition=Q(family__in=[4, 6]), name="carrierchange_family"),
            models.CheckConstraint(
                condition=Q(cause__in=["first", "switch", "install", "drained", "fault", "election"]), name="carrierchange_cause"
            ),
        ]
