"""Gateways: few, and read each time."""

from ipaddress import ip_network

from apps.network.models import Gateway as Row
from apps.network.models import GatewayGroup, Pool
from firewall.policy import Gateway, Interfaces, Management, NatMapping, Probe, Settings


def gateway(row: Row, settings: Settings) -> Gateway:
    """The gateway of this row."""
    return Gateway(
        row.name,
        Interfaces(row.lan, row.wan, row.management, row.sync),
        Management(tuple(map(ip_network, map(str, row.management_networks))), row.management_port),
        _probe(row),
        settings,
    )


def _probe(row: Row) -> Probe | None:
    return Probe(row.probe_interface, row.probe_source4, row.probe_public4, row.probe_source6) if row.probe_interface else None


def probe_mapping(row: Row) -> NatMapping | None:
    """How the gateway's probe leaves."""
    return NatMapping(row.probe_source4, row.probe_public4) if row.probe_source4 else None


def settings(group: GatewayGroup) -> Settings:
    """What all gateways of the group do alike."""
    publics = Pool.objects.filter(group=group, kind=Pool.Kind.PUBLIC4).order_by("prefix").values_list("prefix", flat=True)
    return Settings(clamp_mss=group.clamp_mss, flood_mode=group.flood_mode, publics=tuple(publics))
