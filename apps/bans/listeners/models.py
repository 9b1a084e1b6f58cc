"""Listeners, and the gateways' interfaces behind which servers stand."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.database.triggers import build_stamp_trigger
from apps.lib.fields import AddressField
from apps.lib.models import Deployed, Versioned
from apps.network.models import Gateway, GatewayGroup


@track_history(exclude=["changed_in", "changed_at"])
class Listener(Versioned, Deployed):
    """A port of a server: open to members and internet, past connection tracking, both ways.

    guarded: the gateways answer SYNs in the server's stead, and track the rest; window_scale: what the server itself offers then
    (RFC 7323, 2.2).

    The database refuses a listener in a pool of members' addresses or on the public side of a forward, and a pool or forward that
    would contain a listener (migrations/bans/0001).
    """

    class Protocol(models.TextChoices):
        TCP = "tcp", "TCP"
        UDP = "udp", "UDP"

    group = models.ForeignKey(GatewayGroup, models.PROTECT, related_name="listeners")
    name = models.CharField(_("name"), max_length=60)
    address = AddressField(_("address"))
    protocol = models.CharField(_("protocol"), max_length=3, choices=Protocol)
    port = models.PositiveIntegerField(_("port"))
    guarded = models.BooleanField(_("SYN flood guard"), default=False, db_default=False)
    window_scale = models.PositiveSmallIntegerField(_("window scale"), default=7, db_default=7)
    enabled = models.BooleanField(_("on"), default=True)
    note = models.CharField(_("note"), max_length=200, blank=True)

    class Meta:
        ordering = ["name", "id"]
        triggers = [build_stamp_trigger("group", "name", "address", "protocol", "port", "guarded", "window_scale", "enabled")]
        constraints = [
            models.UniqueConstraint(fields=["address", "protocol", "port"], name="listener_once"),
            models.CheckConstraint(condition=~Q(name=""), name="listener_has_a_name"),
            models.CheckConstraint(condition=Q(protocol__in=["tcp", "udp"]), name="listener_protocol"),
            models.CheckConstraint(condition=Q(port__range=(1, 65535)), name="listener_port"),
            models.CheckConstraint(condition=Q(guarded=False) | Q(protocol="tcp"), name="listener_guard_is_for_tcp"),
            models.CheckConstraint(condition=Q(window_scale__lte=14), name="listener_window_scale"),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.get_protocol_display()} {self.port} on {self.address}"


@track_history()
class ServerInterface(models.Model):
    """The interface of a gateway behind which the network's servers stand, if that is not the members' own."""

    gateway = models.OneToOneField(Gateway, models.CASCADE, related_name="server_interface")
    name = models.CharField(_("interface for servers"), max_length=15)

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="serverinterface_has_a_name")]

    def __str__(self) -> str:
        return self.name
