"""A gateway in a network namespace, and the far ends of its cables in another: raw frames in and out, without any other traffic.

Nothing waits for a time. One processor handles the frames in the order in which they are sent: when the reply to an ARP request for the
gateway's address arrives, so has everything that the frames before it caused.
"""

import os
import select
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path
from typing import NamedTuple

from firewall.policy import Address
from firewall.tracing import GatewayRoute, Packet, RoutingTable
from tests.agent.namespace import Namespace
from tests.packets.frames import ETHERTYPES, Reassembly, parse

CARDS = ("lan0", "wan0", "mgmt0", "sync0", "probe0", "srv0")
OWN: tuple[tuple[str, Address], ...] = (
    ("lan0", IPv4Address("10.254.1.1")),
    ("wan0", IPv4Address("192.0.2.1")),
    ("mgmt0", IPv4Address("172.31.0.1")),
    ("sync0", IPv4Address("10.254.4.1")),
    ("probe0", IPv4Address("172.31.254.1")),
    ("srv0", IPv4Address("192.168.9.1")),
    ("lan0", IPv6Address("2001:db8:1:1::1")),
    ("wan0", IPv6Address("2001:db8:1:2::1")),
    ("mgmt0", IPv6Address("2001:db8:1:3::1")),
    ("sync0", IPv6Address("2001:db8:1:4::1")),
    ("probe0", IPv6Address("2001:db8:1:5::1")),
    ("srv0", IPv6Address("2001:db8:1:6::1")),
)
ROUTES = RoutingTable(
    (
        GatewayRoute(IPv4Network("10.16.0.0/16"), "lan0"),
        GatewayRoute(IPv4Network("198.51.100.0/24"), ""),  # public addresses are reachable only through a forward
        GatewayRoute(IPv4Network("172.31.0.0/24"), "mgmt0"),
        GatewayRoute(IPv4Network("10.254.4.0/24"), "sync0"),
        GatewayRoute(IPv4Network("172.31.254.2/32"), "probe0"),
        GatewayRoute(IPv4Network("192.168.9.0/24"), "srv0"),
        GatewayRoute(IPv4Network("192.0.2.129/32"), "srv0"),
        GatewayRoute(IPv4Network("192.0.2.130/32"), "lan0"),  # a server among the members
        GatewayRoute(IPv4Network("0.0.0.0/0"), "wan0"),
        GatewayRoute(IPv6Network("2001:db8::/40"), "lan0"),
        GatewayRoute(IPv6Network("2001:db8:1:3::/64"), "mgmt0"),
        GatewayRoute(IPv6Network("2001:db8:99::/48"), "srv0"),
        GatewayRoute(IPv6Network("2001:db8:b1::2/128"), "probe0"),
        GatewayRoute(IPv6Network("::/0"), "wan0"),
    ),
    OWN,
)
SILENT4, SILENT6 = ("rp_filter", "send_redirects"), ("accept_ra", "accept_dad", "router_solicitations")
# ICMP errors have no rate limit. Fragments wait for the rest longer than any test runs.
SETTINGS = {
    "net/ipv4/ip_forward": "1",
    "net/ipv6/conf/all/forwarding": "1",
    "net/ipv4/icmp_ratelimit": "0",
    "net/ipv4/icmp_ratemask": "0",
    "net/ipv6/icmp/ratelimit": "0",
    "net/ipv4/icmp_msgs_per_sec": "1000000",
    "net/ipv4/icmp_msgs_burst": "100000",
    **{f"net/ipv4/conf/{where}/{name}": "0" for where in ("all", "default") for name in SILENT4},
    **{f"net/ipv6/conf/{where}/{name}": "0" for where in ("all", "default") for name in SILENT6},
    "net/ipv6/conf/default/addr_gen_mode": "1",
}
WAITING = {
    f"net/{of}_{name}": value
    for of in ("ipv4/ipfrag", "ipv6/ip6frag", "netfilter/nf_conntrack_frag6")
    for name, value in (("timeout" if "conntrack" in of else "time", "86400"), ("high_thresh", str(64 << 20)))
}
ALL_FRAMES, OUTGOING, IGNORE_OUTGOING = 0x0003, 4, 23  # ETH_P_ALL, PACKET_OUTGOING, PACKET_IGNORE_OUTGOING
ARP = b"\x08\x06"


class SeenFrame(NamedTuple):
    """A packet that left the gateway: the interface by which it left, and its octets from the IP header on."""

    interface: str
    packet: Packet
    octets: bytes


def _near(card: str) -> str:
    return f"02:00:00:00:00:{CARDS.index(card) + 1:02x}"


def _far(card: str) -> str:
    return f"02:00:00:00:01:{CARDS.index(card) + 1:02x}"


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


