"""Failover of a gateway group: the addresses that its gateways hold in turn, and when one stands in for another."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.fields import AddressInNetwork, InterfaceAddressField
from apps.lib.models import Versioned
from firewall.failover import FailoverSpec, StateCacheMode
from firewall.failover.spec import HEALTH, INTERVALS, MOST_ADDRESSES, VIRTUAL_ROUTERS

RECOMMENDED = FailoverSpec(addresses=())


@track_history()
class Failover(Versioned):
    """How the gateways of a group stand in for each other. Without a row, keepalived and conntrackd are the administrators' own.

    As in firewall.failover.FailoverSpec: interval in centiseconds; failback in seconds, None: a person switches back. inside, outside,
    servers: virtual addresses of that interface, each with the prefix length of its network. announce: the carrier of a family has routes
    to its pools, for a routing program.
    """

    class Cache(models.TextChoices):
        DIRECT = StateCacheMode.DIRECT.value, _("in the kernel at once")
        EXTERNAL = StateCacheMode.EXTERNAL.value, _("in memory until the gateway takes over")

    group = models.OneToOneField("network.GatewayGroup", models.CASCADE, related_name="failover")
    inside = ArrayField(InterfaceAddressField(), verbose_name=_("virtual addresses inside"))
    outside = ArrayField(InterfaceAddressField(), verbose_name=_("virtual addresses outside"), default=list, blank=True)
    servers = ArrayField(InterfaceAddressField(), verbose_name=_("virtual addresses towards the servers"), default=list, blank=True)
    virtual_router = models.PositiveSmallIntegerField(_("virtual router (VRID)"), default=RECOMMENDED.virtual_router)
    interval = models.PositiveSmallIntegerField(_("hundredths of a second between advertisements"), default=RECOMMENDED.interval)
    failback = models.PositiveSmallIntegerField(_("seconds until the preferred gateway takes its family back"), null=True, blank=True)
    cache = models.CharField(_("connection states of the other gateway"), max_length=8, choices=Cache, default=Cache.DIRECT)
    announce = models.BooleanField(_("routes for a routing program"), default=False, db_default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(virtual_router__range=(VIRTUAL_ROUTERS[0], VIRTUAL_ROUTERS[-1])), name="failover_virtual_router"
            ),
            models.CheckConstraint(condition=Q(interval__range=(INTERVALS[0], INTERVALS[-1])), name="failover_interval"),
            models.CheckConstraint(condition=Q(failback=None) | Q(failback__range=(HEALTH[0], HEALTH[-1])), name="failover_failback"),
            models.CheckConstraint(condition=Q(cache__in=[each.value for each in StateCacheMode]), name="failover_cache"),
            models.CheckConstraint(condition=Q(inside__len__gte=1), name="failover_has_inside"),
            models.CheckConstraint(
                condition=Q(inside__len__lte=MOST_ADDRESSES, outside__len__lte=MOST_ADDRESSES, servers__len__lte=MOST_ADDRESSES),
                name="failover_few_addresses",
            ),
        ]

    def __str__(self) -> str:
        return str(self.group)

    @property
    def addresses(self) -> list[AddressInNetwork]:
        """All virtual addresses, whatever interface has them."""
        return [*self.inside, *self.outside, *self.servers]
