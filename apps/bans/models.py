"""Whom nobody in the network talks to: ban lists, their bans, and how often each was hit."""

from django.conf import settings
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.lookups import Exact
from django.utils.translation import gettext_lazy as _

from apps.bans.blocks.models import Block, Notice, Reachable
from apps.bans.listeners.models import Listener, ServerInterface
from apps.lib.fields import PrefixField
from apps.lib.history import tracked
from apps.lib.models import Deployed, Versioned
from apps.lib.triggers import stamp_transaction
from apps.network.models import Gateway

__all__ = ["Ban", "BanHits", "BanList", "Block", "Listener", "Notice", "Reachable", "ServerInterface", "Upload"]


@tracked(exclude=["changed_in", "changed_at"])
class BanList(Versioned, Deployed):
    """A named collection of bans: one's own, or what a feed brings."""

    name = models.CharField(_("name"), max_length=60, unique=True)
    description = models.CharField(_("description"), max_length=200, blank=True)
    enabled = models.BooleanField(_("on"), default=True)

    class Meta:
        ordering = ["name"]
        triggers = [stamp_transaction("enabled")]
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="banlist_has_a_name")]

    def __str__(self) -> str:
        return self.name


def _family(number: int) -> Exact:
    return Exact(Func(F("prefix"), function="family", output_field=models.IntegerField()), number)


_LENGTH = Func(F("prefix"), function="masklen", output_field=models.IntegerField())


@tracked(exclude=["changed_in", "changed_at"])
class Ban(Versioned, Deployed):
    """An address or prefix, on one list. The ends of bans are absolute: no deploy renews them."""

    list = models.ForeignKey(BanList, models.CASCADE, related_name="bans")
    prefix = PrefixField(_("address or prefix"))
    comment = models.CharField(_("comment"), max_length=200, blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created = models.DateTimeField(_("since"), auto_now_add=True)
    expires = models.DateTimeField(_("ends"), null=True, blank=True)

    class Meta:
        ordering = ["prefix", "id"]
        triggers = [stamp_transaction()]
        indexes = [models.Index(fields=["prefix"], name="ban_by_prefix"), models.Index(fields=["expires"], name="ban_by_end")]
        constraints = [
            models.UniqueConstraint(fields=["list", "prefix"], name="ban_once_per_list"),
            models.CheckConstraint(
                condition=Q(_family(4), models.lookups.GreaterThanOrEqual(_LENGTH, 8))
                | Q(_family(6), models.lookups.Range(_LENGTH, (16, 64)))
                | Q(_family(6), Exact(_LENGTH, 128)),
                name="ban_not_too_wide",
            ),
        ]

    def __str__(self) -> str:
        return str(self.prefix)

    @property
    def shown(self) -> str:
        """As people write it: a prefix with its length, a single address without."""
        return str(self.prefix).removesuffix("/32") if self.prefix.version == 4 else str(self.prefix).removesuffix("/128")


class BanHits(models.Model):
    """How often the kernel of one gateway dropped packets from or to a banned prefix, summed over counter resets."""

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="+")
    prefix = PrefixField()
    packets = models.PositiveBigIntegerField(default=0)
    octets = models.PositiveBigIntegerField(default=0)
    last_hit = models.DateTimeField(null=True)
    counter_packets = models.PositiveBigIntegerField(default=0)
    counter_octets = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["gateway", "prefix"], name="banhits_once_per_gateway")]
        indexes = [models.Index(fields=["prefix"], name="banhits_by_prefix")]


class Upload(models.Model):
    """A feed that somebody looks at before importing it, and what was asked for with it."""

    list = models.ForeignKey(BanList, models.CASCADE, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    created = models.DateTimeField(auto_now_add=True)
    name = models.CharField(max_length=200)
    content = models.BinaryField()
    keep = models.BooleanField(default=False)
    minimum_count = models.PositiveIntegerField(default=0)
    comment = models.CharField(max_length=200, blank=True)
    expires = models.DateTimeField(null=True)
