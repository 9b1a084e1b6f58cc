"""Reads gateways and the settings of their group. They are few, so they are read each time: by queries that are compiled once, because
Django takes longer to write these than PostgreSQL to answer them.
"""

from dataclasses import fields
from ipaddress import ip_network
from typing import Any, Final

from django.db.models import QuerySet

from apps.bans.models import Notice as NoticeRow
from apps.lib.database.compiled_query import compile_once
from apps.network.models import Gateway as Row
from apps.network.models import GatewayGroup, Pool, Uplink
from apps.network.models import Limits as LimitsRow
from apps.network.models import Profile as ProfileRow
from apps.network.models import Protection as ProtectionRow
from firewall.policy import (
    ConnectionLimits,
    Framing,
    GatewayGroupSettings,
    GatewaySpec,
    Interfaces,
    Management,
    NatMappingSpec,
    NoticeSpec,
    ProbeSpec,
    Profile,
    ProtectionSpec,
    ReachableService,
    ResponderSpec,
    RoutingPeer,
    RoutingProtocol,
    Shaping,
    TransportProtocol,
)

_TABLES: Final = ("protection", "limits", "notice", "profile", "uplink")  # of settings, a row for each group at most


@compile_once
def read_gateways(group: int) -> QuerySet[Row]:
    """Read the gateways of the group that are in service, by name."""
    return Row.objects.filter(group_id=group).select_related("server_interface").order_by("name")


@compile_once
def _read_tables(group: int) -> QuerySet[GatewayGroup]:
    """Read the tables of settings joined in one query, which is much quicker than one for each."""
    return GatewayGroup.objects.select_related(*_TABLES).filter(pk=group)


@compile_once
def _read_public_prefixes(group: int) -> QuerySet[Pool, Any]:
    return Pool.objects.filter(group_id=group, kind=Pool.Kind.PUBLIC4).order_by("prefix").values_list("prefix", flat=True)


def build_gateway(row: Row, settings: GatewayGroupSettings) -> GatewaySpec:
    """Build the policy's gateway from a row."""
    return GatewaySpec(
        row.name,
        Interfaces(row.lan, row.wan, row.management, row.sync, _get_server_interface(row)),
        Management(tuple(map(ip_network, map(str, row.management_networks))), row.management_port),
        _build_probe(row),
        settings,
    )


def _get_server_interface(row: Row) -> str:
    return row.server_interface.name if hasattr(row, "server_interface") else ""


def _build_probe(row: Row) -> ProbeSpec | None:
    return ProbeSpec(row.probe_interface, row.probe_source4, row.probe_public4, row.probe_source6) if row.probe_interface else None


def build_probe_mapping(row: Row) -> NatMappingSpec | None:
    """Return the NAT mapping of the gateway's probe."""
    return NatMappingSpec(row.probe_source4, row.probe_public4) if row.probe_source4 else None


def read_group_settings(group: GatewayGroup) -> GatewayGroupSettings:
    """Read the settings that all gateways of the group share. Raises GatewayGroup.DoesNotExist."""
    now = next(iter(_read_tables(group.pk)), None)
    if now is None:
        raise GatewayGroup.DoesNotExist
    publics = _read_public_prefixes(group.pk)
    protection, limits, notice, profile, uplink = (getattr(now, name, None) for name in _TABLES)
    is_limiting_off = bool(uplink and not uplink.limits_rates)
    of_group = (_build_protection(protection), _build_limits(limits), _read_notice(notice), _build_profile(profile), is_limiting_off)
    return GatewayGroupSettings(now.clamp_mss, now.flood_mode, tuple(publics), *of_group, _build_responder(now), _build_shaping(uplink))


def _build_responder(group: GatewayGroup) -> ResponderSpec | None:
    """Build the host that connects back to the probes: the target itself."""
    return ResponderSpec(group.responder_port, group.probe_target4, group.probe_target6) if group.responder_port else None


def _build_protection(row: ProtectionRow | None) -> ProtectionSpec:
    if row is None:
        return ProtectionSpec()
    peers = ((RoutingProtocol.BGP, row.bgp_peers), (RoutingProtocol.OSPF, row.ospf_peers))
    return ProtectionSpec(
        row.bogons,
        tuple(row.own),
        tuple(RoutingPeer(address, routing) for routing, listed in peers for address in listed),
        tuple(row.ftp_ports),
        tuple(row.sip_ports),
    )


def _build_profile(row: ProfileRow | None) -> Profile | None:
    return Profile(**{each.name: getattr(row, each.name) for each in fields(Profile)}) if row and row.managed else None


def _build_shaping(row: Uplink | None) -> Shaping | None:
    if row is None or not (row.queue_up_kbit or row.queue_down_kbit):
        return None
    return Shaping(row.queue_up_kbit or 0, row.queue_down_kbit or 0, Framing(row.framing))


def _build_limits(row: LimitsRow | None) -> ConnectionLimits:
    if row is None:
        return ConnectionLimits()
    same = {each.name: getattr(row, each.name) for each in fields(ConnectionLimits) if each.name not in ("exempt", "sampled")}
    return ConnectionLimits(**same, exempt=tuple(row.exempt), sampled=row.open_sampled)


def _read_notice(row: NoticeRow | None) -> NoticeSpec:
    """Read what blocked members of the group see and can still reach."""
    if row is None:
        return NoticeSpec()
    reachable = sorted((each.protocol, each.address.version, each.address, each.port) for each in row.reachable.all())
    return NoticeSpec(
        row.ipv4,
        row.ipv6,
        row.port,
        tuple(ReachableService(address, TransportProtocol(name), port) for name, _, address, port in reachable),
    )
