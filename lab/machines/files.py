"""Files that make a bare Debian the gateway of a topology: its name, its cards' names, addresses and routes. Pure text.

Sources: interfaces(5) of ifupdown, systemd.link(5).
"""

from collections.abc import Iterator

from lab.topology import Interface, Node, NodeRoute

ROUTES = "etc/network/routes"
MAC_PREFIX = "52:54:00:0a"  # locally administered, as QEMU's own


def build_mac(machine: int, card: int) -> str:
    """Return the hardware address of a card. Both numbers count from 1."""
    return f"{MAC_PREFIX}:{machine:02x}:{card:02x}"


def render_files(node: Node, machine: int) -> dict[str, str]:
    """Return the contents of the files by path, without the leading slash."""
    links = {
        f"etc/systemd/network/10-{card.name}.link": f"[Match]\nMACAddress={build_mac(machine, number)}\n[Link]\nName={card.name}\n"
        for number, card in enumerate(node.interfaces, 1)
    }
    names = {"etc/hostname": f"{node.name}\n", "etc/hosts": f"127.0.0.1 localhost\n127.0.1.1 {node.name}\n"}
    return {**names, **links, **_render_network(node)}


def _render_network(node: Node) -> dict[str, str]:
    cards = [line for card in node.interfaces for line in _iter_card(card)]
    routes = ["#!/bin/sh", "set -e", *(_render_route(route) for route in node.routes)]
    lines = ["auto lo", "iface lo inet loopback", *cards, f"    post-up sh /{ROUTES}"]  # behind the last card
    return {"etc/network/interfaces": "\n".join([*lines, ""]), ROUTES: "\n".join([*routes, ""])}


def _iter_card(card: Interface) -> Iterator[str]:
    yield f"auto {card.name}"
    for address in card.addresses:
        yield f"iface {card.name} {'inet' if address.version == 4 else 'inet6'} static"
        yield f"    address {address}"
        if address.version == 6:
            yield "    dad-attempts 0"


def _render_route(route: NodeRoute) -> str:
    way = f"via {route.via}" if route.via else f"dev {route.device}" if route.device else ""
    return f"ip route replace {route.to} {way}" if way else f"ip route replace blackhole {route.to}"
