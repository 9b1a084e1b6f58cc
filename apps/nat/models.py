"""NAT mappings (how members leave the network) and port forwards (how the internet reaches them)."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, IntegerRangeField, RangeOperators
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Upper
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.database.triggers import build_stamp_trigger
from apps.lib.database.validity import build_validity_index
from apps.lib.fields import AddressField, PrefixField
from apps.lib.models import Deployed, Versioned
from apps.lib.port_ranges import format_port_range
from apps.nat.moving.models import Move
from apps.nat.pinholes.models import Pinhole
from apps.nat.rules.models import PortRules
from apps.network.models import GatewayGroup, Holding, Pool


class PublicAddressUseBase(Versioned, Deployed):
    """Base of what a private IPv4 holding has on a public address, for a part of the time it is held.

    kind, group and held repeat the holding's columns, pool_kind and pool_prefix the public pool's. Composite foreign keys tie them, so
    that the database itself refuses rows outside the holding, its time, or the pool.
    """

    holding = models.ForeignKey(Holding, models.PROTECT, related_name="%(class)ss")
    group = models.ForeignKey(GatewayGroup, models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8, default=Pool.Kind.PRIVATE4)
    held = DateTimeRangeField()
    pool = models.ForeignKey(Pool, models.PROTECT, related_name="%(class)ss")
    pool_kind = models.CharField(max_length=8, default=Pool.Kind.PUBLIC4)
    pool_prefix = PrefixField()
    public = AddressField(_("public address"))
    valid = DateTimeRangeField(_("valid"))

    class Meta:
        abstract = True
        triggers = [build_stamp_trigger()]
        constraints = [
            models.CheckConstraint(condition=Q(kind="private4"), name="%(class)s_from_private_ipv4"),
            models.CheckConstraint(condition=Q(pool_kind="public4"), name="%(class)s_on_public_ipv4"),
            models.CheckConstraint(condition=Q(public__within=F("pool_prefix")), name="%(class)s_within_pool"),
            models.CheckConstraint(condition=Q(valid__contained_by=F("held")), name="%(class)s_while_held"),
            models.CheckConstraint(condition=Q(valid__isempty=False), name="%(class)s_valid_some_time"),
        ]


__all__ = ["Move", "NatMapping", "Pinhole", "PortForward", "PortRules", "PublicAddressUseBase"]


def format_address_with_ports(public: str, ports: str) -> str:
    """Return “198.51.100.7, ports 32768–33791”; without ports, the address alone."""
    return gettext("%(public)s, ports %(ports)s") % {"public": public, "ports": ports} if ports else public


@track_history(exclude=["changed_in", "changed_at"])
class NatMapping(PublicAddressUseBase):
    """The public address as which a holding leaves: alone, with others, or with a block of its ports."""

    sharing = models.CharField(
        _("how members use it"), max_length=8, choices=Pool.Sharing, default=Pool.Sharing.SHARED, db_default="shared"
    )
    block = IntegerRangeField(_("ports"), null=True, blank=True)

    class Meta(PublicAddressUseBase.Meta):
        ordering = ["holding", "id"]
        indexes = [models.Index(fields=["public", "id"], name="natmapping_by_public"), build_validity_index("natmapping_valid_by_id")]
        constraints = [
            *PublicAddressUseBase.Meta.constraints,
            ExclusionConstraint(name="natmapping_one_at_a_time", expressions=[("holding", "="), ("valid", RangeOperators.OVERLAPS)]),
            models.CheckConstraint(condition=Q(sharing__in=["own", "shared", "blocks"]), name="natmapping_sharing"),
            models.CheckConstraint(
                condition=Q(
                    sharing="blocks", block__isnull=False, block__startswith__gte=1, block__endswith__lte=65536, block__isempty=False
                )
                | ~Q(sharing="blocks") & Q(block=None),
                name="natmapping_block",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.holding} → {self.public}{f':{self.ports}' if self.ports else ''}"

    @property
    def ports(self) -> str:
        """The block as “32768–33791”; "" without a block."""
        return f"{self.block.lower}–{self.block.upper - 1}" if self.block else ""

    @property
    def public_with_ports(self) -> str:
        """The public address with its block: “198.51.100.7, ports 32768–33791”."""
        return format_address_with_ports(str(self.public), self.ports)


@track_history(exclude=["changed_in", "changed_at"])
class PortForward(PublicAddressUseBase):
    """Ports of a public address that lead to a holding: `ports` of them, from public_port and private_port on. While the forward is off,
    its ports stay reserved.
    """

    MOST_PORTS = 1000  # each port is an element on each gateway

    class Protocol(models.TextChoices):
        TCP = "tcp", "TCP"
        UDP = "udp", "UDP"

    protocol = models.CharField(_("protocol"), max_length=3, choices=Protocol)
    public_port = models.PositiveIntegerField(_("public port"))
    private_port = models.PositiveIntegerField(_("device port"))
    ports = models.PositiveSmallIntegerField(_("how many ports"), default=1, db_default=1)
    purpose = models.CharField(_("purpose"), max_length=80, blank=True)
    enabled = models.BooleanField(_("on"), default=True)

    class Meta(PublicAddressUseBase.Meta):
        ordering = ["protocol", "public_port", "id"]
        indexes = [
            models.Index(fields=["public_port", "protocol"], name="portforward_by_port"),
            models.Index(fields=["public", "protocol", "public_port", "id"], name="portforward_in_order"),
            GinIndex(OpClass(Upper("purpose"), "gin_trgm_ops"), name="portforward_purpose_search"),
            build_validity_index("portforward_valid_by_id"),
        ]
        constraints = [
            *PublicAddressUseBase.Meta.constraints,
            ExclusionConstraint(
                name="portforward_port_taken",
                expressions=[
                    (OpClass("public", "inet_ops"), "="),
                    ("protocol", "="),
                    (Func("public_port", F("public_port") + F("ports"), function="int4range", output_field=IntegerRangeField()), "&&"),
                    ("valid", RangeOperators.OVERLAPS),
                ],
            ),
            models.CheckConstraint(condition=Q(protocol__in=["tcp", "udp"]), name="portforward_protocol"),
            models.CheckConstraint(condition=Q(public_port__range=(1, 65535)), name="portforward_public_port"),
            models.CheckConstraint(condition=Q(private_port__range=(1, 65535)), name="portforward_private_port"),
            models.CheckConstraint(condition=Q(ports__range=(1, 1000)), name="portforward_ports"),
            models.CheckConstraint(
                condition=Q(public_port__lte=65536 - F("ports"), private_port__lte=65536 - F("ports")),
                name="portforward_range_of_ports",
            ),
        ]

    def __str__(self) -> str:
        return str(_("%(what)s on %(where)s") % {"what": f"{self.get_protocol_display()} {self.public_ports}", "where": self.public})

    @property
    def public_ports(self) -> str:
        """The public ports as “8443” or “6000–6009”."""
        return format_port_range(self.public_port, self.ports)

    @property
    def private_ports(self) -> str:
        """The private ports that they lead to."""
        return format_port_range(self.private_port, self.ports)

    @property
    def last_port(self) -> int:
        """The last of the public ports."""
        return self.public_port + self.ports - 1


class PortClaim(models.Model):
    """A claim: ports of a public address that only one member may have for some time. Triggers write the rows (migrations/nat/0001).

    A mapping claims its block, or all ports of an own address; a forward claims its ports. Either mapping_id or forward_id is set. The
    protocols are a range of IANA protocol numbers.
    """

    mapping_id = models.BigIntegerField(null=True, unique=True)
    forward_id = models.BigIntegerField(null=True, unique=True)
    member_id = models.BigIntegerField()
    public = AddressField()
    ports = IntegerRangeField()
    protocols = IntegerRangeField()
    valid = DateTimeRangeField()

    class Meta:
        constraints = [
            ExclusionConstraint(
                name="portclaim_of_one_member",
                expressions=[
                    (OpClass("public", "inet_ops"), "="),
                    ("ports", RangeOperators.OVERLAPS),
                    ("protocols", RangeOperators.OVERLAPS),
                    ("valid", RangeOperators.OVERLAPS),
                    ("member_id", RangeOperators.NOT_EQUAL),
                ],
            ),
        ]

    def __str__(self) -> str:
        return f"{self.public}:{self.ports}"
