"""Uplink of a gateway group: its rates, and whether rates are limited on it."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.database.triggers import build_stamp_trigger
from apps.lib.models import Deployed, Versioned


@track_history(exclude=["changed_in", "changed_at"])
class Uplink(Versioned, Deployed):
    """A group's uplink. up_kbit, down_kbit: its rate in kbit/s; None: unknown. Without a row, rates are limited as configured.

    limits_rates: if False, no gateway of the group limits any rate, whatever tariffs and rate limits say.
    """

    group = models.OneToOneField("network.GatewayGroup", models.CASCADE, related_name="uplink")
    up_kbit = models.PositiveIntegerField(_("upload capacity"), null=True, blank=True)
    down_kbit = models.PositiveIntegerField(_("download capacity"), null=True, blank=True)
    limits_rates = models.BooleanField(_("limit rates"), default=True)

    class Meta:
        triggers = [build_stamp_trigger()]
        constraints = [
            models.CheckConstraint(condition=Q(up_kbit=None) | Q(up_kbit__gte=64), name="uplink_up_kbit"),
            models.CheckConstraint(condition=Q(down_kbit=None) | Q(down_kbit__gte=64), name="uplink_down_kbit"),
        ]

    def __str__(self) -> str:
        return str(self.group)
