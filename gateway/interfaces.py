"""Network interfaces of the machine, with their addresses and default routes, over rtnetlink in the calling thread's namespace.

Layouts: linux/rtnetlink.h, linux/if_link.h, linux/if_addr.h; values are in the machine's byte order, addresses in network order.
"""

import os
import socket
import sys
from collections import defaultdict
from collections.abc import Iterator
from ipaddress import ip_address
from struct import Struct
from typing import Any

from firewall.machine import MOST_ADDRESSES, InterfaceAddress, MachineInterface
from firewall.policy import Address
from firewall.shaper import OWN_DEVICES
from gateway.netlink_attributes import pack_attribute, parse_attribute_text, parse_attributes
from gateway.table import TableError

_HEADER = Struct("=IHHII")
_LINK, _ADDRESS, _ROUTE = Struct("=BxHiII"), Struct("=BBBBI"), Struct("=BBBBBBBBI")
_GETLINK, _GETADDR, _GETROUTE = 18, 22, 26
_REQUEST = 0x1
_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_DUMP
_ERROR, _DONE = 2, 3
_RECEIVE = 1 << 17
_LOOPBACK, _RUNNING = 0x8, 0x10001  # IFF_LOOPBACK; IFF_UP and IFF_LOWER_UP
_LINK_MAC, _LINK_NAME, _LINK_INFO, _INFO_KIND = 1, 3, 18, 1
_ADDRESS_ANY, _ADDRESS_LOCAL = 1, 2
_SCOPE_GLOBAL = 0
_MAIN, _UNICAST = 254, 1
_ROUTE_DESTINATION, _ROUTE_INTERFACE, _ROUTE_NEXT_HOPS = 1, 4, 9
_NEXT_HOP = Struct("=HBBi")
_SOMEWHERE = {4: (socket.AF_INET, ip_address("8.8.8.8")), 6: (socket.AF_INET6, ip_address("2001:4860:4860::8888"))}  # on the internet
_FAMILIES = (socket.AF_INET, socket.AF_INET6)


def list_interfaces() -> list[MachineInterface]:
    """Return all interfaces but loopback and the agent's own, by name. Raises TableError."""
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE) as route:
            links = list(iter_dump(route, _GETLINK, _LINK))
            addresses, defaults = _read_addresses(route), _read_defaults(route)
    except OSError as error:
        raise TableError(f"the interfaces cannot be read: {error.strerror}") from error
    found = []
    for (_, _, index, flags, _), given in links:
        if not _is_hidden(flags, given):
            mac, kind = given.get(_LINK_MAC, b""), parse_attributes(given.get(_LINK_INFO, b"")).get(_INFO_KIND, b"")
            found.append(
                MachineInterface(
                    parse_attribute_text(given[_LINK_NAME]),
                    flags & _RUNNING == _RUNNING,
                    mac.hex(":") if any(mac) else "",
                    parse_attribute_text(kind),
                    tuple(addresses[index][:MOST_ADDRESSES]),
                    *((family, index) in defaults for family in _FAMILIES),
                )
            )
    return sorted(found, key=lambda each: each.name)


def iter_links(route: socket.socket) -> Iterator[tuple[str, bool, dict[int, bytes]]]:
    """Yield name, whether it is up with carrier, and attributes of each interface that `list_interfaces` returns. Raises TableError or
    OSError.
    """
    for (_, _, _, flags, _), given in iter_dump(route, _GETLINK, _LINK):
        if not _is_hidden(flags, given):
            yield parse_attribute_text(given[_LINK_NAME]), flags & _RUNNING == _RUNNING, given


def _is_hidden(flags: int, given: dict[int, bytes]) -> bool:
    """True for loopback, and for the agent's own devices, which no cable leads to."""
    return bool(flags & _LOOPBACK) or parse_attribute_text(given[_LINK_NAME]) in OWN_DEVICES


def has_internet_route(family: int) -> bool:
    """True if the kernel would route a packet to the internet. It is asked about one address; listing all routes of BGP would take seconds.

    Nothing is sent. Raises TableError.
    """
    number, target = _SOMEWHERE[family]
    wanted = pack_attribute(_ROUTE_DESTINATION, target.packed)
    ask = _ROUTE.pack(number, target.max_prefixlen, 0, 0, 0, 0, 0, 0, 0) + wanted
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE) as route:
            route.send(_HEADER.pack(_HEADER.size + len(ask), _GETROUTE, _REQUEST, 1, 0) + ask)
            octets = route.recv(_RECEIVE)
    except OSError as error:
        raise TableError(f"the routes cannot be read: {error.strerror}") from error
    if _HEADER.unpack_from(octets)[1] == _ERROR:
        return False
    kind: int = _ROUTE.unpack_from(octets, _HEADER.size)[7]
    return kind == _UNICAST


