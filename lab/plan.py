"""Plan of a lab: from the topology to lines for `ip -batch` and values for /proc/sys. Pure: it touches nothing.

The plan is plain data (JSON) because it crosses from the caller into the process that holds the namespaces.
"""

from collections.abc import Iterator
from itertools import count
from typing import TypedDict

from lab.topology import Interface, NetworkSegment, Node, NodeRoute, Topology


class NodePlan(TypedDict):
    name: str
    batch: str  # lines for `ip -batch`, inside the node's namespace
    sysctls: dict[str, str]  # file below /proc/sys -> value
    devices: list[str]  # network cards that get their offloads switched off
    answers: bool


class LabPlan(TypedDict):
    links: str  # lines for `ip -batch`: the namespaces and the cables between them
    nodes: list[NodePlan]


# Indices of words in a line of `_iter_cables`.
NEAR_CARD, NEAR_NODE, FAR_CARD, FAR_NODE = 2, 6, 11, 15


def build_plan(topology: Topology) -> LabPlan:
    return {
        "links": _join_lines([*(f"netns add {node.name}" for node in topology.nodes), *_iter_cables(topology)]),
        "nodes": [_build_node(topology, node) for node in topology.nodes],
    }


def build_rebuild_plan(topology: Topology, name: str) -> LabPlan:
    """Return the plan of one node, as if it had never existed, and of the ends of its cables at its neighbours.

    The node must not be a host that answers: servers are started only with the lab.
    """
    cables = [line for line in map(str.split, _iter_cables(topology)) if name in (line[NEAR_NODE], line[FAR_NODE])]
    neighbours: dict[str, list[str]] = {}
    for line in cables:
        neighbours.setdefault(line[FAR_NODE], []).append(line[FAR_CARD])
        neighbours.setdefault(line[NEAR_NODE], []).append(line[NEAR_CARD])
    del neighbours[name]
    nodes = {node["name"]: node for node in build_plan(topology)["nodes"]}
    return {
        "links": _join_lines([f"netns add {name}", *map(" ".join, cables)]),
        "nodes": [nodes[name], *(_select_cards(nodes[far], cards) for far, cards in neighbours.items())],
    }


def _select_cards(node: NodePlan, cards: list[str]) -> NodePlan:
    batch = [line for line in node["batch"].splitlines() if set(cards) & set(line.split())]
    sysctls = {file: value for file, value in node["sysctls"].items() if any(f"/{card}/" in file for card in cards)}
    return {"name": node["name"], "batch": _join_lines(batch), "sysctls": sysctls, "devices": cards, "answers": False}


def _join_lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _list_plugs(topology: Topology, network: NetworkSegment) -> list[tuple[Node, Interface]]:
    """List the interfaces that are plugged into this network, with their nodes; the bridge itself is not one of them."""
    return [
        (node, interface)
        for node in topology.nodes
        for interface in node.interfaces
        if interface.network == network.name and node.name != network.bridge
    ]


def _get_port_name(node: Node, interface: Interface) -> str:
    """Return the name that the other end of a host's cable has at the switch."""
    return f"{node.name}.{interface.name}"


def _iter_cables(topology: Topology) -> Iterator[str]:
    """Yield a line for each cable.

    Every end has an index of its own: the kernel takes a card with the same index as its peer for one without a peer, and may
    notice only a second later that it is up.
    """
    index = count(10)
    for network in topology.networks:
        plugs = _list_plugs(topology, network)
        if network.bridge is None:
            (one, card), (other, far_card) = plugs
            yield _render_cable(one.name, card.name, other.name, far_card.name, index)
            continue
        for node, interface in plugs:
            yield _render_cable(node.name, interface.name, network.bridge, _get_port_name(node, interface), index)


def _render_cable(node: str, card: str, far_node: str, far_card: str, index: Iterator[int]) -> str:
    near = f"link add {card} index {next(index)} netns {node}"
    return f"{near} type veth peer name {far_card} index {next(index)} netns {far_node}"


def _build_node(topology: Topology, node: Node) -> NodePlan:
    held = [network for network in topology.networks if network.bridge == node.name]
    bridges = [network.name for network in held]
    ports = [(_get_port_name(*plug), network.name) for network in held for plug in _list_plugs(topology, network)]
    cards = [interface.name for interface in node.interfaces if interface.name not in bridges]
    batch = [
        *(f"link add {bridge} type bridge stp_state 0 forward_delay 0 mcast_snooping 0" for bridge in bridges),
        *(f"link set {port} master {bridge}" for port, bridge in ports),
        *(f"link set {device} up" for device in ["lo", *bridges, *(port for port, _ in ports), *cards]),
        *(line for interface in node.interfaces for line in _iter_addresses(topology, interface)),
        *(_render_route(route) for route in node.routes),
    ]
    devices = [*cards, *(port for port, _ in ports)]
    return {
        "name": node.name,
        "batch": _join_lines(batch),
        "sysctls": _build_sysctls(node, devices),
        "devices": devices,
        "answers": node.answers,
    }


def _iter_addresses(topology: Topology, interface: Interface) -> Iterator[str]:
    """Yield the interface's addresses, and a route to each prefix of the network in which it has none."""
    for address in interface.addresses:
        yield f"addr add {address} dev {interface.name}{' nodad' if address.version == 6 else ''}"
    prefixes = next(network.prefixes for network in topology.networks if network.name == interface.network)
    for prefix in prefixes:
        if interface.addresses and not any(address.ip in prefix for address in interface.addresses):
            yield f"route add {prefix} dev {interface.name}"


def _render_route(route: NodeRoute) -> str:
    if route.via is not None:
        return f"route add {route.to} via {route.via}"
    if route.device is not None:
        return f"route add {route.to} dev {route.device}"
    return f"route add blackhole {route.to}"


def _build_sysctls(node: Node, devices: list[str]) -> dict[str, str]:
    """Return the node's kernel settings.

    Duplicate address detection is off because it delays every address by a second; redirects are off because they would bypass
    the gateways. Loose pickup is off so that a connection with lost state does not come back by itself and hide the loss.
    """
    sysctls: dict[str, str] = {}
    for device in ["all", "default", *devices]:
        sysctls |= {f"net/ipv6/conf/{device}/accept_dad": "0", f"net/ipv6/conf/{device}/accept_redirects": "0"}
        sysctls |= {f"net/ipv6/conf/{device}/accept_ra": "0", f"net/ipv4/conf/{device}/rp_filter": "0"}
        sysctls |= {f"net/ipv4/conf/{device}/send_redirects": "0", f"net/ipv4/conf/{device}/accept_redirects": "0"}
    if node.forwards:
        sysctls |= {"net/ipv4/ip_forward": "1", "net/ipv6/conf/all/forwarding": "1", "net/netfilter/nf_conntrack_tcp_loose": "0"}
    if node.role == "probe":
        sysctls["net/ipv4/ping_group_range"] = "0 0"  # echoes without privilege, as on a gateway
    return sysctls
