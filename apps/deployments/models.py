"""Revisions and their contents, rollouts and their steps, the state of each gateway, held-back changes, and groups on hold."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from apps.deployments.restored_database.models import DatabaseRestore, RestoreDifference
from apps.lib.database.history import track_history
from apps.lib.fields import SnapshotField
from apps.network.models import Gateway, GatewayGroup

__all__ = [
    "DatabaseRestore",
    "GatewayState",
    "HeldBack",
    "Hold",
    "RestoreDifference",
    "Revision",
    "RevisionContent",
    "Rollout",
    "RolloutStep",
    "UnapprovedLoss",
]


class Revision(models.Model):
    """Desired state of a group at one moment, as one consistent read of the database saw it."""

    group = models.ForeignKey(GatewayGroup, models.PROTECT, related_name="revisions")
    created = models.DateTimeField(_("created"), auto_now_add=True)
    snapshot = SnapshotField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    cause = models.CharField(max_length=40, default="change")
    digests = models.JSONField(default=dict)  # gateway's name -> digest
    gateways = models.JSONField(default=dict)  # gateway's name -> its id: names change hands
    changes = models.JSONField(default=list)  # [{"kind": …, "added": n, "removed": n, "changed": n, "of": n}]
    delta = models.TextField(default="")  # nft text, truncated
    elements = models.PositiveIntegerField(default=0)
    management = models.JSONField(default=dict)  # gateway's name -> {"interface": …, "port": n, "from": [prefixes]}
    again = models.ForeignKey("self", models.SET_NULL, null=True, related_name="+")  # of a rollback: the revision it repeats

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["group", "created"], name="revision_by_time")]

    def __str__(self) -> str:
        return f"r{self.pk}"


class RevisionContent(models.Model):
    """Rulesets of a revision's gateways, stored as a delta from an earlier revision, or whole if `base` is null
    (`revision_pages/contents.py`).
    """

    revision = models.OneToOneField(Revision, models.CASCADE, related_name="content", primary_key=True)
    base = models.ForeignKey(Revision, models.PROTECT, null=True, related_name="+")
    packed = models.BinaryField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(base=None) | Q(base__lt=F("revision")), name="revisioncontent_goes_on_from_older")
        ]


class Rollout(models.Model):
    """A revision on its way to the gateways of its group, one after the other. At most one per group is open."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        APPLYING = "applying", _("applying")
        PAUSED = "paused", _("paused")
        CONFIRMED = "confirmed", _("confirmed")
        FAILED = "failed", _("failed")
        ABORTED = "aborted", _("aborted")

    OPEN = (State.QUEUED, State.APPLYING, State.PAUSED)

    group = models.ForeignKey(GatewayGroup, models.PROTECT, related_name="rollouts")
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="rollouts")
    state = models.CharField(_("state"), max_length=9, choices=State, default=State.QUEUED)
    created = models.DateTimeField(_("started"), auto_now_add=True)
    finished = models.DateTimeField(_("finished"), null=True)
    lease_until = models.DateTimeField(null=True)
    token = models.PositiveBigIntegerField(default=0)
    error = models.TextField(blank=True)
    again = models.BooleanField(default=False)  # something changed while it was open: reconcile again afterwards
    goes_on = models.BooleanField(default=True)  # continue without a gateway that does not answer
    harmless = models.BooleanField(default=False)  # only elements change
    attempts = models.PositiveSmallIntegerField(default=0)
    wish = models.CharField(max_length=5, blank=True, choices=[("pause", _("pause")), ("abort", _("abort"))])
    stopped_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")  # the person who stopped it

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["group"], condition=Q(state__in=["queued", "applying", "paused"]), name="rollout_one_open_per_group"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "applying", "paused", "confirmed", "failed", "aborted"]), name="rollout_state_is_known"
            ),
            models.CheckConstraint(condition=Q(wish__in=["", "pause", "abort"]), name="rollout_wish_is_known"),
        ]
        indexes = [
            models.Index(fields=["group", "-id"], name="rollout_by_group"),
            models.Index(fields=["state", "-id"], name="rollout_by_state"),
        ]

    def __str__(self) -> str:
        return str(self.revision)


