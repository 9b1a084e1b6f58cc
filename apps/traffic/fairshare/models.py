"""Model of fair share: a gateway group's settings, and whether its uplink is full now."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.models import Versioned
from apps.members.models import HIGHEST_KBIT, LOWEST_KBIT, RateProperties, Tariff
from apps.network.models import GatewayGroup

_RANGE = (LOWEST_KBIT, HIGHEST_KBIT)


@track_history(exclude=["since", "calm_since", "looked"])
class FairShare(RateProperties, Versioned):
    """Fair share of a gateway group: while its uplink is full, its heaviest members are limited. A group without a row has no fair share.

    start_percent, end_percent: parts of the uplink's capacity; it is full from start_percent on, until its load was below end_percent for
    calm_minutes. minutes: length of usage by which members are ranked; most: members limited at once; limit_minutes: how long a limit
    holds unless renewed. since, calm_since: as in fair_share_policy.CongestionState; looked: the last check with a known load.
    """

    group = models.OneToOneField(GatewayGroup, models.CASCADE, related_name="fair_share")
    on = models.BooleanField(_("share fairly"), default=False)
    start_percent = models.PositiveSmallIntegerField(default=90)
    end_percent = models.PositiveSmallIntegerField(default=75)
    calm_minutes = models.PositiveSmallIntegerField(default=5)
    minutes = models.PositiveSmallIntegerField(default=10)
    most = models.PositiveSmallIntegerField(default=10)
    limit_minutes = models.PositiveSmallIntegerField(default=10)
    up_kbit = models.PositiveIntegerField(null=True, blank=True, default=5000)
    down_kbit = models.PositiveIntegerField(null=True, blank=True, default=5000)
    exempt = models.ManyToManyField(Tariff, related_name="+", blank=True)
    since = models.DateTimeField(null=True, editable=False)
    calm_since = models.DateTimeField(null=True, editable=False)
    looked = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(end_percent__gte=1, end_percent__lt=F("start_percent")), name="fairshare_end_below_start"),
            models.CheckConstraint(condition=Q(start_percent__lte=100), name="fairshare_start_percent"),
            models.CheckConstraint(condition=Q(minutes__range=(5, 60)), name="fairshare_minutes"),
            models.CheckConstraint(condition=Q(calm_minutes__lte=60), name="fairshare_calm_minutes"),
            models.CheckConstraint(condition=Q(limit_minutes__range=(5, 60)), name="fairshare_limit_minutes"),
            models.CheckConstraint(condition=Q(most__range=(1, 1000)), name="fairshare_most"),
            models.CheckConstraint(condition=~Q(up_kbit=None, down_kbit=None), name="fairshare_some_way"),
            models.CheckConstraint(condition=Q(up_kbit=None) | Q(up_kbit__range=_RANGE), name="fairshare_up_kbit"),
            models.CheckConstraint(condition=Q(down_kbit=None) | Q(down_kbit__range=_RANGE), name="fairshare_down_kbit"),
        ]

    def __str__(self) -> str:
        return str(self.group)