def list_addresses() -> dict[str, tuple[Address, ...]]:
    """Return the addresses of each interface that has any, loopback and link-local addresses included. Raises TableError."""
    found: dict[str, list[Address]] = defaultdict(list)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE) as route:
            names = {index: parse_attribute_text(given[_LINK_NAME]) for (_, _, index, _, _), given in iter_dump(route, _GETLINK, _LINK)}
            for index, _, each in _iter_addresses(route):
                found[names.get(index, "")].append(each.address)
    except OSError as error:
        raise TableError(f"the addresses cannot be read: {error.strerror}") from error
    return {name: tuple(addresses[:MOST_ADDRESSES]) for name, addresses in sorted(found.items()) if name}


def get_index(interface: str) -> int:
    """Return the index of the interface in the calling thread's network namespace, 0 if there is none."""
    try:
        return socket.if_nametoindex(interface)
    except OSError:
        return 0


def has_address(interface: str, address: Address) -> bool:
    """True if the interface exists and has this address, which may be link-local. Raises TableError."""
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE) as route:
            names = {index: parse_attribute_text(given[_LINK_NAME]) for (_, _, index, _, _), given in iter_dump(route, _GETLINK, _LINK)}
            return any(names.get(index) == interface and each.address == address for index, _, each in _iter_addresses(route))
    except OSError as error:
        raise TableError(f"the interfaces cannot be read: {error.strerror}") from error


def _read_addresses(route: socket.socket) -> dict[int, list[InterfaceAddress]]:
    """Return the addresses of each interface by its index, without link-local ones."""
    found = defaultdict(list)
    for index, scope, address in _iter_addresses(route):
        if scope == _SCOPE_GLOBAL:
            found[index].append(address)
    return found


def _iter_addresses(route: socket.socket) -> Iterator[tuple[int, int, InterfaceAddress]]:
    """Yield each address with the index of its interface and its scope."""
    for (_, length, _, scope, index), given in iter_dump(route, _GETADDR, _ADDRESS):
        if octets := given.get(_ADDRESS_LOCAL) or given.get(_ADDRESS_ANY):
            yield index, scope, InterfaceAddress(ip_address(octets), length)


def _read_defaults(route: socket.socket) -> set[tuple[int, int]]:
    """Return family and interface of each default route of the main table."""
    found: set[tuple[int, int]] = set()
    for (family, length, _, _, table, _, _, kind, _), given in iter_dump(route, _GETROUTE, _ROUTE):
        if (length, table, kind) == (0, _MAIN, _UNICAST) and family in _FAMILIES:
            found.update((family, index) for index in _iter_outgoing(given))
    return found


def _iter_outgoing(given: dict[int, bytes]) -> Iterator[int]:
    """Yield the interfaces of a route: one, or one for each next hop."""
    if _ROUTE_INTERFACE in given:
        yield int.from_bytes(given[_ROUTE_INTERFACE], sys.byteorder)
    hops = given.get(_ROUTE_NEXT_HOPS, b"")
    while len(hops) >= _NEXT_HOP.size:
        length, _, _, index = _NEXT_HOP.unpack_from(hops)
        yield index
        hops = hops[(max(length, _NEXT_HOP.size) + 3) & ~3 :]


def iter_dump(
    route: socket.socket, kind: int, body: Struct, request: bytes | None = None
) -> Iterator[tuple[tuple[Any, ...], dict[int, bytes]]]:
    """Yield the fields and attributes of each message of a dump, of any netlink family. request: its body, by default zeros.

    Raises TableError or OSError. A caller that wants no more closes the socket.
    """
    asked = bytes(body.size) if request is None else request
    route.send(_HEADER.pack(_HEADER.size + len(asked), kind, _DUMP, kind, 0) + asked)
    while True:
        octets, start = route.recv(_RECEIVE), 0
        while start + _HEADER.size <= len(octets):
            length, reply, _, _, _ = _HEADER.unpack_from(octets, start)
            if reply == _DONE:
                return
            if reply == _ERROR:
                code = -int.from_bytes(octets[start + _HEADER.size : start + _HEADER.size + 4], sys.byteorder, signed=True)
                raise TableError(f"the kernel does not list what was asked for: {os.strerror(code)}")
            head = start + _HEADER.size
            yield body.unpack_from(octets, head), parse_attributes(octets[head + body.size : start + length])
            start += (length + 3) & ~3
