"""IPv6 pinholes: the ports of members' IPv6 addresses that the internet and other members may connect to. Without one, none."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, IntegerRangeField, RangeOperators
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Upper
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.database.triggers import build_stamp_trigger
from apps.lib.database.validity import build_validity_index
from apps.lib.fields import AddressField, PrefixField
from apps.lib.models import Deployed, Versioned
from apps.lib.port_ranges import format_port_range
from apps.network.models import GatewayGroup, Holding, Pool

ALL_PORTS = 65536  # from port 0 on: all ports; also for protocols without ports

# Protocol numbers (IANA); everything overlaps each of them.
_PROTOCOLS = "(CASE %(expressions)s WHEN 'tcp' THEN int4range(6, 7) WHEN 'udp' THEN int4range(17, 18) ELSE int4range(0, 256) END)"


@track_history(exclude=["changed_in", "changed_at"])
class Pinhole(Versioned, Deployed):
    """Opens a part of an address in a member's prefix: a span of ports, all ports of a protocol, or everything.

    kind, group, held and prefix repeat the holding's columns. A composite foreign key ties them, so that the database itself refuses an
    address outside the prefix, or a time when the member does not hold it. While a pinhole is off, no other can open the same.
    """

    class Protocol(models.TextChoices):
        TCP = "tcp", "TCP"
        UDP = "udp", "UDP"
        ALL = "all", _("everything")

    MOST_PORTS = 1000  # each port is an element on each gateway

    holding = models.ForeignKey(Holding, models.PROTECT, related_name="pinholes")
    group = models.ForeignKey(GatewayGroup, models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8, default=Pool.Kind.PREFIX6)
    held = DateTimeRangeField()
    prefix = PrefixField()
    address = AddressField(_("address"))
    protocol = models.CharField(_("protocol"), max_length=3, choices=Protocol)
    port = models.PositiveIntegerField(_("first port, 0 for all"), default=0)
    ports = models.PositiveIntegerField(_("how many ports"), default=ALL_PORTS)
    purpose = models.CharField(_("purpose"), max_length=80, blank=True)
    enabled = models.BooleanField(_("on"), default=True)
    valid = DateTimeRangeField(_("valid"))

    class Meta:
        ordering = ["address", "protocol", "port", "id"]
        verbose_name = _("IPv6 pinhole")
        triggers = [build_stamp_trigger()]
        indexes = [
            GinIndex(OpClass(Upper("purpose"), "gin_trgm_ops"), name="pinhole_purpose_search"),
            build_validity_index("pinhole_valid_by_id"),
        ]
        constraints = [
            ExclusionConstraint(
                name="pinhole_open_already",
                expressions=[
                    (OpClass("address", "inet_ops"), "="),
                    (Func("protocol", template=_PROTOCOLS, output_field=IntegerRangeField()), "&&"),
                    (Func("port", F("port") + F("ports"), function="int4range", output_field=IntegerRangeField()), "&&"),
                    ("valid", RangeOperators.OVERLAPS),
                ],
            ),
            models.CheckConstraint(condition=Q(kind="prefix6"), name="pinhole_of_ipv6_prefix"),
            models.CheckConstraint(condition=Q(address__within=F("prefix")), name="pinhole_within_prefix"),
            models.CheckConstraint(condition=Q(valid__contained_by=F("held")), name="pinhole_while_held"),
            models.CheckConstraint(condition=Q(valid__isempty=False), name="pinhole_valid_some_time"),
            models.CheckConstraint(condition=Q(protocol__in=["tcp", "udp", "all"]), name="pinhole_protocol"),
            models.CheckConstraint(
                condition=Q(port=0, ports=ALL_PORTS)
                | Q(protocol__in=["tcp", "udp"], port__gte=1, ports__range=(1, 1000), port__lte=65536 - F("ports")),
                name="pinhole_ports",
            ),
        ]

    def __str__(self) -> str:
        return str(_("%(what)s on %(where)s") % {"what": self.scope_text, "where": self.address})

    @property
    def scope_text(self) -> str:
        """Protocol and ports in words: “TCP 443”, “UDP 6000–6009”, “UDP, all ports”, “everything”."""
        name = self.get_protocol_display()
        if self.port:
            return f"{name} {self.port_span}"
        return str(_("%(protocol)s, all ports") % {"protocol": name}) if self.protocol != self.Protocol.ALL else name

    @property
    def port_span(self) -> str:
        """The ports as “443” or “6000–6009”; "" for all."""
        return format_port_range(self.port, self.ports) if self.port else ""

    @property
    def last_port(self) -> int:
        """The last of the ports; 65535 for all."""
        return self.port + self.ports - 1
