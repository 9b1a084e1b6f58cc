"""Where the seeded network stands: pools, gateways and member hosts, as `lab/topology.toml` says."""

import tomllib
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_interface, ip_network
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from apps.lib.fields import Prefix

TOPOLOGY: Final = settings.ROOT / "lab" / "topology.toml"
MORE_PUBLIC: Final = IPv4Network("198.18.0.0/15")  # RFC 2544, for benchmarks
FEW: Final = 1_500  # members for whom the topology's own public pool is enough


@dataclass(frozen=True, slots=True)
class Gateway:
    """A gateway's name, interfaces and management address."""

    name: str
    lan: str
    wan: str
    management: str
    sync: str
    address: IPv4Address


@dataclass(frozen=True, slots=True)
class Host:
    """A member's host in the lab."""

    name: str
    address: IPv4Address
    prefix: IPv6Network


@dataclass(frozen=True, slots=True)
class Ground:
    """Pools by kind, gateways (the first carries IPv4, the last IPv6), and the lab's member hosts."""

    private: IPv4Network
    public: tuple[IPv4Network, ...]
    prefixes: IPv6Network
    management: tuple[Prefix, ...]
    gateways: tuple[Gateway, ...]
    hosts: tuple[Host, ...]


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
        gateways=tuple(_gateway(name, node["interfaces"]) for name, node in nodes.items() if node["role"] == "gateway"),
        hosts=tuple(_host(name, node["interfaces"]) for name, node in nodes.items() if node["role"] == "member"),
    )


def _gateway(name: str, interfaces: dict[str, Any]) -> Gateway:
    on = {interface["network"]: own for own, interface in interfaces.items()}
    address = IPv4Address(interfaces[on["management"]]["addresses"][0])
    return Gateway(name, lan=on["lan"], wan=on["transit"], management=on["management"], sync=on.get("sync", ""), address=address)


def _host(name: str, interfaces: dict[str, Any]) -> Host:
    (addresses,) = [interface["addresses"] for interface in interfaces.values() if interface["network"] == "lan"]
    four, six = (next(each for each in map(ip_interface, addresses) if each.version == version) for version in (4, 6))
    return Host(name, IPv4Address(four.ip), IPv6Network(six.network))
