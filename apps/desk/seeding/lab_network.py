"""Where the seeded network stands: pools, gateways and member hosts, as `lab/topology.toml` says."""

import tomllib
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_interface, ip_network
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from apps.lib.fields import Prefix

TOPOLOGY: Final = settings.ROOT / "lab" / "topology.toml"
MORE_PUBLIC: Final = IPv4Network("198.18.0.0/15")  # RFC 2544, for benchmarks
FEW: Final = 1_500  # members for whom the topology's own public pool is enough


@dataclass(frozen=True, slots=True)
class Probe:
    """From where a gateway is probed, and as what its IPv4 leaves."""

    interface: str
    source4: IPv4Address
    public4: IPv4Address
    source6: IPv6Address


@dataclass(frozen=True, slots=True)
class Targets:
    """What probes connect to."""

    ipv4: IPv4Address
    ipv6: IPv6Address
    port: int = 80


@dataclass(frozen=True, slots=True)
class Service:
    """One of the network's own servers."""

    ipv4: IPv4Address
    ipv6: IPv6Address


@dataclass(frozen=True, slots=True)
class Gateway:
    """A gateway's name, interfaces and management address, and its probe."""

    name: str
    lan: str
    wan: str
    management: str
    sync: str
    address: IPv4Address
    server: str
    probe: Probe


@dataclass(frozen=True, slots=True)
class Host:
    """A member's host in the lab."""

    name: str
    address: IPv4Address
    prefix: IPv6Network


@dataclass(frozen=True, slots=True)
class Ground:
    """Pools by kind, gateways (the first carries IPv4, the last IPv6), the lab's member hosts, and its own servers by name."""

    private: IPv4Network
    public: tuple[IPv4Network, ...]
    prefixes: IPv6Network
    management: tuple[Prefix, ...]
    gateways: tuple[Gateway, ...]
    targets: Targets
    hosts: tuple[Host, ...]
    services: dict[str, Service]


def read(members: int, file: Path = TOPOLOGY) -> Ground:
    """The topology's network, with a further public pool when there are many members."""
    topology = tomllib.loads(file.read_text())
    pools, nodes = topology["pools"], topology["nodes"]
    public = IPv4Network(pools["public"])
    return Ground(
        private=IPv4Network(pools["private"]),
        public=(public, MORE_PUBLIC) if members > FEW else (public,),
        prefixes=IPv6Network(pools["ipv6"]),
        management=tuple(ip_network(prefix) for prefix in topology["networks"]["management"]["prefixes"]),
        gateways=tuple(_gateway(name, nodes) for name, node in nodes.items() if node["role"] == "gateway"),
        targets=_targets(next(node for node in nodes.values() if node["role"] == "server")),
        hosts=tuple(_host(name, node["interfaces"]) for name, node in nodes.items() if node["role"] == "member"),
        services={name: _service(node) for name, node in nodes.items() if node["role"] == "service"},
    )


def _gateway(name: str, nodes: dict[str, Any]) -> Gateway:
    interfaces = nodes[name]["interfaces"]
    on = {interface["network"]: own for own, interface in interfaces.items()}
    return Gateway(
        name,
        lan=on["lan"],
        wan=on["transit"],
        management=on["management"],
        sync=on.get("sync", ""),
        server=on.get("servers", ""),
        address=IPv4Address(interfaces[on["management"]]["addresses"][0]),
        probe=_probe(name, on, nodes),
    )


def _probe(gateway: str, on: dict[str, str], nodes: dict[str, Any]) -> Probe:
    """The host whose cable ends at the gateway; the single IPv4 address that routers send there is the public one."""
    probes = (interface for node in nodes.values() if node["role"] == "probe" for interface in node["interfaces"].values())
    interface = next(each for each in probes if each["network"] in on)
    routes = next(node["routes"] for node in nodes.values() if node["role"] == "router")
    public = next(prefix for prefix, way in routes.items() if way == gateway and prefix.endswith("/32"))
    four, six = (_first(interface["addresses"], version) for version in (4, 6))
    return Probe(on[interface["network"]], IPv4Address(four), IPv4Address(public.removesuffix("/32")), IPv6Address(six))


def _targets(server: dict[str, Any]) -> Targets:
    (interface,) = server["interfaces"].values()
    return Targets(IPv4Address(_first(interface["addresses"], 4)), IPv6Address(_first(interface["addresses"], 6)))


def _service(node: dict[str, Any]) -> Service:
    (interface,) = node["interfaces"].values()
    return Service(IPv4Address(_first(interface["addresses"], 4)), IPv6Address(_first(interface["addresses"], 6)))


def _first(addresses: list[str], version: int) -> str:
    """The first of this family, without its length."""
    return next(str(each.ip) for each in map(ip_interface, addresses) if each.version == version)


def _host(name: str, interfaces: dict[str, Any]) -> Host:
    (addresses,) = [interface["addresses"] for interface in interfaces.values() if interface["network"] == "lan"]
    four, six = (next(each for each in map(ip_interface, addresses) if each.version == version) for version in (4, 6))
    return Host(name, IPv4Address(four.ip), IPv6Network(six.network))
