"""Model of members' rate limits, present and past."""

from django.conf import settings
from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.database.triggers import build_stamp_trigger
from apps.lib.database.validity import build_validity_index
from apps.lib.models import Deployed, Versioned
from apps.members.models import HIGHEST_KBIT, LOWEST_KBIT, Member, RateProperties

_RANGE = (LOWEST_KBIT, HIGHEST_KBIT)


@track_history(exclude=["changed_in", "changed_at"])
class RateLimit(RateProperties, Versioned, Deployed):
    """Rate limit of a member through the uplink, over all their holdings together, for a time. A member has one at a time.

    up_kbit: from the member, kbit/s; down_kbit: to the member, kbit/s; None: only the tariff's rate applies in that direction. The limit
    ends in the kernel by itself. author: None when a rule made it and not a person.
    """

    class Reason(models.TextChoices):
        CONGESTION = "congestion", _("the uplink is full")
        QUOTA = "quota", _("the quota is used up")
        OTHER = "other", _("other reason")

    member = models.ForeignKey(Member, models.PROTECT, related_name="rate_limits")
    up_kbit = models.PositiveIntegerField(_("upload rate"), null=True, blank=True)
    down_kbit = models.PositiveIntegerField(_("download rate"), null=True, blank=True)
    reason = models.CharField(_("reason"), max_length=10, choices=Reason)
    note = models.CharField(_("internal note"), max_length=200, blank=True)
    valid = DateTimeRangeField(_("valid"))
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-id"]
        triggers = [build_stamp_trigger("member", "up_kbit", "down_kbit", "valid")]
        indexes = [build_validity_index("ratelimit_valid_by_id")]
        constraints = [
            ExclusionConstraint(name="ratelimit_one_at_a_time", expressions=[("member", "="), ("valid", RangeOperators.OVERLAPS)]),
            models.CheckConstraint(condition=Q(valid__isempty=False), name="ratelimit_valid_some_time"),
            models.CheckConstraint(condition=Q(reason__in=["congestion", "quota", "other"]), name="ratelimit_reason"),
            models.CheckConstraint(condition=~Q(up_kbit=None, down_kbit=None), name="ratelimit_some_way"),
            models.CheckConstraint(condition=Q(up_kbit=None) | Q(up_kbit__range=_RANGE), name="ratelimit_up_kbit"),
            models.CheckConstraint(condition=Q(down_kbit=None) | Q(down_kbit__range=_RANGE), name="ratelimit_down_kbit"),
        ]

    def __str__(self) -> str:
        return f"{self.member}: {self.get_reason_display()}"
