"""What packets can be traced through: the ruleset a gateway should run, the one it has confirmed, and where it routes.

The first question of a process about a group reads and compiles all of it; later ones cost what has changed since.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_network

from apps.bans.models import Listener, Notice
from apps.deployments import services
from apps.deployments.desired_state.desired_rulesets import Wanted, want
from apps.deployments.models import GatewayState, Revision
from apps.lib.fields import Address
from apps.network.models import Gateway, GatewayGroup, Pool
from firewall.ruleset import Ruleset
from firewall.tracing import Route, Routes


@dataclass(frozen=True, slots=True)
class Traceable:
    """One gateway. runs: what it has confirmed as `revision`, None if that is not known. at: when the database was read."""

    gateway: Gateway
    wanted: Ruleset
    runs: Ruleset | None
    revision: Revision | None
    routes: Routes
    at: datetime


def traceables(group: GatewayGroup, at: datetime | None = None) -> list[Traceable]:
    """The group's gateways by name. at: as if it were then. Raises PolicyError when what is wanted must not be deployed."""
    wanted = want(group, at) if at else services.watch.current(group)
    states = GatewayState.objects.filter(gateway__group=group).select_related("revision")
    revisions = {state.gateway_id: state.revision for state in states}
    pools = list(group.pools.all())
    return [
        Traceable(
            gateway,
            wanted.rulesets[gateway.pk],
            _runs(gateway, wanted, revisions.get(gateway.pk)),
            revisions.get(gateway.pk),
            routes(gateway, pools),
            wanted.snapshot.at,
        )
        for gateway in group.gateways.select_related("server_interface").order_by("name")
        if gateway.pk in wanted.rulesets
    ]


def _runs(gateway: Gateway, wanted: Wanted, revision: Revision | None) -> Ruleset | None:
    """What the gateway has confirmed. Where that is what is wanted, nothing is read."""
    if revision is None:
        return None
    if revision.digests.get(gateway.name) == wanted.targets[gateway.pk]:
        return wanted.rulesets[gateway.pk]
    before = services.memory.before(gateway.group)
    return before.rulesets.get(gateway.pk) if before else None


def routes(gateway: Gateway, pools: list[Pool]) -> Routes:
    """Where the gateway sends packets, as docs/gateway-setup.md has it: members inside, public addresses nowhere, the rest out.

    Of its own addresses the portal knows that of management alone.
    """
    own = ((gateway.management, gateway.address),) if gateway.address else ()
    return Routes(tuple(_routes(gateway, pools)), own)


def _servers(group: int) -> set[Address]:
    """Hosts behind the interface for servers, as far as the portal knows them: listeners and the notice page."""
    pages = Notice.objects.filter(group=group).values_list("ipv4", "ipv6")
    return {*Listener.objects.filter(group=group).values_list("address", flat=True), *(each for pair in pages for each in pair if each)}


def _routes(gateway: Gateway, pools: list[Pool]) -> Iterator[Route]:
    for pool in pools:
        yield Route(pool.prefix, "" if pool.kind == Pool.Kind.PUBLIC4 else gateway.lan)
    for network in gateway.management_networks:
        yield Route(network, gateway.management)
    if hasattr(gateway, "server_interface"):
        for host in _servers(gateway.group_id):
            yield Route(ip_network(host), gateway.server_interface.name)
    for source in (gateway.probe_source4, gateway.probe_source6):
        if source and gateway.probe_interface:
            yield Route(ip_network(source), gateway.probe_interface)
    if gateway.probe_public4:
        yield Route(ip_network(gateway.probe_public4), "")
    for everything in ("0.0.0.0/0", "::/0"):
        yield Route(ip_network(everything), gateway.wan)
