"""Plan of a group before it goes live: whom it serves, who can reach the gateways' ssh, and what is still open. Reads rows only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.deployments.observed_state.gateway_states import has_ever_answered
from apps.deployments.rollouts.progress import render_primary_families
from apps.lib.database.validity import is_valid_now
from apps.lib.fields import Prefix
from apps.members.models import Member
from apps.network.models import Gateway, GatewayGroup, Holding


@dataclass(frozen=True, slots=True)
class GatewayAccess:
    """Who can reach a gateway's ssh, and at which interface and port; and the families that it carries, as text."""

    gateway: Gateway
    carries: str
    interface: str
    port: int
    networks: Sequence[Prefix]


@dataclass(frozen=True, slots=True)
class GoLivePlan:
    """members: active ones with an address. addresses: theirs, private and IPv6. open_points: what a person should know before."""

    members: int
    addresses: int
    access: Sequence[GatewayAccess]
    open_points: Sequence[str]


def build_go_live_plan(group: GatewayGroup) -> GoLivePlan:
    """Build the plan of what the group's gateways would serve now."""
    held = Holding.objects.filter(is_valid_now(), group=group, member__state=Member.State.ACTIVE)
    gateways = list(group.gateways.select_related("status").order_by("name"))
    access = [_build_access(each) for each in gateways]
    members = held.values("member").distinct().count()
    return GoLivePlan(members, held.count(), access, list(_iter_open_points(group, gateways, members)))


def _build_access(gateway: Gateway) -> GatewayAccess:
    carries = render_primary_families(gateway.carries4, gateway.carries6)
    return GatewayAccess(gateway, carries, gateway.management, gateway.management_port, gateway.management_networks)


def _iter_open_points(group: GatewayGroup, gateways: Sequence[Gateway], members: int) -> Iterator[str]:
    if not gateways:
        yield _("There is no gateway yet.")
    if silent := [each.name for each in gateways if not has_ever_answered(each)]:
        yield _("No answer yet from %(names)s.") % {"names": ", ".join(silent)}
    if gateways and not any(each.carries4 or each.carries6 for each in gateways):
        yield _("No gateway is primary for IPv4 or IPv6.")
    if not members:
        yield _("No active member has an address, so nobody reaches the internet.")
    if group.probe_port is None:
        yield _("Without a probe target, a rollout is confirmed although no packet was seen to pass.")
