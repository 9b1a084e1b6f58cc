"""Counters and speeds of the network interfaces, over rtnetlink and ethtool's ioctl.

Layouts: linux/if_link.h (rtnl_link_stats64), linux/ethtool.h (ethtool_cmd), which every user may ask for.
"""

import fcntl
import socket
from array import array
from contextlib import suppress
from struct import Struct

from firewall.health import MOST_LINKS, LinkCounters
from gateway.interfaces import iter_links
from gateway.table import TableError

_STATISTICS = 23  # IFLA_STATS64
_VALUES = Struct("=24Q")
_PACKETS, _OCTETS, _ERRORS, _DROPPED, _MISSED = 0, 2, 4, 6, 15  # received; what is sent stands right behind each of the first four
_ETHTOOL, _GET_SETTINGS = 0x8946, 1  # SIOCETHTOOL, ETHTOOL_GSET
_SETTINGS = Struct("=III H 14x H 14x")  # cmd, supported, advertising, speed, …, speed_hi
_REQUEST = Struct("=16s Q 16x")
_UNKNOWN = 0xFFFFFFFF


def read_links() -> tuple[LinkCounters, ...]:
    """Return the interfaces without loopback, by name. Raises TableError."""
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE) as route:
            found = [(name, is_up, given[_STATISTICS]) for name, is_up, given in iter_links(route) if _STATISTICS in given]
    except OSError as error:
        raise TableError(f"the counters of the interfaces cannot be read: {error.strerror}") from error
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as asked:
        return tuple(_build_counters(name, is_up, octets, _read_speed(asked, name)) for name, is_up, octets in sorted(found)[:MOST_LINKS])


def _build_counters(name: str, is_up: bool, octets: bytes, speed: int) -> LinkCounters:
    values = _VALUES.unpack_from(octets)
    received = (values[_PACKETS], values[_OCTETS], values[_ERRORS], values[_DROPPED] + values[_MISSED])
    return LinkCounters(name, is_up, speed, *received, *(values[at + 1] for at in (_PACKETS, _OCTETS, _ERRORS, _DROPPED)))


def _read_speed(asked: socket.socket, name: str) -> int:
    """Return the link's speed in Mbit/s, 0 if the driver tells none."""
    settings = array("B", _SETTINGS.pack(_GET_SETTINGS, 0, 0, 0, 0))
    with suppress(OSError):
        fcntl.ioctl(asked, _ETHTOOL, _REQUEST.pack(name.encode(), settings.buffer_info()[0]))
        *_, low, high = _SETTINGS.unpack(settings)
        speed: int = high << 16 | low
        return 0 if speed in (0xFFFF, _UNKNOWN) else speed
    return 0
