"""Queueing disciplines, filters and IFB devices over rtnetlink, in the calling thread's network namespace.

Knows attributes, but not what a gateway's uplink should have. Layouts: linux/rtnetlink.h, linux/pkt_sched.h, linux/pkt_cls.h; values are
in the machine's byte order.
"""

import os
import socket
import sys
from dataclasses import dataclass
from struct import Struct
from types import TracebackType
from typing import Final, Self

from gateway.host_filter import Program, pack_program
from gateway.interfaces import iter_dump
from gateway.netlink_attributes import pack_attribute, pack_nested, pack_text, parse_attribute_text, parse_attributes
from gateway.table import TableError

INGRESS_PARENT: Final = 0xFFFF_FFF2  # TC_H_CLSACT with TC_H_MIN_INGRESS: where a packet arrives
EGRESS_PARENT: Final = 0xFFFF_FFF3
ROOT: Final = 0xFFFF_FFFF
INGRESS_OWNER: Final = 0xFFFF_FFF1
"""The parent of what holds the filters of arriving packets."""
_INGRESS_HANDLE = 0xFFFF_0000
_HEADER, _LINK, _TRAFFIC, _CODE = Struct("=IHHII"), Struct("=BxHiII"), Struct("=BxxxiIII"), Struct("=i")
_NEWLINK, _DELLINK, _GETLINK = 16, 17, 18
_NEWQDISC, _DELQDISC, _GETQDISC = 36, 37, 38
_NEWTFILTER, _DELTFILTER, _GETTFILTER = 44, 45, 46
_REQUEST_ACK, _REPLACE, _EXCLUSIVE, _CREATE = 0x5, 0x100, 0x200, 0x400
_ERROR = 2
_SOL_NETLINK, _CAP_ACK, _EXT_ACK = 270, 10, 11
_MESSAGE = 1  # NLMSGERR_ATTR_MSG
_LINK_NAME, _LINK_INFO, _INFO_KIND = 3, 18, 1
_UP, _LOOPBACK = 0x1, 0x8
_KIND, _OPTIONS = 1, 2
_BPF_ACTION, _BPF_LENGTH, _BPF_INSTRUCTIONS = 1, 4, 5
_ACTION_KIND, _ACTION_OPTIONS, _MIRRED_PARAMETERS = 1, 2, 2
_MIRRED = Struct("=IIiiiiI")  # tc_gen, the action of tc, and the device
_STOLEN, _REDIRECT = 4, 1  # TC_ACT_STOLEN, TCA_EGRESS_REDIR
_ALL_PROTOCOLS = socket.htons(0x0003)  # ETH_P_ALL
_FILTER_HANDLE = 1


