"""What was asked for at one moment (a revision), how it reached the gateways (a rollout), what each gateway runs, and what
waits for a person: a change that is held back, a group that is held at an older revision.
"""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
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
    management = models.JSONField(default=dict)  # gateway's name -> {"interface": …, "port": n, "from": [prefixes]}
    again = models.ForeignKey("self", models.SET_NULL, null=True, related_name="+")  # a rollback: the revision it repeats

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["group", "created"], name="revision_by_time")]

    def __str__(self) -> str:
        return f"r{self.pk}"


class RevisionContent(models.Model):
    """What a revision's gateways run, as the way from the one before it; without a base it is whole (`contents.py`)."""

    revision = models.OneToOneField(Revision, models.CASCADE, related_name="content", primary_key=True)
    base = models.ForeignKey(Revision, models.PROTECT, null=True, related_name="+")
    packed = models.BinaryField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(base=None) | Q(base__lt=F("revision")), name="revisioncontent_goes_on_from_older")
        ]


class Rollout(models.Model):
    """A revision on its way to the gateways of its group, one after the other. One at a time per group."""

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
    again = models.BooleanField(default=False)  # something changed while it was open
    goes_on = models.BooleanField(default=True)  # without a gateway that does not answer
    harmless = models.BooleanField(default=False)  # nothing but elements changes
    attempts = models.PositiveSmallIntegerField(default=0)
    wish = models.CharField(max_length=5, blank=True, choices=[("pause", _("pause")), ("abort", _("abort"))])
    stopped_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")  # paused or aborted it

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

    def __str__(self) -> str:
        return str(self.revision)


class RolloutStep(models.Model):
    """One gateway's part of a rollout, with the evidence of each step."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        SENDING = "sending", _("sending")
        PROBING = "probing", _("probing")
        CONFIRMING = "confirming", _("confirming")
        REVERTING = "reverting", _("going back")
        ASKING = "asking", _("asking")
        CONFIRMED = "confirmed", _("confirmed")
        REFUSED = "refused", _("refused")
        AWAY = "away", _("away")
        WENT_BACK = "went_back", _("went back")
        LOST = "lost", _("lost")
        IMPAIRED = "impaired", _("impaired")
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
    goes_back = models.DateTimeField(null=True)  # when the gateway takes back what nobody has confirmed
    evidence = models.JSONField(default=list)  # [{"what": …, "passed": bool, "ms": n or null, "text": …}], in order
    flows_cut = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    reason = models.CharField(max_length=10, default="", blank=True)  # the agent's own word for why it refused (`wire.Refused`)
    doing = models.CharField(max_length=20, blank=True)  # as the gateway said last (firewall.wire.Beat), until the next state
    done = models.PositiveIntegerField(default=0)  # so many elements
    of = models.PositiveIntegerField(default=0)  # of so many; 0: not known
    heard = models.DateTimeField(null=True)  # when it said so

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
    disk = models.TextField(default="", blank=True)  # why the agent cannot write down what it is told, in its words
    agent = models.CharField(max_length=40, default="", blank=True)  # its agent's version
    drift = models.JSONField(null=True)  # what the kernel held otherwise than the agent committed (`drift.py`)
    drift_since = models.DateTimeField(null=True)
    drifted_before = models.JSONField(default=list)  # drift that is over, the newest first, at most `drift.REMEMBERED`
    kernel = models.JSONField(
        null=True
    )  # its connection table and sysctls, as the collector read them last (apps/gateways/kernel_gauges.py)


@track_history()
class Hold(models.Model):
    """A group kept at an older revision, whatever the database asks for, until somebody releases it."""

    group = models.ForeignKey(GatewayGroup, models.CASCADE, related_name="holds")
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    since = models.DateTimeField(auto_now_add=True)
    why = models.CharField(_("why"), max_length=200)
    alone = models.BooleanField(default=False, db_default=False)  # two should have agreed: one signed in again and went back at once
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
    """A part of what is asked for on which two have to agree: it takes much service away, or changes management or limits, or goes back.

    `digest` stands for exactly that part; an approval is one of that digest and of nothing else. askers: everybody who wrote what it is
    about since `baseline`; asker_unknown: some of it was written by nobody known, so it may have been anybody. earlier: how much of the
    same kind went within the hour before, which nobody approved.
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
    packed = models.BinaryField()  # the very part
    text = models.TextField(default="")  # as nft text, cut
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    since = models.DateTimeField(auto_now_add=True)
    askers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+")
    asker_unknown = models.BooleanField(default=False, db_default=False)
    baseline = SnapshotField(null=True)  # what the gateways ran was true to this read of the database
    earlier = models.PositiveIntegerField(default=0, db_default=0)
    decided = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    reason = models.CharField(_("reason"), max_length=200, blank=True, default="", db_default="")  # of a refusal, or of going alone
    alone = models.BooleanField(default=False)  # approved by whoever asked, or may have, because there is nobody else

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
    """Service that a rollout took away without a second person, because it was little. Kept for an hour: removals one by one add up."""

    group = models.ForeignKey(GatewayGroup, models.CASCADE, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    packed = models.BinaryField()  # the part, as in HeldBack

    class Meta:
        indexes = [models.Index(fields=["group", "at"], name="unapprovedloss_by_group")]