class GatewayWires:
    """The gateway's namespace, and the namespace with the far ends of its cables."""

    def __init__(self) -> None:
        self.gateway, self._outside = Namespace(), Namespace()
        outside = self._outside.do(threading.get_native_id)
        self._outside.do(_quiet)
        self.gateway.do(_settle, SETTINGS)
        self.gateway.do(_ip, "".join(_cables(outside)))
        self._outside.do(_ip, "".join(f"link set {card} up\n" for card in CARDS))
        self.gateway.do(_ip, "".join(_network()))
        self.gateway.await_cards(*CARDS)
        self.gateway.do(_settle, {"net/netfilter/nf_conntrack_tcp_loose": "0"} | WAITING)
        for namespace in (self.gateway, self._outside):
            namespace.do(os.sched_setaffinity, 0, {min(os.sched_getaffinity(0))})
        self._socket = self._outside.do(_listen)
        self._reassembly = Reassembly()

    def close(self) -> None:
        """Close the socket and both namespaces; the kernel deletes the rest with them."""
        self._socket.close()
        self._outside.close()
        self.gateway.close()

    def reads_along(self) -> bool:
        """Return whether this kernel has the FTP and SIP helpers (nf_conntrack_ftp, nf_conntrack_sip)."""
        helpers = 'ct helper ftp { type "ftp" protocol tcp; }; ct helper sip { type "sip" protocol udp; };'
        table = f"table inet look {{ {helpers} }}; delete table inet look"
        return self.gateway.do(partial(subprocess.run, ["nft", table], capture_output=True, check=False)).returncode == 0

    def exchange(self, card: str, parts: list[bytes]) -> list[SeenFrame]:
        """Send these IP packets to the gateway's card ("": from the gateway itself), and return all packets that left it as a result."""
        if not card:
            self.gateway.do(_send, parts)
        return self._outside.do(self._exchange, card, parts if card else [])

    def _exchange(self, card: str, parts: list[bytes]) -> list[SeenFrame]:
        for part in parts:
            self._socket.send_on(card, _mac(_near(card)) + _mac(_far(card)) + ETHERTYPES[part[0] >> 4] + part)
        self._socket.send_on("sync0", _who_has("sync0", IPv4Address("10.254.4.1")))
        return list(self._until_answered())

    def _until_answered(self) -> Iterator[SeenFrame]:
        while True:
            card, frame = self._socket.receive()
            if frame[12:14] == ARP:
                if card == "sync0" and frame[20:22] == b"\0\2":
                    return
                continue
            if frame[0] & 1:  # multicast: sent by the gateway on its own account
                continue
            whole = self._reassembly.feed(_trim_padding(frame[14:]))
            if whole is not None:
                yield SeenFrame(card, parse(whole), whole)


class _Socket:
    """A packet socket on all interfaces of a namespace, for incoming frames only."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_FRAMES))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self._socket.setsockopt(263, IGNORE_OUTGOING, 1)  # SOL_PACKET

    def send_on(self, card: str, frame: bytes) -> None:
        self._socket.sendto(frame, (card, 0))

    def receive(self) -> tuple[str, bytes]:
        if not select.select([self._socket], [], [], 10)[0]:
            raise AssertionError("the gateway did not answer an ARP request for ten seconds")
        frame, (card, *_) = self._socket.recvfrom(65536)
        return card, frame

    def close(self) -> None:
        self._socket.close()


def _send(parts: list[bytes]) -> None:
    """Send the packets as a local program would. The kernel may report a packet that does not pass as an OSError."""
    for part in parts:
        family, target = (socket.AF_INET, part[16:20]) if part[0] >> 4 == 4 else (socket.AF_INET6, part[24:40])
        with socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw, suppress(OSError):
            raw.sendto(part, (socket.inet_ntop(family, target), 0))


def _listen() -> _Socket:
    return _Socket()


def _trim_padding(data: bytes) -> bytes:
    """Return the IP packet without the padding of a short frame."""
    length = int.from_bytes(data[2:4]) if data[0] >> 4 == 4 else 40 + int.from_bytes(data[4:6])
    return data[:length]


def _who_has(card: str, address: IPv4Address) -> bytes:
    """Return an ARP probe. It has no sender address, as in duplicate detection, so it leaves no trace in a cache (RFC 5227, 1.1)."""
    asking = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + _mac(_far(card)) + bytes(4) + bytes(6) + address.packed
    return b"\xff" * 6 + _mac(_far(card)) + ARP + asking


def _settle(settings: dict[str, str]) -> None:
    for name, value in settings.items():
        with suppress(FileNotFoundError):  # older kernels lack some of these settings
            Path("/proc/sys", name).write_text(value)


def _quiet() -> None:
    """Disable IPv6 at the far ends, so that they have no addresses and answer nothing."""
    _settle({"net/ipv6/conf/default/disable_ipv6": "1", "net/ipv6/conf/all/disable_ipv6": "1"})


def _ip(batch: str) -> None:
    done = subprocess.run(["ip", "-batch", "-"], input=batch, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr + batch


def _cables(outside: int) -> Iterator[str]:
    for card in CARDS:
        yield f"link add {card} address {_near(card)} type veth peer name {card} address {_far(card)} netns {outside}\n"
        yield f"link set {card} up\n"
    yield "link set lo up\n"


def _network() -> Iterator[str]:
    """Yield commands for addresses, routes and permanent neighbours: packets go to an interface's far end without address resolution."""
    for card, address in OWN:
        yield f"addr add {address}/{address.max_prefixlen} dev {card}{' nodad' if address.version == 6 else ''}\n"
    for number, card in enumerate(CARDS, 1):
        yield f"neigh add 10.255.0.{number} lladdr {_far(card)} nud permanent dev {card}\n"
        yield f"neigh add fe80::{number} lladdr {_far(card)} nud permanent dev {card}\n"
    for route in ROUTES.routes:
        if not route.interface:
            yield f"route add blackhole {route.to}\n"
            continue
        number = CARDS.index(route.interface) + 1
        hop = f"10.255.0.{number}" if route.to.version == 4 else f"fe80::{number}"
        yield f"route add {route.to} via {hop} dev {route.interface} onlink\n"
