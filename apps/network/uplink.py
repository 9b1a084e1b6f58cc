"""Uplink of a gateway group: its rates, whether rates are limited on it, and the rates of its fair queues."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.database.triggers import build_stamp_trigger
from apps.lib.models import Deployed, Versioned
from firewall.policy import Framing
from firewall.shaper import RATES

_QUEUE_RANGE = (RATES[0], RATES[-1])
_UP_FITS = Q(queue_up_kbit=None) | Q(up_kbit=None) | Q(queue_up_kbit__lte=F("up_kbit"))
_DOWN_FITS = Q(queue_down_kbit=None) | Q(down_kbit=None) | Q(queue_down_kbit__lte=F("down_kbit"))


class LineFraming(models.TextChoices):
    """What the line adds to each packet (firewall.policy.Framing)."""

    RAW = Framing.RAW.value, _("Not known: as many octets as the gateway counts")
    ETHERNET = Framing.ETHERNET.value, _("Ethernet or fibre")
    DOCSIS = Framing.DOCSIS.value, _("Cable (DOCSIS)")
    PTM = Framing.PTM.value, _("VDSL")
    PPPOE_PTM = Framing.PPPOE_PTM.value, _("VDSL with PPPoE")
    PPPOE_ATM = Framing.PPPOE_ATM.value, _("ADSL with PPPoE")


@track_history(exclude=["changed_in", "changed_at"])
class Uplink(Versioned, Deployed):
    """A group's uplink. up_kbit, down_kbit: its rate in kbit/s; None: unknown. Without a row, rates are limited as configured.

    limits_rates: if False, no gateway of the group limits any rate, whatever tariffs and rate limits say. queue_up_kbit,
    queue_down_kbit: the rate that the gateways' fair queues keep to, in kbit/s; None: no fair queue in this direction.
    """

    group = models.OneToOneField("network.GatewayGroup", models.CASCADE, related_name="uplink")
    up_kbit = models.PositiveIntegerField(_("upload capacity"), null=True, blank=True)
    down_kbit = models.PositiveIntegerField(_("download capacity"), null=True, blank=True)
    limits_rates = models.BooleanField(_("limit rates"), default=True)
    queue_up_kbit = models.PositiveIntegerField(_("rate of the fair queue for uploads"), null=True, blank=True)
    queue_down_kbit = models.PositiveIntegerField(_("rate of the fair queue for downloads"), null=True, blank=True)
    framing = models.CharField(
        _("framing of the line"), max_length=12, choices=LineFraming, default=LineFraming.RAW, db_default=LineFraming.RAW
    )

    class Meta:
        triggers = [build_stamp_trigger()]
        constraints = [
            models.CheckConstraint(condition=Q(up_kbit=None) | Q(up_kbit__gte=64), name="uplink_up_kbit"),
            models.CheckConstraint(condition=Q(down_kbit=None) | Q(down_kbit__gte=64), name="uplink_down_kbit"),
            models.CheckConstraint(condition=Q(queue_up_kbit=None) | Q(queue_up_kbit__range=_QUEUE_RANGE), name="uplink_queue_up_kbit"),
            models.CheckConstraint(
                condition=Q(queue_down_kbit=None) | Q(queue_down_kbit__range=_QUEUE_RANGE), name="uplink_queue_down_kbit"
            ),
            models.CheckConstraint(condition=_UP_FITS, name="uplink_queue_up_fits"),
            models.CheckConstraint(condition=_DOWN_FITS, name="uplink_queue_down_fits"),
            models.CheckConstraint(condition=Q(framing__in=LineFraming.values), name="uplink_framing"),
        ]

    def __str__(self) -> str:
        return str(self.group)
