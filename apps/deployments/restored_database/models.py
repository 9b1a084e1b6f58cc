"""Restores of the database, each with the agreement that ends its hold, and how the gateways differ from it meanwhile."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.network.models import Gateway


@track_history()
class DatabaseRestore(models.Model):
    """One restore. Until somebody has agreed, nothing is sent to any gateway.

    backup_made: time of the backup's snapshot. agreed_by: None, though it is agreed: by a command.
    """

    backup_made = models.DateTimeField(_("backup made"))
    restored = models.DateTimeField(_("restored"), db_default=Now())
    agreed = models.DateTimeField(_("agreed"), null=True)
    agreed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("agreed by"))

    class Meta:
        verbose_name = _("restore of the database")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["agreed"], condition=Q(agreed=None), nulls_distinct=False, name="databaserestore_one_open"),
            models.CheckConstraint(condition=Q(agreed=None) | Q(agreed__gte=F("restored")), name="databaserestore_agreed_afterwards"),
            models.CheckConstraint(condition=Q(agreed_by=None) | Q(agreed__isnull=False), name="databaserestore_agreed_at_a_time"),
        ]

    def __str__(self) -> str:
        return str(_("Database restored from the backup of %(time)s") % {"time": f"{self.backup_made:%Y-%m-%d %H:%M} UTC"})


class RestoreDifference(models.Model):
    """How a gateway differs from the restored database, as its agent said.

    compared: when. error: why it could not be. running, target: digests of what it runs, and of what it would get. changes, chains, text:
    what a rollout would change, as counts by kind, as the number of chains, and as nft text, truncated. objects_found, object_count: the
    first objects that only the gateway has (adoption/stored_objects.py), and the number of all, None if its agent cannot tell.
    """

    restore = models.ForeignKey(DatabaseRestore, models.CASCADE, related_name="differences")
    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="+")
    compared = models.DateTimeField()
    error = models.TextField(blank=True)
    running = models.CharField(max_length=64, blank=True)
    target = models.CharField(max_length=64, blank=True)
    changes = models.JSONField(default=list)
    chains = models.PositiveIntegerField(default=0)
    text = models.TextField(blank=True)
    objects_found = models.JSONField(default=list)
    object_count = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ["gateway_id"]
        constraints = [models.UniqueConstraint(fields=["restore", "gateway"], name="restoredifference_one_each")]

    def __str__(self) -> str:
        return f"{self.gateway}: {self.restore}"
