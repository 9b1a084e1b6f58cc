"""Blocks of members, and what each gateway group's blocked members see and reach."""

from django.conf import settings
from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import Q
from django.db.models.lookups import Exact
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.database.triggers import build_stamp_trigger
from apps.lib.database.validity import build_validity_index
from apps.lib.fields import AddressField
from apps.lib.models import Deployed, Versioned
from apps.members.models import Member
from apps.network.models import GatewayGroup, make_family_expression

LONGEST_MESSAGE = 500


@track_history(exclude=["changed_in", "changed_at"])
class Block(Versioned, Deployed):
    """A member is cut off with all holdings, for a range of time; one block at a time. It ends in the kernel by itself."""

    class Reason(models.TextChoices):
        ABUSE = "abuse", _("complaint about abuse")
        INFECTED = "infected", _("infected device")
        UNPAID = "unpaid", _("fees not paid")
        RULES = "rules", _("against the rules of use")
        OTHER = "other", _("other reason")

    member = models.ForeignKey(Member, models.PROTECT, related_name="blocks")
    reason = models.CharField(_("reason"), max_length=8, choices=Reason)
    message = models.CharField(_("message to the member"), max_length=LONGEST_MESSAGE, blank=True)
    note = models.TextField(_("internal note"), blank=True)
    valid = DateTimeRangeField(_("valid"))
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    lifted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-id"]
        triggers = [build_stamp_trigger("member", "valid")]
        indexes = [build_validity_index("block_valid_by_id")]
        constraints = [
            ExclusionConstraint(name="block_one_at_a_time", expressions=[("member", "="), ("valid", RangeOperators.OVERLAPS)]),
            models.CheckConstraint(condition=Q(valid__isempty=False), name="block_valid_some_time"),
            models.CheckConstraint(condition=Q(reason__in=["abuse", "infected", "unpaid", "rules", "other"]), name="block_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.member}: {self.get_reason_display()}"


@track_history()
class Notice(Versioned):
    """The notice for blocked members of a group: the address of the page that answers their HTTP requests, and the contact."""

    group = models.OneToOneField(GatewayGroup, models.CASCADE, related_name="notice")
    ipv4 = AddressField(_("IPv4 address of the notice page"), null=True, blank=True)
    ipv6 = AddressField(_("IPv6 address of the notice page"), null=True, blank=True)
    port = models.PositiveIntegerField(_("TCP port of the notice page"), default=80)
    contact = models.CharField(_("contact"), max_length=200, blank=True)

    class Meta:
        ordering = ["group"]
        constraints = [
            models.CheckConstraint(condition=Q(Exact(make_family_expression("ipv4"), 4)), name="notice_ipv4_is_ipv4"),
            models.CheckConstraint(condition=Q(Exact(make_family_expression("ipv6"), 6)), name="notice_ipv6_is_ipv6"),
            models.CheckConstraint(condition=Q(port__range=(1, 65535)), name="notice_port"),
        ]

    def __str__(self) -> str:
        return str(self.group)


@track_history()
class Reachable(models.Model):
    """A port that blocked members still reach, for instance the portal's or a name server's."""

    class Protocol(models.TextChoices):
        TCP = "tcp", "TCP"
        UDP = "udp", "UDP"

    notice = models.ForeignKey(Notice, models.CASCADE, related_name="reachable")
    name = models.CharField(_("name"), max_length=60)
    address = AddressField(_("address"))
    protocol = models.CharField(_("protocol"), max_length=3, choices=Protocol)
    port = models.PositiveIntegerField(_("port"))

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["notice", "address", "protocol", "port"], name="reachable_once"),
            models.CheckConstraint(condition=Q(protocol__in=["tcp", "udp"]), name="reachable_protocol"),
            models.CheckConstraint(condition=Q(port__range=(1, 65535)), name="reachable_port"),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.get_protocol_display()} {self.port} on {self.address}"
