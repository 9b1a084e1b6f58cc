"""The lab's network from `lab/topology.toml`: pools, gateways and member hosts."""

import tomllib
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_interface, ip_network
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from apps.lib.fields import AddressInNetwork, Prefix

TOPOLOGY: Final = settings.ROOT / "lab" / "topology.toml"
MORE_PUBLIC: Final = IPv4Network("198.18.0.0/15")  # RFC 2544, for benchmarks
FEW: Final = 1_500  # members for whom the topology's own public pool is enough
MORE_PRIVATE: Final = IPv4Network("10.32.0.0/11")  # RFC 1918, beside the topology's own; for benchmarks, the lab has no hosts there
MANY: Final = 500_000  # members for whom the topology's own private pool is enough


@dataclass(frozen=True, slots=True)
class LabProbe:
    """A gateway's probe: its interface and addresses, and the public address as which its IPv4 leaves."""

    interface: str
    source4: IPv4Address
    public4: IPv4Address
    source6: IPv6Address


@dataclass(frozen=True, slots=True)
class ProbeAddresses:
    """The addresses and port that probes connect to, and the port of the responder there."""

    ipv4: IPv4Address
    ipv6: IPv6Address
    port: int = 80
    responder_port: int = 7077


@dataclass(frozen=True, slots=True)
class LabService:
    """One of the network's own servers."""

    ipv4: IPv4Address
    ipv6: IPv6Address


@dataclass(frozen=True, slots=True)
class LabFailover:
    """The addresses that the gateways hold in turn, by the side that has them, and the number of their virtual router."""

    virtual_router: int
    inside: tuple[AddressInNetwork, ...]
    outside: tuple[AddressInNetwork, ...]
    servers: tuple[AddressInNetwork, ...]


@dataclass(frozen=True, slots=True)
class LabGateway:
    """A gateway's name, interfaces and management address, and its probe."""

    name: str
    lan: str
    wan: str
    management: str
    sync: str
    sync_address: IPv4Address | None
    address: IPv4Address
    server: str
    probe: LabProbe


@dataclass(frozen=True, slots=True)
class LabHost:
    """A member's host in the lab."""

    name: str
    address: IPv4Address
    prefix: IPv6Network


@dataclass(frozen=True, slots=True)
class LabNetwork:
    """Pools by kind, gateways (the first carries IPv4, the last IPv6), the lab's member hosts, and its own servers by name."""

    private: tuple[IPv4Network, ...]
    public: tuple[IPv4Network, ...]
    prefixes: IPv6Network
    management: tuple[Prefix, ...]
    gateways: tuple[LabGateway, ...]
    targets: ProbeAddresses
    hosts: tuple[LabHost, ...]
    services: dict[str, LabService]
    failover: LabFailover


def read_lab_network(members: int, file: Path = TOPOLOGY) -> LabNetwork:
    """Read the topology; with many members, add another public pool, and another private one."""
    topology = tomllib.loads(file.read_text())
    pools, nodes = topology["pools"], topology["nodes"]
    private, public = IPv4Network(pools["private"]), IPv4Network(pools["public"])
    return LabNetwork(
        private=(private, MORE_PRIVATE) if members > MANY else (private,),
        public=(public, MORE_PUBLIC) if members > FEW else (public,),
        prefixes=IPv6Network(pools["ipv6"]),
        management=tuple(ip_network(prefix) for prefix in topology["networks"]["management"]["prefixes"]),
        gateways=tuple(_parse_gateway(name, nodes) for name, node in nodes.items() if node["role"] == "gateway"),
        targets=_parse_targets(next(node for node in nodes.values() if node["role"] == "server")),
        hosts=tuple(_parse_host(name, node["interfaces"]) for name, node in nodes.items() if node["role"] == "member"),
        services={name: _parse_service(node) for name, node in nodes.items() if node["role"] == "service"},
        failover=_parse_failover(topology["failover"]),
    )


def _parse_failover(table: dict[str, Any]) -> LabFailover:
    inside, outside, servers = (tuple(map(ip_interface, table[side])) for side in ("inside", "outside", "servers"))
    return LabFailover(table["virtual-router"], inside, outside, servers)


def _parse_gateway(name: str, nodes: dict[str, Any]) -> LabGateway:
    interfaces = nodes[name]["interfaces"]
    on = {interface["network"]: own for own, interface in interfaces.items()}
    return LabGateway(
        name,
        lan=on["lan"],
        wan=on["transit"],
        management=on["management"],
        sync=on.get("sync", ""),
        sync_address=IPv4Address(interfaces[on["sync"]]["addresses"][0]) if "sync" in on else None,
        server=on.get("servers", ""),
        address=IPv4Address(interfaces[on["management"]]["addresses"][0]),
        probe=_parse_probe(name, on, nodes),
    )


def _parse_probe(gateway: str, on: dict[str, str], nodes: dict[str, Any]) -> LabProbe:
    """Parse the probe host that is cabled to the gateway; its public address is the only /32 that routers send to this gateway."""
    probes = (interface for node in nodes.values() if node["role"] == "probe" for interface in node["interfaces"].values())
    interface = next(each for each in probes if each["network"] in on)
    routes = next(node["routes"] for node in nodes.values() if node["role"] == "router")
    public = next(prefix for prefix, way in routes.items() if way == gateway and prefix.endswith("/32"))
    four, six = (_get_first_address(interface["addresses"], version) for version in (4, 6))
    return LabProbe(on[interface["network"]], IPv4Address(four), IPv4Address(public.removesuffix("/32")), IPv6Address(six))


def _parse_targets(server: dict[str, Any]) -> ProbeAddresses:
    (interface,) = server["interfaces"].values()
    return ProbeAddresses(
        IPv4Address(_get_first_address(interface["addresses"], 4)), IPv6Address(_get_first_address(interface["addresses"], 6))
    )


def _parse_service(node: dict[str, Any]) -> LabService:
    (interface,) = node["interfaces"].values()
    return LabService(
        IPv4Address(_get_first_address(interface["addresses"], 4)), IPv6Address(_get_first_address(interface["addresses"], 6))
    )


def _get_first_address(addresses: list[str], version: int) -> str:
    """Return the first address of this IP version, without its prefix length."""
    return next(str(each.ip) for each in map(ip_interface, addresses) if each.version == version)


def _parse_host(name: str, interfaces: dict[str, Any]) -> LabHost:
    (addresses,) = [interface["addresses"] for interface in interfaces.values() if interface["network"] == "lan"]
    four, six = (next(each for each in map(ip_interface, addresses) if each.version == version) for version in (4, 6))
    return LabHost(name, IPv4Address(four.ip), IPv6Network(six.network))
