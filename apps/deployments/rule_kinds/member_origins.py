"""Origins that lead to a member: the holder of an address, and the openings in it. Gateways' probes have addresses without a member."""

from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.deployments.rule_kinds.kind import ElementOrigin
from apps.lib.fields import Address
from apps.members.models import Member
from apps.nat.models import Pinhole, PortForward
from apps.network.models import Gateway
from apps.network.selectors import list_holdings_at


def list_address_holders(address: Address, at: datetime) -> list[ElementOrigin]:
    """Return the member who held the address at that time, or the gateway whose probe has it."""
    return [_build_member(holding.member, str(holding.address)) for holding in list_holdings_at(address, at)] or list_probe_origins(address)


def _build_member(member: Member, note: str) -> ElementOrigin:
    return ElementOrigin("member", str(member), note, reverse("desk:member", args=[member.pk]), anonymous=_("a member"))


def list_probe_origins(address: Address) -> list[ElementOrigin]:
    """Return the gateways whose probe has this address."""
    of = {"probe_source4": address} if address.version == 4 else {"probe_source6": address}
    return [_build_probe(each) for each in Gateway.objects.filter(**of)]


def _build_probe(gateway: Gateway) -> ElementOrigin:
    return ElementOrigin("probe", _("probe of %(gateway)s") % {"gateway": gateway}, "", reverse("gateways:gateway", args=[gateway.pk]))


def build_open_port_origin(kind: str, name: str, opening: PortForward | Pinhole) -> ElementOrigin:
    """Return the origin of a port forward or pinhole; its name gives no hint at the member."""
    member = opening.holding.member
    note = " · ".join(filter(None, [str(member), opening.purpose]))
    return ElementOrigin(kind, name, note, f"{reverse('desk:member', args=[member.pk])}#{kind}s", anonymous=name)
