"""Rules of a gateway group for what members may open themselves."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.models import Versioned
from apps.network.models import GatewayGroup
from apps.preferences.declarations import LONGEST_RANGE, LOWEST_PORT

MOST_FORBIDDEN = 2000


@track_history()
class PortRules(Versioned):
    """Port rules of a group. lowest: first public port of members; longest: ports of one range; forbidden: ports for no member, in order.

    They apply neither to what administrators open, nor to what is open already. A group without a row has the rules of the
    network (apps/preferences).
    """

    group = models.OneToOneField(GatewayGroup, models.CASCADE, related_name="port_rules")
    lowest = models.PositiveIntegerField(_("lowest port"), default=LOWEST_PORT.default)
    longest = models.PositiveSmallIntegerField(_("longest range"), default=LONGEST_RANGE.default)
    forbidden = ArrayField(models.PositiveIntegerField(), verbose_name=_("forbidden ports"), default=list, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(lowest__range=(1, 65535)), name="portrules_lowest"),
            models.CheckConstraint(condition=Q(longest__range=(1, 1000)), name="portrules_longest"),
            models.CheckConstraint(condition=Q(forbidden__len__lte=MOST_FORBIDDEN), name="portrules_few_forbidden"),
        ]

    def __str__(self) -> str:
        return str(self.group)

    def find_forbidden(self, first: int, count: int) -> int | None:
        """Return the last of these ports that is forbidden; None if none is."""
        return max((port for port in self.forbidden if first <= port < first + count), default=None)

    def is_allowed(self, first: int, count: int) -> bool:
        """Return True if members may open these ports themselves."""
        return first >= self.lowest and count <= self.longest and self.find_forbidden(first, count) is None
