"""Sources for packet traces: per gateway the desired ruleset, the confirmed one, and its routes.

A process's first query for a group reads and compiles everything; later ones cost what has changed since.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from ipaddress import ip_network

from apps.bans.models import Listener, Notice
from apps.deployments import services
from apps.deployments.desired_state.desired_rulesets import DesiredState, compute_desired_state
from apps.deployments.models import GatewayState, Revision
from apps.lib.fields import Address
from apps.network.models import Gateway, GatewayGroup, Pool
from firewall.ruleset import Ruleset
from firewall.tracing import GatewayRoute, RoutingTable


@dataclass(frozen=True, slots=True)
class TraceableGateway:
    """One gateway. runs: what it has confirmed as `revision`, None if unknown. at: when the database was read."""

    gateway: Gateway
    wanted: Ruleset
    runs: Ruleset | None
    revision: Revision | None
    routes: RoutingTable
    at: datetime

    def drop_elements(self) -> "TraceableGateway":
        """Return the same without the elements of its rulesets."""
        runs = replace(self.runs, elements={}) if self.runs else None
        return replace(self, wanted=replace(self.wanted, elements={}), runs=runs)


def build_traceable_gateways(group: GatewayGroup, at: datetime | None = None) -> list[TraceableGateway]:
    """Return the group's gateways by name. at: as if it were then. Raises PolicyError when the policy must not be deployed."""
    wanted = compute_desired_state(group, at) if at else services.desired_state_cache.get_current(group)
    states = GatewayState.objects.filter(gateway__group=group).select_related("revision")
    revisions = {state.gateway_id: state.revision for state in states}
    pools = list(group.pools.all())
    return [
        TraceableGateway(
            gateway,
            wanted.rulesets[gateway.pk],
            _find_running_ruleset(gateway, wanted, revisions.get(gateway.pk)),
            revisions.get(gateway.pk),
            build_routes(gateway, pools),
            wanted.snapshot.at,
        )
        for gateway in group.gateways.select_related("server_interface").order_by("name")
        if gateway.pk in wanted.rulesets
    ]


def _find_running_ruleset(gateway: Gateway, wanted: DesiredState, revision: Revision | None) -> Ruleset | None:
    """Return the ruleset that the gateway has confirmed. Nothing is read if that is the desired one."""
    if revision is None:
        return None
    if revision.gateways.get(gateway.name) == gateway.pk and revision.digests[gateway.name] == wanted.targets[gateway.pk]:
        return wanted.rulesets[gateway.pk]
    before = services.gateway_cache.load_running_state(gateway.group)
    return before.rulesets.get(gateway.pk) if before else None


def build_routes(gateway: Gateway, pools: list[Pool]) -> RoutingTable:
    """Build the gateway's routes, as in docs/gateway-setup.md: members inside, public addresses nowhere, everything else to the uplink.

    Of the gateway's own addresses, the portal knows only the management address.
    """
    own = ((gateway.management, gateway.address),) if gateway.address else ()
    return RoutingTable(tuple(_iter_routes(gateway, pools)), own)


def _list_server_hosts(group: int) -> set[Address]:
    """Return the known hosts behind the server interface: listeners and the notice page."""
    pages = Notice.objects.filter(group=group).values_list("ipv4", "ipv6")
    return {*Listener.objects.filter(group=group).values_list("address", flat=True), *(each for pair in pages for each in pair if each)}


def _iter_routes(gateway: Gateway, pools: list[Pool]) -> Iterator[GatewayRoute]:
    for pool in pools:
        yield GatewayRoute(pool.prefix, "" if pool.kind == Pool.Kind.PUBLIC4 else gateway.lan)
    for network in gateway.management_networks:
        yield GatewayRoute(network, gateway.management)
    if hasattr(gateway, "server_interface"):
        for host in _list_server_hosts(gateway.group_id):
            yield GatewayRoute(ip_network(host), gateway.server_interface.name)
    for source in (gateway.probe_source4, gateway.probe_source6):
        if source and gateway.probe_interface:
            yield GatewayRoute(ip_network(source), gateway.probe_interface)
    if gateway.probe_public4:
        yield GatewayRoute(ip_network(gateway.probe_public4), "")
    for everything in ("0.0.0.0/0", "::/0"):
        yield GatewayRoute(ip_network(everything), gateway.wan)
