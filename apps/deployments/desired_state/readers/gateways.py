"""Gateways: few, and read each time."""

from dataclasses import fields
from ipaddress import ip_network

from apps.deployments.desired_state.readers.blocks import notice
from apps.deployments.desired_state.readers.rates import switched_off
from apps.network.models import Gateway as Row
from apps.network.models import GatewayGroup, Pool
from apps.network.models import Limits as LimitsRow
from apps.network.models import Profile as ProfileRow
from apps.network.models import Protection as ProtectionRow
from firewall.policy import Gateway, Interfaces, Limits, Management, NatMapping, Peer, Probe, Profile, Protection, Routing, Settings


def gateway(row: Row, settings: Settings) -> Gateway:
    """The gateway of this row."""
    return Gateway(
        row.name,
        Interfaces(row.lan, row.wan, row.management, row.sync, _server(row)),
        Management(tuple(map(ip_network, map(str, row.management_networks))), row.management_port),
        _probe(row),
        settings,
    )


def _server(row: Row) -> str:
    return row.server_interface.name if hasattr(row, "server_interface") else ""


def _probe(row: Row) -> Probe | None:
    return Probe(row.probe_interface, row.probe_source4, row.probe_public4, row.probe_source6) if row.probe_interface else None


def probe_mapping(row: Row) -> NatMapping | None:
    """How the gateway's probe leaves."""
    return NatMapping(row.probe_source4, row.probe_public4) if row.probe_source4 else None


def settings(group: GatewayGroup) -> Settings:
    """What all gateways of the group do alike."""
    now = GatewayGroup.objects.get(pk=group.pk)
    publics = Pool.objects.filter(group=group, kind=Pool.Kind.PUBLIC4).order_by("prefix").values_list("prefix", flat=True)
    of_group = (_protection(group), _limits(group), notice(group), _profile(group), switched_off(group))
    return Settings(now.clamp_mss, now.flood_mode, tuple(publics), *of_group)


def _protection(group: GatewayGroup) -> Protection:
    row = ProtectionRow.objects.filter(group=group).first()
    if row is None:
        return Protection()
    peers = ((Routing.BGP, row.bgp_peers), (Routing.OSPF, row.ospf_peers))
    return Protection(
        row.bogons,
        tuple(row.own),
        tuple(Peer(address, routing) for routing, listed in peers for address in listed),
        tuple(row.ftp_ports),
        tuple(row.sip_ports),
    )


def _profile(group: GatewayGroup) -> Profile | None:
    row = ProfileRow.objects.filter(group=group, managed=True).first()
    return Profile(**{each.name: getattr(row, each.name) for each in fields(Profile)}) if row else None


def _limits(group: GatewayGroup) -> Limits:
    row = LimitsRow.objects.filter(group=group).first()
    if row is None:
        return Limits()
    given = {each.name: getattr(row, each.name) for each in fields(Limits)}
    return Limits(**given | {"exempt": tuple(row.exempt)})
