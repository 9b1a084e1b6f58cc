"""Reports of the portal's own processes: signs of life, and outcomes of periodic jobs; its health is in `portal_health`.

The tables here are bounded: one row for each role, for each role of a host, and for each job in the code.
"""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.operations.portal_health.models import BackupNote, DatabaseDay, PortalFinding, PortalReading, TableDay

__all__ = [
    "BackupNote",
    "DatabaseDay",
    "HostHeartbeat",
    "JobRecord",
    "PortalFinding",
    "PortalReading",
    "ProcessRole",
    "RoleHeartbeat",
    "TableDay",
]


class ProcessRole(models.TextChoices):
    """A process of the portal that runs beside the web server. The value is its name in `portal.programs`."""

    WORKER = "worker", _("deploy worker")
    COLLECTOR = "collector", _("collector")
    FEEDS = "feeds", _("feed importer")
    MAILER = "mailer", _("mailer")
    TICKER = "beat", _("scheduler")
    EVENTS = "events", _("live events")


class RoleHeartbeat(models.Model):
    """Last sign of life of a role, from whichever process gave it.

    started: when the process began that reported last. seen: its last report. served: when the role last finished a task that
    came through the broker. expected: since when reports are expected. broker_error, broker_failing: why it cannot write to the
    broker, and since when.
    """

    role = models.CharField(max_length=16, primary_key=True, choices=ProcessRole)
    expected = models.DateTimeField(db_default=Now())
    started = models.DateTimeField(null=True)
    seen = models.DateTimeField(null=True)
    served = models.DateTimeField(null=True)
    broker_error = models.CharField(max_length=300, blank=True, default="", db_default="")
    broker_failing = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(role__in=ProcessRole.values), name="roleheartbeat_of_a_role"),
            models.CheckConstraint(
                condition=Q(broker_failing=None, broker_error="") | (Q(broker_failing__isnull=False) & ~Q(broker_error="")),
                name="roleheartbeat_failing_says_why",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role}: {self.seen}"


class HostHeartbeat(models.Model):
    """Last sign of life of a role from one host. A program that is stopped on purpose removes its row.

    broker_error, broker_failing: why it cannot write to the broker, and since when. secret_mark, ssh_mark: tell its keys from those of
    other hosts; ssh_mark is empty for roles that do not reach gateways.
    """

    role = models.CharField(max_length=16, choices=ProcessRole)
    host = models.CharField(max_length=64)
    started = models.DateTimeField()
    seen = models.DateTimeField()
    broker_error = models.CharField(max_length=300, blank=True, default="")
    broker_failing = models.DateTimeField(null=True)
    secret_mark = models.CharField(max_length=16)
    ssh_mark = models.CharField(max_length=16, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["role", "host"], name="hostheartbeat_once"),
            models.CheckConstraint(condition=Q(role__in=ProcessRole.values), name="hostheartbeat_of_a_role"),
            models.CheckConstraint(
                condition=Q(broker_failing=None, broker_error="") | (Q(broker_failing__isnull=False) & ~Q(broker_error="")),
                name="hostheartbeat_failing_says_why",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} on {self.host}: {self.seen}"


class JobRecord(models.Model):
    """Last outcome of a job: a task of the schedule, a task that one of them enqueues, or one part of the pruning.

    period: seconds between two scheduled runs; None for jobs that other jobs enqueue. expected: since when a run is expected.
    ran: end of the last run, successful or not. failing, error, failures: since when it fails, with which error, and how often in
    a row.
    """

    name = models.CharField(max_length=100, primary_key=True)
    period = models.FloatField(null=True)
    expected = models.DateTimeField(db_default=Now())
    ran = models.DateTimeField(null=True)
    succeeded = models.DateTimeField(null=True)
    failing = models.DateTimeField(null=True)
    error = models.CharField(max_length=500, blank=True, default="", db_default="")
    failures = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(failing=None, error="") | (Q(failing__isnull=False) & ~Q(error="")), name="jobrecord_failing_says_why"
            )
        ]

    def __str__(self) -> str:
        return self.name
