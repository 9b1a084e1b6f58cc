"""Form of a group's failover."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.gateways.failover_settings import get_failover
from apps.gateways.forms import VersionedForm
from apps.gateways.line_fields import InterfaceAddressLines
from apps.network.models import Failover, GatewayGroup
from firewall.failover.spec import HEALTH, INTERVALS, VIRTUAL_ROUTERS


class FailoverForm(VersionedForm):
    """Failover of a group: virtual addresses, and when a gateway takes over."""

    inside = InterfaceAddressLines(
        label=_("Virtual addresses inside"),
        help_text=_(
            "One in each line, each with the prefix length of its network: what members use as their router. For IPv6 also the link-local "
            "one, if your router advertisements name it."
        ),
    )
    outside = InterfaceAddressLines(
        label=_("Virtual addresses outside"),
        required=False,
        help_text=_(
            "To which your uplink sends what is for members, each with the prefix length of its network. Addresses of a public pool in "
            "that network move with them."
        ),
    )
    servers = InterfaceAddressLines(
        label=_("Virtual addresses towards the servers"),
        required=False,
        help_text=_("What the network’s own servers use as their router. Empty if they are not behind an interface of their own."),
    )
    virtual_router = forms.IntegerField(
        label=_("Virtual router (VRID)"),
        min_value=VIRTUAL_ROUTERS[0],
        max_value=VIRTUAL_ROUTERS[-1],
        help_text=_("A number that no other VRRP router on the same links has."),
    )
    interval = forms.IntegerField(
        label=_("Hundredths of a second between two advertisements"),
        min_value=INTERVALS[0],
        max_value=INTERVALS[-1],
        help_text=_("A gateway takes over after three to four of them without one: 20 makes that less than a second."),
    )
    failback = forms.IntegerField(
        label=_("Seconds until the preferred gateway takes its family back"),
        min_value=HEALTH[0],
        max_value=HEALTH[-1],
        required=False,
        help_text=_("It must have been well that long. Empty: a person switches back, at a quiet hour."),
    )
    cache = forms.ChoiceField(
        label=_("Connection states of the other gateway"),
        choices=Failover.Cache.choices,
        help_text=_("In the kernel, a new ban or a closed port also ends them. In memory, they cost a moment during the takeover."),
    )
    announce = forms.BooleanField(
        label=_("Routes for a routing program"),
        required=False,
        help_text=_("The carrier has routes to the pools, for BIRD or FRR there to announce. Off: your uplink has these routes itself."),
    )

    def __init__(self, group: GatewayGroup, data: Any = None) -> None:
        self.group = group
        super().__init__(get_failover(group), data)

    def take_up(self, conflict: str) -> None:
        """Like `VersionedForm.take_up`, for a row that may have been created meanwhile."""
        self.row, self.conflict = get_failover(self.group), conflict
        self.data = {**self.data.dict(), "version": str(self.row.version)}  # type: ignore[attr-defined]  # a QueryDict, from a request