class TrafficControlError(TableError):
    """The kernel refused. code: its errno."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{os.strerror(code)}: {message}" if message else os.strerror(code))
        self.code = code


@dataclass(frozen=True, slots=True)
class Queue:
    """A queueing discipline of a device. options: as the kernel lists them, in a layout that depends on the kind."""

    device: int
    kind: str
    handle: int
    parent: int
    options: bytes


@dataclass(frozen=True, slots=True)
class TrafficFilter:
    """A filter. program: of kind bpf alone. target: index of the device to which it redirects packets, 0 if it does not."""

    kind: str
    priority: int
    program: bytes
    target: int


class TrafficControl:
    """One socket of rtnetlink."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)
        self._socket.setsockopt(_SOL_NETLINK, _EXT_ACK, 1)
        self._socket.setsockopt(_SOL_NETLINK, _CAP_ACK, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._socket.close()

    def _tell(self, kind: int, flags: int, body: bytes) -> None:
        """Send one request, and wait for its acknowledgement. Raises TrafficControlError."""
        self._socket.send(_HEADER.pack(_HEADER.size + len(body), kind, _REQUEST_ACK | flags, kind, 0) + body)
        octets = self._socket.recv(1 << 16)
        while _HEADER.unpack_from(octets)[1] != _ERROR:
            octets = self._socket.recv(1 << 16)
        if code := -_CODE.unpack_from(octets, _HEADER.size)[0]:
            told = parse_attributes(octets[2 * _HEADER.size + _CODE.size :])
            raise TrafficControlError(code, parse_attribute_text(told.get(_MESSAGE, b"")))

    def list_devices(self) -> dict[str, int]:
        """Return the indexes of all devices but loopback, by name."""
        found = iter_dump(self._socket, _GETLINK, _LINK)
        return {parse_attribute_text(given[_LINK_NAME]): index for (_, _, index, flags, _), given in found if not flags & _LOOPBACK}

    def create_ifb(self, name: str) -> None:
        """Create an IFB device, and switch it on."""
        info = pack_nested(_LINK_INFO, pack_text(_INFO_KIND, "ifb"))
        self._tell(_NEWLINK, _CREATE | _EXCLUSIVE, _LINK.pack(0, 0, 0, _UP, _UP) + pack_text(_LINK_NAME, name) + info)

    def delete_device(self, index: int) -> None:
        """Delete a device. What was redirected to it is dropped from then on, until the redirection is deleted too."""
        self._tell(_DELLINK, 0, _LINK.pack(0, 0, index, 0, 0))

    def list_queues(self) -> list[Queue]:
        """Return the queueing disciplines of all devices."""
        found = iter_dump(self._socket, _GETQDISC, _TRAFFIC)
        return [
            Queue(device, parse_attribute_text(given[_KIND]), handle, parent, given.get(_OPTIONS, b""))
            for (_, device, handle, parent, _), given in found
        ]

    def replace_root(self, device: int, handle: int, kind: str, options: bytes) -> None:
        """Make this queueing discipline the device's own, or change its options if it is that already."""
        head = _TRAFFIC.pack(0, device, handle, ROOT, 0)
        self._tell(_NEWQDISC, _CREATE | _REPLACE, head + pack_text(_KIND, kind) + pack_attribute(_OPTIONS, options))

    def delete_root(self, device: int, handle: int) -> None:
        """Give the device the queueing discipline back that the kernel makes by itself."""
        self._tell(_DELQDISC, 0, _TRAFFIC.pack(0, device, handle, ROOT, 0))

    def add_ingress(self, device: int) -> None:
        """Let the device have filters for what arrives."""
        head = _TRAFFIC.pack(0, device, _INGRESS_HANDLE, INGRESS_OWNER, 0)
        self._tell(_NEWQDISC, _CREATE | _EXCLUSIVE, head + pack_text(_KIND, "clsact"))

    def delete_ingress(self, device: int) -> None:
        """Take this away again, with all its filters."""
        self._tell(_DELQDISC, 0, _TRAFFIC.pack(0, device, _INGRESS_HANDLE, INGRESS_OWNER, 0))

    def list_filters(self, device: int, parent: int) -> list[TrafficFilter]:
        """Return the filters of a queueing discipline, or of where packets arrive or leave."""
        request = _TRAFFIC.pack(0, device, 0, parent, 0)
        found = iter_dump(self._socket, _GETTFILTER, _TRAFFIC, request)
        return [_parse_filter(info, given) for (_, _, handle, _, info), given in found if handle]

    def replace_filter(self, device: int, parent: int, priority: int, program: Program, *, redirect_to: int = 0) -> None:
        """Add a filter of classic BPF, or replace the one with the same priority. redirect_to: a device for all that it matches."""
        code = pack_program(program)
        parts = [pack_attribute(_BPF_LENGTH, len(program).to_bytes(2, sys.byteorder)), pack_attribute(_BPF_INSTRUCTIONS, code)]
        if redirect_to:
            parameters = _MIRRED.pack(0, 0, _STOLEN, 0, 0, _REDIRECT, redirect_to)
            mirred = pack_text(_ACTION_KIND, "mirred") + pack_nested(_ACTION_OPTIONS, pack_attribute(_MIRRED_PARAMETERS, parameters))
            parts.append(pack_nested(_BPF_ACTION, pack_nested(1, mirred)))
        head = _TRAFFIC.pack(0, device, _FILTER_HANDLE, parent, priority << 16 | _ALL_PROTOCOLS)
        self._tell(_NEWTFILTER, _CREATE, head + pack_text(_KIND, "bpf") + pack_nested(_OPTIONS, *parts))

    def delete_filters(self, device: int, parent: int, priority: int) -> None:
        """Delete the filters with this priority."""
        self._tell(_DELTFILTER, 0, _TRAFFIC.pack(0, device, 0, parent, priority << 16 | _ALL_PROTOCOLS))


def _parse_filter(info: int, given: dict[int, bytes]) -> TrafficFilter:
    kind = parse_attribute_text(given.get(_KIND, b""))
    options = parse_attributes(given.get(_OPTIONS, b"")) if kind == "bpf" else {}
    actions = parse_attributes(options.get(_BPF_ACTION, b"")).values()
    targets = [parse_attributes(parse_attributes(each).get(_ACTION_OPTIONS, b"")).get(_MIRRED_PARAMETERS, b"") for each in actions]
    redirected = [target for each in targets if len(each) >= _MIRRED.size for target in (_MIRRED.unpack_from(each)[-1],)]
    return TrafficFilter(kind, info >> 16, options.get(_BPF_INSTRUCTIONS, b""), redirected[0] if redirected else 0)
