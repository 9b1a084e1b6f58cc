"""What each receive queue of a network card has counted: packets, and those that it dropped.

From the kernel's own statistics of queues, where the driver gives them (linux/netdev.h, Linux 6.10), else from the driver's names in
ethtool's statistics (linux/ethtool.h). Starts no program, and needs no privilege. Drivers that count by card alone have none.
"""

import fcntl
import re
import socket
from array import array
from contextlib import suppress
from struct import Struct, unpack_from
from sys import byteorder
from typing import Final

from firewall.health import MOST_QUEUES, QueueCounters
from gateway.interfaces import iter_dump
from gateway.netlink_attributes import pack_attribute, parse_attribute_text
from gateway.table import TableError

_CONTROL, _GET_FAMILY, _FAMILY_ID, _FAMILY_NAME = 16, 3, 1, 2  # GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_*
_GET_STATISTICS, _CARD, _TYPE, _QUEUE, _SCOPE = 12, 1, 2, 3, 4  # NETDEV_CMD_QSTATS_GET, NETDEV_A_QSTATS_*
_PACKETS, _ALLOCATION_FAILED, _DROPPED = 8, 12, 13
_RECEIVING, _BY_QUEUE = 0, 1  # NETDEV_QUEUE_TYPE_RX, NETDEV_QSTATS_SCOPE_QUEUE
_COMMAND = Struct("=BBH")

_ETHTOOL, _GET_NAMES, _GET_VALUES, _GET_COUNT = 0x8946, 0x1B, 0x1D, 0x37  # SIOCETHTOOL, ETHTOOL_GSTRINGS, _GSTATS, _GSSET_INFO
_STATISTICS_SET, _NAME_LENGTH = 1, 32  # ETH_SS_STATS, ETH_GSTRING_LEN
_REQUEST = Struct("=16s Q 16x")
_MOST_STATISTICS: Final = 4096
_NAMED_PACKETS: Final = re.compile(
    r"rx[-_]?(?:queue_)?(\d+)[._](?:rx_)?(?:packets|pkts)|rx_packets\[(\d+)\]|\[(\d+)\]: rx_ucast_packets|queue_(\d+)_rx_cnt"
)
_NAMED_DROPS: Final = re.compile(r"rx[-_]?(?:queue_)?(\d+)[._](?:rx_)?(?:drops|dropped|discards)|\[(\d+)\]: rx_(?:drops|discards)")


def read_queue_counters(name: str) -> tuple[QueueCounters, ...]:
    """Return the counters of the card's receive queues, in their order; none if its driver does not count by queue."""
    with suppress(OSError, TableError):
        if found := _read_from_kernel(socket.if_nametoindex(name)):
            return found
    with suppress(OSError):
        return parse_driver_statistics(_read_from_driver(name))
    return ()


def _read_from_kernel(card: int) -> tuple[QueueCounters, ...]:
    """Return what the kernel counts. Raises OSError or TableError if it, or the driver, cannot say."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 16) as generic:  # NETLINK_GENERIC
        families = iter_dump(generic, _CONTROL, _COMMAND, _COMMAND.pack(_GET_FAMILY, 1, 0))
        known = {parse_attribute_text(given[_FAMILY_NAME]): _parse_number(given[_FAMILY_ID]) for _, given in families}
        if "netdev" not in known:
            return ()
        asked = pack_attribute(_CARD, card.to_bytes(4, byteorder)) + pack_attribute(_SCOPE, _BY_QUEUE.to_bytes(4, byteorder))
        request = _COMMAND.pack(_GET_STATISTICS, 1, 0) + asked
        found = [given for _, given in iter_dump(generic, known["netdev"], _COMMAND, request)]
    return tuple(
        QueueCounters(
            _parse_number(given[_QUEUE]),
            _parse_number(given[_PACKETS]),
            sum(_parse_number(given[each]) for each in (_ALLOCATION_FAILED, _DROPPED) if each in given),
        )
        for given in found
        if _parse_number(given.get(_TYPE, b"\xff")) == _RECEIVING and _QUEUE in given and _PACKETS in given
    )[:MOST_QUEUES]


def _parse_number(octets: bytes) -> int:
    return int.from_bytes(octets, byteorder)


def _read_from_driver(name: str) -> dict[str, int]:
    """Return the driver's statistics by its own names. Raises OSError if it has none."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as asked:
        counted = array("B", Struct("=IIQI").pack(_GET_COUNT, 0, 1 << _STATISTICS_SET, 0))
        _ask(asked, name, counted)
        number: int = unpack_from("=I", counted, 16)[0]
        if not 0 < number <= _MOST_STATISTICS:
            return {}
        room = 2 * number + 64  # the kernel writes as many as there are by then, whatever it is told
        names = array("B", Struct("=III").pack(_GET_NAMES, _STATISTICS_SET, number) + bytes(room * _NAME_LENGTH))
        values = array("B", Struct("=II").pack(_GET_VALUES, number) + bytes(room * 8))
        _ask(asked, name, names)
        _ask(asked, name, values)
    texts = [
        names[12 + at * _NAME_LENGTH :][:_NAME_LENGTH].tobytes().partition(b"\0")[0].decode("ascii", "replace") for at in range(number)
    ]
    return dict(zip(texts, unpack_from(f"={number}Q", values, 8), strict=True))


def _ask(asked: socket.socket, name: str, buffer: "array[int]") -> None:
    fcntl.ioctl(asked, _ETHTOOL, _REQUEST.pack(name.encode(), buffer.buffer_info()[0]))


def parse_driver_statistics(statistics: dict[str, int]) -> tuple[QueueCounters, ...]:
    """Return the receive queues that a driver counts, by names such as “rx_queue_0_packets”, “rx0_packets” or “rx-0.packets”."""
    packets, dropped = (_pick(statistics, names) for names in (_NAMED_PACKETS, _NAMED_DROPS))
    return tuple(QueueCounters(queue, packets[queue], dropped.get(queue, 0)) for queue in sorted(packets))[:MOST_QUEUES]


def _pick(statistics: dict[str, int], names: re.Pattern[str]) -> dict[int, int]:
    found = [(names.fullmatch(name.strip()), value) for name, value in statistics.items()]
    return {int(next(filter(None, match.groups()))): value for match, value in found if match}