class RolloutStep(models.Model):
    """One gateway's part of a rollout, with its evidence."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        SENDING = "sending", _("sending")
        PROBING = "probing", _("probing")
        CONFIRMING = "confirming", _("confirming")
        REVERTING = "reverting", _("going back")
        ASKING = "asking", _("asking")
        CONFIRMED = "confirmed", _("confirmed")
        REFUSED = "refused", _("refused")
        AWAY = "away", _("no answer")
        WENT_BACK = "went_back", _("went back")
        LOST = "lost", _("contact lost")
        IMPAIRED = "impaired", _("gateway fault")
        SKIPPED = "skipped", _("skipped")

    MOVING = (State.SENDING, State.PROBING, State.CONFIRMING, State.REVERTING, State.ASKING)
    BAD = (State.REFUSED, State.AWAY, State.WENT_BACK, State.LOST, State.IMPAIRED)

    rollout = models.ForeignKey(Rollout, models.CASCADE, related_name="steps")
    gateway = models.ForeignKey(Gateway, models.PROTECT, related_name="steps")
    position = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    sent = models.DateTimeField(null=True)
    sent_octets = models.PositiveBigIntegerField(default=0)
    committed = models.DateTimeField(null=True)
    commit_ms = models.PositiveIntegerField(default=0)
    read_back_ms = models.PositiveIntegerField(default=0)
    confirmed = models.DateTimeField(null=True)
    goes_back = models.DateTimeField(null=True)  # when the gateway reverts by itself, unless it is confirmed
    evidence = models.JSONField(default=list)  # [{"what": …, "passed": bool, "ms": n or null, "text": …}], in order
    flows_cut = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    reason = models.CharField(max_length=10, default="", blank=True)  # the agent's code for its refusal (`wire.Refused`)
    doing = models.CharField(max_length=20, blank=True)  # the gateway's last reported activity (firewall.wire.Beat), until the next state
    done = models.PositiveIntegerField(default=0)  # elements done
    of = models.PositiveIntegerField(default=0)  # elements in all; 0: not known
    heard = models.DateTimeField(null=True)  # when the gateway reported it

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["rollout", "gateway"], name="rolloutstep_once_per_gateway"),
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        *("waiting", "sending", "probing", "confirming", "reverting", "asking"),
                        *("confirmed", "refused", "away", "went_back", "lost", "impaired", "skipped"),
                    ]
                ),
                name="rolloutstep_state_is_known",
            ),
        ]
        indexes = [models.Index(fields=["gateway", "-confirmed"], name="rolloutstep_by_gateway")]


class GatewayState(models.Model):
    """State of a gateway as last seen: what it runs, whether it answers, and its drift.

    `snapshot` is the newest read of the database that this ruleset corresponds to.
    """

    gateway = models.OneToOneField(Gateway, models.CASCADE, related_name="status", primary_key=True)
    digest = models.CharField(max_length=64, blank=True)
    revision = models.ForeignKey(Revision, models.SET_NULL, null=True, related_name="+")
    snapshot = SnapshotField(null=True)
    since = models.DateTimeField(null=True)
    in_memory = models.BooleanField(default=False)
    seen = models.DateTimeField(null=True)
    unreachable_since = models.DateTimeField(null=True)
    error = models.TextField(blank=True)
    disk = models.TextField(default="", blank=True)  # why the agent cannot write to its disk, in its own words
    unshaped = models.TextField(default="", db_default="", blank=True)  # why it has no fair queues, in its agent's words
    agent = models.CharField(max_length=40, default="", blank=True)  # version of its agent
    protocol = models.PositiveSmallIntegerField(default=0)  # version of the protocol that its agent answered in; 0 if it has not
    drift = models.JSONField(null=True)  # how the kernel differs from what the agent committed (`drift.py`)
    drift_since = models.DateTimeField(null=True)
    drifted_before = models.JSONField(default=list)  # past drift, newest first, at most `drift.REMEMBERED`
    kernel = models.JSONField(
        null=True
    )  # its connection table and sysctls at the collector's last reading (apps/gateways/kernel_gauges.py)


@track_history()
class Hold(models.Model):
    """A group kept at an older revision, whatever the database asks for, until a person releases it."""

    group = models.ForeignKey(GatewayGroup, models.CASCADE, related_name="holds")
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    since = models.DateTimeField(auto_now_add=True)
    why = models.CharField(_("why"), max_length=200)
    alone = models.BooleanField(default=False, db_default=False)  # an emergency: rolled back by one person, after a new sign-in
    released = models.DateTimeField(null=True)
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["group"], condition=Q(released=None), name="hold_one_per_group"),
            models.CheckConstraint(condition=~Q(why=""), name="hold_says_why"),
        ]

    def __str__(self) -> str:
        return str(self.revision)


@track_history(exclude=["packed", "text", "baseline"])
class HeldBack(models.Model):
    """A part of the desired state that needs a second person: it removes much service, changes management or limits, or is a rollback.

    `digest` stands for exactly that part; an approval is valid for that digest only. askers: all users who wrote the rows
    concerned since `baseline`. asker_unknown: the author of some of those rows is unknown, so any user may have asked. earlier:
    how many removals of the same kind went out unapproved within the hour before.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        APPROVED = "approved", _("approved")
        REFUSED = "refused", _("refused")
        OBSOLETE = "obsolete", _("no longer asked for")
        DONE = "done", _("done")

    ALIVE = (State.WAITING, State.APPROVED)

    group = models.ForeignKey(GatewayGroup, models.CASCADE, related_name="held_back")
    kind = models.CharField(max_length=12)  # of firewall.sets.ObjectKind, or one of apps.deployments.approvals.kinds
    digest = models.CharField(max_length=64)
    removed = models.PositiveIntegerField(default=0)
    of = models.PositiveIntegerField(default=0)
    packed = models.BinaryField()  # exactly the part that waits
    text = models.TextField(default="")  # as nft text, truncated
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    since = models.DateTimeField(auto_now_add=True)
    askers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+")
    asker_unknown = models.BooleanField(default=False, db_default=False)
    baseline = SnapshotField(null=True)  # the read of the database that the running rulesets corresponded to
    earlier = models.PositiveIntegerField(default=0, db_default=0)
    decided = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    reason = models.CharField(_("reason"), max_length=200, blank=True, default="", db_default="")  # of a refusal, or of a lone approval
    alone = models.BooleanField(default=False)  # approved by an asker, or a possible one, because no other approver exists

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["group", "digest"], condition=Q(state__in=["waiting", "approved"]), name="heldback_once"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "approved", "refused", "obsolete", "done"]), name="heldback_state_is_known"
            ),
            models.CheckConstraint(condition=~Q(state="refused") | ~Q(reason=""), name="heldback_refused_for_a_reason"),
            models.CheckConstraint(condition=~Q(state="approved") | Q(decided__isnull=False), name="heldback_approved_by_somebody"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.group}"


class UnapprovedLoss(models.Model):
    """Service that a rollout removed without approval, because it was below the limits. Kept for an hour, so that removals add up."""

    group = models.ForeignKey(GatewayGroup, models.CASCADE, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    packed = models.BinaryField()  # the part, as in HeldBack

    class Meta:
        indexes = [models.Index(fields=["group", "at"], name="unapprovedloss_by_group")]
