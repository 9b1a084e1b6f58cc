"""Values that describe the network: nodes with their interfaces, addresses and routes.

In: `topology.toml` (its comments say what it may contain). Out: a frozen `Topology`, every reference resolved. It does not know
how a network is built; `plan.py` does.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network, ip_interface, ip_network
from pathlib import Path

from lab.tables import TomlTable, TopologyError

type Host = IPv4Address | IPv6Address
type Address = IPv4Interface | IPv6Interface
type Prefix = IPv4Network | IPv6Network

DEMO = Path(__file__).with_name("topology.toml")
LONGEST_INTERFACE_NAME = 15  # IFNAMSIZ of linux/if.h, without the closing zero
LEGAL_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class PoolPrefixes:
    private: IPv4Network
    public: IPv4Network
    ipv6: IPv6Network


@dataclass(frozen=True, slots=True)
class VirtualRouter:
    """The addresses that the gateways hold in turn, by the side that has them, and the number of their elections (VRID)."""

    number: int
    inside: tuple[Address, ...]
    outside: tuple[Address, ...]
    servers: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class NetworkSegment:
    """A switch inside the node `bridge`, or, without a bridge, a cable between two interfaces."""

    name: str
    prefixes: tuple[Prefix, ...]
    bridge: str | None


@dataclass(frozen=True, slots=True)
class Interface:
    name: str
    network: str
    addresses: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class NodeRoute:
    """A route to a next hop or on the link of a device; with neither, a blackhole."""

    to: Prefix
    via: Host | None = None
    device: str | None = None


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    role: str
    interfaces: tuple[Interface, ...]
    routes: tuple[NodeRoute, ...]
    forwards: bool
    answers: bool

    def list_ip_addresses(self, version: int, network: str | None = None) -> tuple[Host, ...]:
        """Return the node's addresses of one IP version, on one network or on all."""
        wanted = (interface for interface in self.interfaces if network in (None, interface.network))
        return tuple(address.ip for interface in wanted for address in interface.addresses if address.version == version)

    @property
    def ipv4(self) -> str:
        return str(self.list_ip_addresses(4)[0])

    @property
    def ipv6(self) -> str:
        return str(self.list_ip_addresses(6)[0])


@dataclass(frozen=True, slots=True)
class Topology:
    pools: PoolPrefixes
    networks: tuple[NetworkSegment, ...]
    nodes: tuple[Node, ...]
    failover: VirtualRouter | None = None

    def get_node(self, name: str) -> Node:
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(f"unknown node {name}")

    def list_by_role(self, role: str) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.role == role)


def load_topology(path: Path = DEMO) -> Topology:
    return parse_topology(path.read_text())


def parse_topology(text: str) -> Topology:
    """Parse a topology. Raise `TopologyError`, with the key, for anything that is not a network."""
    try:
        root = TomlTable(tomllib.loads(text)).allow_only("pools", "failover", "networks", "roles", "nodes")
    except tomllib.TOMLDecodeError as error:
        raise TopologyError(f"not TOML: {error}") from error
    pools = _parse_pools(root.get_table("pools").allow_only("private", "public", "ipv6"))
    networks = {name: _parse_network(name, table) for name, table in root.get_table("networks").iter_tables()}
    interfaces = {name: _parse_interfaces(name, table, networks) for name, table in root.get_table("nodes").iter_tables()}
    _check_wiring(networks.values(), interfaces)
    _check_addresses(interfaces)
    nodes = tuple(
        _parse_node(name, table, root.get_table("roles"), pools, interfaces) for name, table in root.get_table("nodes").iter_tables()
    )
    failover = _parse_failover(root.get_table("failover")) if "failover" in root.list_key_names() else None
    return Topology(pools, tuple(networks.values()), nodes, failover)


def _parse_pools(table: TomlTable) -> PoolPrefixes:
    private, public, ipv6 = (_parse_prefix(table, name, table.get_text(name)) for name in ("private", "public", "ipv6"))
    if not isinstance(private, IPv4Network):
        raise table.refuse("private", "expected an IPv4 prefix")
    if not isinstance(public, IPv4Network):
        raise table.refuse("public", "expected an IPv4 prefix")
    if not isinstance(ipv6, IPv6Network):
        raise table.refuse("ipv6", "expected an IPv6 prefix")
    return PoolPrefixes(private, public, ipv6)


def _parse_failover(table: TomlTable) -> VirtualRouter:
    table.allow_only("virtual-router", "inside", "outside", "servers")
    inside, outside, servers = (_parse_addresses(table, name) for name in ("inside", "outside", "servers"))
    return VirtualRouter(table.get_number("virtual-router"), inside, outside, servers)


def _parse_addresses(table: TomlTable, name: str) -> tuple[Address, ...]:
    try:
        return tuple(map(ip_interface, table.get_texts(name)))
    except ValueError as error:
        raise table.refuse(name, str(error)) from error


