"""Archives of evidence, their octets, and who downloaded them."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.network.models import Gateway


class EvidenceArchive(models.Model):
    """A request for evidence of one gateway, and what became of it. Other apps may refer to it by its primary key.

    cause: who asked: a person (`by`), or the portal before it did something. problem: why the gateway's own part is missing (DONE: the
    archive has the portal's part alone), or why there is no archive (FAILED); reason: the gateway's words about it. parts: for each
    file its name, octets and note. size: octets of the archive.
    """

    class Cause(models.TextChoices):
        PERSON = "person", _("by hand")
        SWITCH = "switch", _("before a switch of roles")
        REVERT = "revert", _("before a rollout went back")
        ROLLBACK = "rollback", _("before a return to an older revision")

    class State(models.TextChoices):
        WAITING = "waiting", _("waits for a worker")
        RUNNING = "running", _("is being collected")
        DONE = "done", _("collected")
        FAILED = "failed", _("failed")

    class Problem(models.TextChoices):
        UNREACHABLE = "unreachable", _("the gateway did not answer")
        OLDER = "older", _("its agent is too old")
        REFUSED = "refused", _("its agent refused")
        LATE = "late", _("no worker had time")
        LOST = "lost", _("the worker was lost")

    OPEN: ClassVar = (State.WAITING, State.RUNNING)

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="evidence_archives")
    cause = models.CharField(max_length=8, choices=Cause)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    asked = models.DateTimeField(db_default=Now())
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    problem = models.CharField(max_length=11, choices=Problem, blank=True, default="")
    reason = models.CharField(max_length=300, blank=True, default="")
    parts = models.JSONField(default=list)
    size = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("evidence")
        ordering = ["-id"]
        indexes = [models.Index(fields=["gateway", "-id"], name="evidence_newest"), models.Index(fields=["asked"], name="evidence_by_age")]
        constraints = [
            models.CheckConstraint(condition=Q(cause__in=["person", "switch", "revert", "rollback"]), name="evidence_cause"),
            models.CheckConstraint(
                condition=Q(problem__in=["", "unreachable", "older", "refused", "late", "lost"]), name="evidence_problem"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running"], finished=None, size=0)
                | Q(state="done", finished__isnull=False, size__gt=0)
                | Q(state="failed", finished__isnull=False, size=0) & ~Q(problem=""),
                name="evidence_ends_with_archive_or_problem",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.gateway}: {self.asked:%Y-%m-%d %H:%M:%S}"


class EvidenceFile(models.Model):
    """The octets of an archive (tar.gz): in the database, so that they come and go with their row, and are in its backups."""

    archive = models.OneToOneField(EvidenceArchive, models.CASCADE, primary_key=True, related_name="file")
    octets = models.BinaryField()

    class Meta:
        verbose_name = _("file of evidence")


class EvidenceDownload(models.Model):
    """A download of an archive: it contains addresses of members, so the page shows who has it."""

    archive = models.ForeignKey(EvidenceArchive, models.CASCADE, related_name="downloads")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("download of evidence")
        ordering = ["id"]
