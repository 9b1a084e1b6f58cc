"""What a group's uplink carries, and whether anybody's rate is limited on it."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.database.triggers import stamp_transaction
from apps.lib.models import Deployed, Versioned


@track_history(exclude=["changed_in", "changed_at"])
class Uplink(Versioned, Deployed):
    """A group's way out. up_kbit, down_kbit: what it carries, kbit/s; None: nobody knows. Without a row, rates are limited as asked for.

    limits_rates: the one switch; without it no gateway of the group limits anybody's rate, whatever tariffs and rate limits say.
    """

    group = models.OneToOneField("network.GatewayGroup", models.CASCADE, related_name="uplink")
    up_kbit = models.PositiveIntegerField(_("uplink, up"), null=True, blank=True)
    down_kbit = models.PositiveIntegerField(_("uplink, down"), null=True, blank=True)
    limits_rates = models.BooleanField(_("limit rates"), default=True)

    class Meta:
        triggers = [stamp_transaction()]
        constraints = [
            models.CheckConstraint(condition=Q(up_kbit=None) | Q(up_kbit__gte=64), name="uplink_up_kbit"),
            models.CheckConstraint(condition=Q(down_kbit=None) | Q(down_kbit__gte=64), name="uplink_down_kbit"),
        ]

    def __str__(self) -> str:
        return str(self.group)