def _parse_prefix(table: TomlTable, name: str, text: str) -> Prefix:
    try:
        return ip_network(text)
    except ValueError as error:
        raise table.refuse(name, str(error)) from error


def _parse_network(name: str, table: TomlTable) -> NetworkSegment:
    table.allow_only("bridge", "prefixes")
    prefixes = tuple(_parse_prefix(table, "prefixes", text) for text in table.get_texts("prefixes"))
    return NetworkSegment(_validate_name(table, name), prefixes, table.find_text("bridge"))


def _validate_name(table: TomlTable, name: str) -> str:
    if not LEGAL_NAME.fullmatch(name):
        raise TopologyError(f"{table.key}: a name is small letters, digits and hyphens, and begins with a letter")
    return name


def _parse_interfaces(node: str, table: TomlTable, networks: dict[str, NetworkSegment]) -> tuple[Interface, ...]:
    _validate_name(table.allow_only("role", "interfaces", "routes"), node)
    return tuple(_parse_interface(node, name, entry, networks) for name, entry in table.get_table("interfaces").iter_tables())


def _parse_interface(node: str, name: str, table: TomlTable, networks: dict[str, NetworkSegment]) -> Interface:
    table.allow_only("network", "addresses")
    network = networks.get(table.get_text("network"))
    if network is None:
        raise table.refuse("network", f"unknown network {table.get_text('network')}")
    if len(f"{node}.{_validate_name(table, name)}") > LONGEST_INTERFACE_NAME:
        raise TopologyError(f"{table.key}: {node}.{name} is longer than the {LONGEST_INTERFACE_NAME} characters Linux allows")
    if network.bridge == node and name != network.name:
        raise TopologyError(f"{table.key}: the interface of the node with the bridge is the bridge itself; name it {network.name}")
    return Interface(name, network.name, tuple(_parse_address(table, text, network) for text in table.get_texts("addresses")))


def _parse_address(table: TomlTable, text: str, network: NetworkSegment) -> Address:
    try:
        address = ip_interface(text)
    except ValueError as error:
        raise table.refuse("addresses", str(error)) from error
    if "/" in text:
        return address
    for prefix in network.prefixes:
        if address.ip in prefix:
            return ip_interface(f"{text}/{prefix.prefixlen}")
    raise table.refuse("addresses", f"{text} needs a prefix length, because it is outside the prefixes of the network {network.name}")


def _check_wiring(networks: Iterable[NetworkSegment], interfaces: dict[str, tuple[Interface, ...]]) -> None:
    for network in networks:
        if network.bridge is not None and network.bridge not in interfaces:
            raise TopologyError(f"networks.{network.name}.bridge: unknown node {network.bridge}")
        plugged = sum(interface.network == network.name for owned in interfaces.values() for interface in owned)
        if network.bridge is None and plugged != 2:
            raise TopologyError(f"networks.{network.name}: a cable has two ends, but {plugged} interfaces name it")


def _check_addresses(interfaces: dict[str, tuple[Interface, ...]]) -> None:
    holders: dict[Host, str] = {}
    for node, interface in ((node, interface) for node, owned in interfaces.items() for interface in owned):
        key = f"nodes.{node}.interfaces.{interface.name}"
        for address in interface.addresses:
            if address.ip in holders:
                raise TopologyError(f"{key}: {address.ip} is already held by {holders[address.ip]}")
            holders[address.ip] = key


def _parse_node(name: str, table: TomlTable, roles: TomlTable, pools: PoolPrefixes, interfaces: dict[str, tuple[Interface, ...]]) -> Node:
    role = table.get_text("role")
    if role not in roles.list_key_names():
        raise table.refuse("role", f"unknown role {role}")
    duties = roles.get_table(role).allow_only("forwards", "answers", "routes")
    given = (duties.get_table("routes"), table.get_table("routes"))
    resolved = tuple(
        _parse_route(routes, destination, name, pools, interfaces) for routes in given for destination in routes.list_key_names()
    )
    return Node(name, role, interfaces[name], resolved, duties.get_flag("forwards"), duties.get_flag("answers"))


def _parse_route(
    table: TomlTable, destination: str, owner: str, pools: PoolPrefixes, interfaces: dict[str, tuple[Interface, ...]]
) -> NodeRoute:
    to = getattr(pools, destination) if destination in PoolPrefixes.__slots__ else _parse_prefix(table, destination, destination)
    way = table.get_text(destination)
    if way == "blackhole":
        return NodeRoute(to)
    if any(interface.name == way for interface in interfaces[owner]):
        return NodeRoute(to, device=way)
    shared = {interface.network for interface in interfaces[owner]}
    hops = (address.ip for hop in interfaces.get(way, ()) if hop.network in shared for address in hop.addresses)
    for hop in hops:
        if hop.version == to.version:
            return NodeRoute(to, via=hop)
    raise table.refuse(destination, f"{owner} has no interface {way}, and no node {way} has an IPv{to.version} address beside it")
