"""Takes headers of the packets that pass some interfaces, for a few seconds, as a pcap file. Needs CAP_NET_RAW (packet(7)).

Packets are cut before anything is kept of them. Of a busy gateway's packets, so many are taken in each part of the time that a core
has time for more important work. Format: pcap with nanoseconds, LINKTYPE_LINUX_SLL2 (tcpdump.org/linktypes).
"""

import errno
import selectors
import socket
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from struct import Struct
from time import monotonic, time_ns

from firewall.evidence import MOST_PACKETS
from gateway.evidence.packet_cut import LONGEST, cut_packet
from gateway.evidence.part import Deadline, PartContent, PartMissingError

_SLICE = 0.1  # seconds
_AT_ONCE = 64  # packets of one interface before the others have their turn
_ALL = 3  # ETH_P_ALL
_TIMESTAMP = 35  # SO_TIMESTAMPNS, and the kind of its message
_SOL_PACKET, _STATISTICS = 263, 6
_COUNTED = Struct("=II")  # struct tpacket_stats
_TIME = Struct("@ll")
_FILE = Struct("=IHHiIII")
_RECORD = Struct("=IIII")
_LINK = Struct(">HHIHBB8s")  # protocol, 0, interface, ARPHRD, packet type, length of the address, address
_MAGIC, _LINKTYPE = 0xA1B23C4D, 276


class HeaderCapture:
    """Sockets at interfaces, from when it is made until `close`. Raises PartMissingError if there is no interface to take packets at."""

    def __init__(self, interfaces: Collection[str]) -> None:
        self._exits = ExitStack()
        self._sockets: list[socket.socket] = []
        self._selector = self._exits.enter_context(selectors.DefaultSelector())
        self._buffer = bytearray(LONGEST)
        self._written = 0
        self._missing = [name for name in interfaces if not self._listen(name)]
        if len(self._missing) == len(interfaces):
            self.close()
            raise PartMissingError(f"There is no interface to take packets at: {', '.join(interfaces) or 'none was named'}.")

    def _listen(self, name: str) -> bool:
        """Open a socket at this interface. False if there is no such interface, or it is switched off."""
        try:
            own = self._exits.enter_context(socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, 0))
            own.setblocking(False)
            own.setsockopt(socket.SOL_SOCKET, _TIMESTAMP, 1)
            own.bind((name, _ALL))
            if own.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                return False
        except OSError as error:
            if error.errno in (errno.ENODEV, errno.ENETDOWN, errno.ENXIO):
                return False
            self.close()
            why = "it lacks CAP_NET_RAW or AF_PACKET: install the portal's netzwart-agent there" if _is_refusal(error) else error.strerror
            raise PartMissingError(f"The agent may not take packets here: {why}.") from error
        self._selector.register(own, selectors.EVENT_READ, (own, socket.if_nametoindex(name)))
        self._sockets.append(own)
        return True

    def close(self) -> None:
        """Close all sockets."""
        self._exits.close()

    def run(self, seconds: int, deadline: Deadline) -> PartContent:
        """Take headers for so many seconds and return the file."""
        records = [_FILE.pack(_MAGIC, 2, 4, 0, 0, LONGEST + _LINK.size, _LINKTYPE)]
        begun, share = monotonic(), max(int(MOST_PACKETS * _SLICE / seconds), 1)
        for number in range(1, round(seconds / _SLICE) + 1):
            end, left = begun + number * _SLICE, share
            while left > 0 and monotonic() < end and not deadline.is_over:
                ready = [key.data for key, _ in self._selector.select(max(end - monotonic(), 0))]
                taken = [record for own, index in ready for record in self._iter_records(own, index, left)]
                records += taken[:left]
                left -= len(taken)
            if deadline.is_over:
                break
            deadline.sleep(end - monotonic())
        self._written = len(records) - 1
        return PartContent(b"".join(records), self._build_note())

    def _iter_records(self, own: socket.socket, index: int, most: int) -> Iterator[bytes]:
        """Yield a record for each packet that waits at this interface's socket."""
        for _ in range(min(most, _AT_ONCE)):
            try:
                length, messages, _flags, sender = own.recvmsg_into([self._buffer], socket.CMSG_SPACE(_TIME.size), socket.MSG_TRUNC)
            except OSError:  # nothing waits, or the interface is gone
                return
            protocol, kind, hardware, address = sender[1:5]
            headers = cut_packet(protocol, bytes(self._buffer[: min(length, LONGEST)]))
            link = _LINK.pack(protocol, 0, index, hardware, kind, min(len(address), 8), address[:8])
            yield _RECORD.pack(*_read_time(messages), _LINK.size + len(headers), _LINK.size + length) + link + headers

    def _build_note(self) -> str:
        seen = sum(_COUNTED.unpack(own.getsockopt(_SOL_PACKET, _STATISTICS, _COUNTED.size))[0] for own in self._sockets)
        notes = []
        if seen > self._written:
            notes.append(f"{self._written} of {seen} packets: more than the agent takes in this time.")
        if self._missing:
            notes.append(f"Not taken at {', '.join(self._missing)}: no such interface, or it is switched off.")
        return " ".join(notes)


def _is_refusal(error: OSError) -> bool:
    return error.errno in (errno.EPERM, errno.EACCES, errno.EAFNOSUPPORT)


def _read_time(messages: list[tuple[int, int, bytes]]) -> tuple[int, int]:
    """Return when the kernel saw the packet: seconds and nanoseconds."""
    for _level, kind, octets in messages:
        if kind == _TIMESTAMP and len(octets) >= _TIME.size:
            seconds, nanoseconds = _TIME.unpack_from(octets)
            return seconds & 0xFFFFFFFF, nanoseconds
    return divmod(time_ns(), 1_000_000_000)
