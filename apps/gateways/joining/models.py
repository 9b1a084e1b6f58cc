"""A machine on its way to become a gateway. No rollout, reading or compiler sees it: only the last step makes a Gateway of it."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.lib.fields import AddressField
from apps.lib.models import Versioned
from apps.network.models import HOST_KEY, Gateway, GatewayGroup
from firewall.codec import decode
from firewall.machine import MachineFacts

ACCOUNT = "netzwart"  # as the agent's package creates it


class JoiningMachine(Versioned):
    """What a person has entered and accepted, and what the last examination found.

    address, port: of its sshd. host_key: the one that a person has accepted, "" until then; seen_key: the one that sshd showed last.
    portal_key, portal_address: the public half of the key and the source address with which workers reach the machine. facts:
    firewall.machine.MachineFacts as JSON; clock_offset: milliseconds by which its clock is ahead of the portal's, within clock_doubt.
    """

    class Progress(models.TextChoices):
        NEW = "new", _("not looked at yet")
        UNREACHED = "unreached", _("not reached")
        REACHED = "reached", _("host key waits to be compared")
        CHANGED = "changed", _("another host key")
        REFUSED = "refused", _("key not accepted")
        SILENT = "silent", _("agent does not answer")
        FOREIGN = "foreign", _("agent does not fit")
        READY = "ready", _("ready")

    name = models.CharField(_("name"), max_length=40, unique=True)
    group = models.ForeignKey(GatewayGroup, models.PROTECT, related_name="joining_machines")
    address = AddressField(_("management address"))
    port = models.PositiveIntegerField(_("management port"), default=22)
    host_key = models.TextField(_("ssh host key"), blank=True, default="")
    begun = models.DateTimeField(_("begun"), db_default=Now())
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    requested = models.DateTimeField(null=True)  # when the last examination was requested, which is done once `examined` is later
    examined = models.DateTimeField(null=True)
    progress = models.CharField(max_length=9, choices=Progress, default=Progress.NEW)
    problem = models.TextField(blank=True, default="")
    connect_ms = models.FloatField(null=True)
    seen_key = models.TextField(blank=True, default="")
    portal_key = models.TextField(blank=True, default="")
    portal_address = AddressField(null=True)
    facts = models.JSONField(null=True)
    clock_offset = models.BigIntegerField(null=True)
    clock_doubt = models.PositiveBigIntegerField(null=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(name__regex=r"^[a-z][a-z0-9-]{0,39}$"), name="joiningmachine_name"),
            models.CheckConstraint(condition=Q(port__range=(1, 65535)), name="joiningmachine_port"),
            models.CheckConstraint(condition=Q(host_key="") | Q(host_key__regex=HOST_KEY), name="joiningmachine_host_key"),
            models.CheckConstraint(condition=Q(seen_key="") | Q(seen_key__regex=HOST_KEY), name="joiningmachine_seen_key"),
            models.CheckConstraint(condition=~Q(progress="ready") | ~Q(host_key="") & Q(facts__isnull=False), name="joiningmachine_ready"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_ready(self) -> bool:
        """True if the interfaces can be chosen."""
        return self.progress == self.Progress.READY

    @property
    def waits_since(self) -> datetime | None:
        """Since when an examination is requested and not done; None if none waits."""
        return self.requested if self.requested and (self.examined is None or self.examined < self.requested) else None

    def build_gateway(self) -> Gateway:
        """Return the gateway that the transport connects to. It is not saved, and has no interfaces."""
        where = {"address": self.address, "management_port": self.port, "ssh_user": ACCOUNT, "host_key": self.host_key}
        return Gateway(name=self.name, group=self.group, link=Gateway.Link.SSH, **where)

    def parse_facts(self) -> MachineFacts | None:
        """Return what the machine reported last; None before its first report."""
        return decode(MachineFacts, self.facts) if self.facts else None
