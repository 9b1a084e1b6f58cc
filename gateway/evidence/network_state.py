"""Links with their counters, addresses and routes as JSON, as `ip -json` gives them. Layouts: linux/rtnetlink.h, linux/if_link.h.

Routes are read up to a limit: on a gateway that speaks BGP there are a million.
"""

import json
import socket
import sys
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from itertools import islice
from struct import Struct
from typing import Any, TypeAlias

from firewall.evidence import MOST_ROUTES
from gateway.evidence.part import Deadline, PartContent
from gateway.interfaces import iter_dump
from gateway.netlink_attributes import parse_attribute_text

_GETLINK, _GETADDR, _GETROUTE = 18, 22, 26
_LINK, _ADDRESS, _ROUTE = Struct("=BxHiII"), Struct("=BBBBI"), Struct("=BBBBBBBBI")
_MAC, _NAME, _MTU, _QDISC, _STATISTICS, _CARRIER_CHANGES = 1, 3, 4, 6, 23, 35
_ANY, _LOCAL = 1, 2
_DESTINATION, _OUT, _GATEWAY, _PRIORITY, _SOURCE, _TABLE = 1, 4, 5, 6, 7, 15
_UP, _RUNNING = 0x1, 0x10000
_COUNTERS = Struct("=10Q")
_COUNTED = (
    "rx_packets",
    "tx_packets",
    "rx_bytes",
    "tx_bytes",
    "rx_errors",
    "tx_errors",
    "rx_dropped",
    "tx_dropped",
    "multicast",
    "collisions",
)


def read_network(_deadline: Deadline) -> PartContent:
    """Return links, addresses and routes. Raises TableError or OSError."""
    links = dict(_read_list(_GETLINK, _LINK, _describe_link))
    names = {index: link["name"] for index, link in links.items()}
    addresses = [{**address, "link": names.get(index, index)} for index, address in _read_list(_GETADDR, _ADDRESS, _describe_address)]
    routes = [
        {**route, "link": names.get(index, index)} for index, route in _read_list(_GETROUTE, _ROUTE, _describe_route, MOST_ROUTES + 1)
    ]
    found = {"links": list(links.values()), "addresses": addresses, "routes": routes[:MOST_ROUTES]}
    note = f"Only the first {MOST_ROUTES} routes: there are more." if len(routes) > MOST_ROUTES else ""
    return PartContent(json.dumps(found, indent=1).encode(), note)


DescribeMessage: TypeAlias = Callable[[tuple[int, ...], Mapping[int, bytes]], tuple[int, dict[str, Any]]]


def _read_list(kind: int, body: Struct, describe: DescribeMessage, most: int | None = None) -> list[tuple[int, dict[str, Any]]]:
    """Return the interface and the values of each message."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE) as route:
        return list(islice((describe(fields, given) for fields, given in iter_dump(route, kind, body)), most))


def _describe_link(fields: tuple[int, ...], given: Mapping[int, bytes]) -> tuple[int, dict[str, Any]]:
    _, _, index, flags, _ = fields
    counts = given.get(_STATISTICS, b"")
    return index, {
        "index": index,
        "name": parse_attribute_text(given[_NAME]),
        "is_up": bool(flags & _UP),
        "has_carrier": bool(flags & _RUNNING),
        "mac": given.get(_MAC, b"").hex(":"),
        "mtu": _read_number(given, _MTU),
        "qdisc": parse_attribute_text(given.get(_QDISC, b"")),
        "carrier_changes": _read_number(given, _CARRIER_CHANGES),
        "counters": dict(zip(_COUNTED, _COUNTERS.unpack_from(counts), strict=True)) if len(counts) >= _COUNTERS.size else {},
    }


def _describe_address(fields: tuple[int, ...], given: Mapping[int, bytes]) -> tuple[int, dict[str, Any]]:
    _, length, _, scope, index = fields
    address = given.get(_LOCAL) or given.get(_ANY, b"")
    return index, {"address": f"{ip_address(address)}/{length}" if address else "", "scope": scope}


def _describe_route(fields: tuple[int, ...], given: Mapping[int, bytes]) -> tuple[int, dict[str, Any]]:
    _, length, _, _, table, protocol, _, kind, _ = fields
    return _read_number(given, _OUT), {
        "destination": f"{_format(given, _DESTINATION)}/{length}" if _DESTINATION in given else "default",
        "gateway": _format(given, _GATEWAY),
        "source": _format(given, _SOURCE),
        "metric": _read_number(given, _PRIORITY),
        "table": _read_number(given, _TABLE) or table,
        "protocol": protocol,
        "type": kind,
    }


def _format(given: Mapping[int, bytes], kind: int) -> str:
    return str(ip_address(given[kind])) if kind in given else ""


def _read_number(given: Mapping[int, bytes], kind: int) -> int:
    return int.from_bytes(given.get(kind, b""), sys.byteorder)
