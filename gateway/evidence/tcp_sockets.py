"""Lists the machine's own TCP connections with what TCP knows of each, as `ss -tin` does, and marks those that lack SACK or window scaling.

Connections that are merely forwarded have no socket here: the packet headers show how they began. Layouts: linux/inet_diag.h,
linux/sock_diag.h, struct tcp_info in linux/tcp.h. Every user may ask.
"""

import socket
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from struct import Struct
from types import MappingProxyType
from typing import Any

from firewall.evidence import EvidenceKind
from gateway.evidence.part import Deadline, PartContent, build_text
from gateway.interfaces import iter_dump

_SOCK_DIAG, _BY_FAMILY = 4, 20
_REQUEST = Struct("=BBBxI48x")  # family, protocol, extensions, states
_MESSAGE = Struct("=BBBB 2s2s 16s16s I8x IIIII")
_INFO = Struct("=8B24I")
_INFO_EXTENSION, _CONGESTION_EXTENSION = 2, 4  # INET_DIAG_INFO, INET_DIAG_CONG
_STATES: Mapping[int, str] = MappingProxyType(
    {1: "established", 2: "syn-sent", 4: "fin-wait-1", 5: "fin-wait-2", 8: "close-wait", 9: "last-ack", 11: "closing"}
)
_SACK, _SCALING = 0x2, 0x4  # TCPI_OPT_*
_BEGINS = frozenset({2})  # states in which the other side has not answered yet, so that nothing is agreed
_FIELDS = (
    ("rto", 0),
    ("mss", 2),
    ("unacked", 4),
    ("lost", 6),
    ("retrans", 23),
    ("pmtu", 13),
    ("rtt_us", 15),
    ("ssthresh", 17),
    ("cwnd", 18),
)
"""What is shown, with its place among the numbers of struct tcp_info."""


def read_tcp_sockets(_deadline: Deadline) -> PartContent:
    """Return a line for each connection. Raises TableError or OSError."""
    lines = [line for family in (socket.AF_INET, socket.AF_INET6) for line in _iter_lines(family)]
    marked = sum(line.startswith("!") for line in lines)
    head = f"{len(lines)} TCP connections of this machine itself, {marked} of them (marked by !) without SACK or window scaling"
    return build_text(EvidenceKind.SOCKETS, [head, *sorted(lines, key=lambda line: not line.startswith("!"))])


def _iter_lines(family: int) -> Iterator[str]:
    extensions = sum(1 << each - 1 for each in (_INFO_EXTENSION, _CONGESTION_EXTENSION))
    request = _REQUEST.pack(family, socket.IPPROTO_TCP, extensions, sum(1 << state for state in _STATES))
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG) as asked:
        for fields, given in iter_dump(asked, _BY_FAMILY, _MESSAGE, request):
            yield _describe(family, fields, given)


def _describe(family: int, fields: tuple[Any, ...], given: Mapping[int, bytes]) -> str:
    _, state, _, _, source_port, destination_port, source, destination, _, _, received, sent, _, _ = fields
    ends = f"{_format_end(family, source, source_port)} {_format_end(family, destination, destination_port)}"
    info = given.get(_INFO_EXTENSION, b"")
    congestion = given.get(_CONGESTION_EXTENSION, b"").rstrip(b"\0").decode(errors="replace")
    told = _describe_info(info, begins=state in _BEGINS) if len(info) >= _INFO.size else "? unknown"
    mark, _, words = told.partition(" ")
    return f"{mark} {_STATES.get(state, state)} {ends} recv-q:{received} send-q:{sent} {congestion} {words}"


def _describe_info(info: bytes, *, begins: bool) -> str:
    """Return "!" and what was not agreed, or "-", and the numbers."""
    octets, numbers = _INFO.unpack_from(info)[:8], _INFO.unpack_from(info)[8:]
    options, scales = octets[5], octets[6]
    missing = [name for name, flag in (("NO-SACK", _SACK), ("NO-WINDOW-SCALING", _SCALING)) if not (begins or options & flag)]
    values = " ".join(f"{name}:{numbers[at]}" for name, at in _FIELDS)
    return " ".join(["!" if missing else "-", *missing, f"wscale:{scales & 15},{scales >> 4}", values])


def _format_end(family: int, address: bytes, port: bytes) -> str:
    if family == socket.AF_INET:
        return f"{ip_address(address[:4])}:{int.from_bytes(port)}"
    return f"[{ip_address(address)}]:{int.from_bytes(port)}"
