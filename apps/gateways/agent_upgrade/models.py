"""Upgrades of agents: one run for a group, with a step for each gateway."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.network.models import Gateway, GatewayGroup


class AgentUpgrade(models.Model):
    """A person's wish that the agents of a group run the portal's program, and how far that got. At most one per group is open.

    agent: version of the program; digest: its SHA-256, by which gateways name it. token: the fencing token of the worker that has it
    now, until lease_until. by: null for a command.
    """

    class State(models.TextChoices):
        RUNNING = "running", _("under way")
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")

    group = models.ForeignKey(GatewayGroup, models.CASCADE, related_name="agent_upgrades")
    agent = models.CharField(max_length=40)
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=7, choices=State, default=State.RUNNING)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(db_default=Now())
    ended = models.DateTimeField(null=True)
    token = models.PositiveBigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["group"], condition=Q(state="running"), name="agentupgrade_one_at_a_time"),
            models.CheckConstraint(condition=Q(state__in=["running", "done", "stopped"]), name="agentupgrade_state"),
            models.CheckConstraint(condition=Q(state="running") ^ Q(ended__isnull=False), name="agentupgrade_ended_when_over"),
        ]

    def __str__(self) -> str:
        return f"{self.group}: {self.agent}"


class AgentUpgradeStep(models.Model):
    """A gateway's part. since: when it came into this state. before: version of the agent that it had.

    attempts: how often it was sent. failing: families whose probe did not pass before the trial. problem: a code (outcome_texts.py), and
    reason: the gateway's words, if the step did not succeed. needs_package: units or commands of root there are of another release,
    which no program brings.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        SENDING = "sending", _("gets the program")
        TRIAL = "trial", _("on trial")
        CONFIRMED = "confirmed", _("confirmed")
        CURRENT = "current", _("had it already")
        REFUSED = "refused", _("nothing was done")
        WENT_BACK = "went_back", _("went back")
        SKIPPED = "skipped", _("skipped")

    MOVING: ClassVar = (State.SENDING, State.TRIAL)
    BAD: ClassVar = (State.REFUSED, State.WENT_BACK)

    upgrade = models.ForeignKey(AgentUpgrade, models.CASCADE, related_name="steps")
    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="agent_upgrade_steps")
    position = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    since = models.DateTimeField(db_default=Now())
    before = models.CharField(max_length=40, blank=True, default="")
    attempts = models.PositiveSmallIntegerField(default=0)
    failing = models.JSONField(default=list)
    problem = models.CharField(max_length=11, blank=True, default="")
    reason = models.CharField(max_length=1000, blank=True, default="")
    needs_package = models.BooleanField(default=False)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["upgrade", "gateway"], name="agentupgradestep_once_per_gateway"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "sending", "trial", "confirmed", "current", "refused", "went_back", "skipped"]),
                name="agentupgradestep_state",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["refused", "went_back"]) ^ Q(problem=""), name="agentupgradestep_problem_if_it_failed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.gateway}: {self.get_state_display()}"
