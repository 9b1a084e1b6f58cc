"""The last reading of the portal's health, its size on each day, what the rules found, and the backups that were noted."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.operations.portal_health.figures import PortalFigures
from firewall.codec import WireError, decode


class PortalReading(models.Model):
    """The last reading: one row. figures: PortalFigures as JSON."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    at = models.DateTimeField()
    figures = models.JSONField()

    class Meta:
        verbose_name = _("reading of the portal’s health")
        constraints = [models.CheckConstraint(condition=Q(id=1), name="portalreading_one_row")]

    def __str__(self) -> str:
        return str(self.at)

    def parse_figures(self) -> PortalFigures | None:
        """Return the figures; None if another release of the portal stored them in another shape."""
        try:
            found: PortalFigures = decode(PortalFigures, self.figures)
        except WireError:
            return None
        return found


class DatabaseDay(models.Model):
    """The largest size of the database on one day (UTC), in octets."""

    day = models.DateField(primary_key=True)
    octets = models.PositiveBigIntegerField()

    class Meta:
        verbose_name = _("size of the database")
        ordering = ["day"]

    def __str__(self) -> str:
        return f"{self.day}: {self.octets}"


class TableDay(models.Model):
    """Size of one table on one day (UTC), in octets, with indexes and partitions. Small tables have none."""

    day = models.DateField()
    table = models.CharField(max_length=63)
    octets = models.PositiveBigIntegerField()

    class Meta:
        verbose_name = _("size of a table")
        ordering = ["day", "table"]
        constraints = [models.UniqueConstraint(fields=["day", "table"], name="tableday_once")]

    def __str__(self) -> str:
        return f"{self.day} {self.table}: {self.octets}"


class PortalFinding(models.Model):
    """Something that a rule found in the last reading. evidence: the values that its sentence is made of. since: of the first reading that
    showed it, without a break.
    """

    class Kind(models.TextChoices):
        BAD = "bad", _("critical")
        WARN = "warn", _("warning")

    rule = models.CharField(max_length=40, primary_key=True)
    kind = models.CharField(max_length=4, choices=Kind)
    evidence = models.JSONField()
    since = models.DateTimeField()

    class Meta:
        verbose_name = _("finding about the portal")
        constraints = [models.CheckConstraint(condition=Q(kind__in=["bad", "warn"]), name="portalfinding_kind")]

    def __str__(self) -> str:
        return self.rule


class BackupNote(models.Model):
    """A backup, as the script that made it told. octets: its size; None if it was not told. place: where it is, in the script's words."""

    at = models.DateTimeField()
    octets = models.PositiveBigIntegerField(null=True)
    place = models.CharField(max_length=200)

    class Meta:
        verbose_name = _("backup")
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["-at"], name="backupnote_at")]

    def __str__(self) -> str:
        return f"{self.at}: {self.place}"
