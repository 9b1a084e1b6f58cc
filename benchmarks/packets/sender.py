"""Sends prepared frames as fast as the kernel takes them, and measures the CPU time of each (sendmmsg(2), packet(7))."""

import ctypes
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lab.datagram import compute_checksum

BURST = 512  # frames between two readings of the clock
UDP, HOPS = 17, 64
SOL_PACKET, PACKET_QDISC_BYPASS = 263, 20  # linux/socket.h, linux/if_packet.h
SO_RCVBUFFORCE, RECEIVE = 33, 64 << 20  # asm-generic/socket.h; octets
EVERYTHING = 3  # ETH_P_ALL: before a card's ingress chain drops it


class Datagram(NamedTuple):
    """Source and destination of a datagram: addresses and ports as numbers."""

    source: int
    source_port: int
    destination: int
    destination_port: int

    def build_answer(self) -> "Datagram":
        """Return the datagram that answers this one."""
        return Datagram(self.destination, self.destination_port, self.source, self.source_port)


def build_frame(datagram: Datagram, to: str, sender: str) -> bytes:
    """Build a frame of 60 octets, without a UDP checksum (RFC 768 allows that over IPv4)."""
    ends = struct.pack("!II", datagram.source, datagram.destination)
    bare = struct.pack("!BBHHHBBH", 0x45, 0, 46, 0, 0, HOPS, UDP, 0) + ends
    header = bare[:10] + struct.pack("!H", compute_checksum(bare)) + bare[12:]
    ports = struct.pack("!HHHH", datagram.source_port, datagram.destination_port, 26, 0)
    return _parse_mac(to) + _parse_mac(sender) + b"\x08\0" + header + ports + bytes(18)


def read(data: bytes) -> Datagram | None:
    """Return the datagram in a frame; None if it is something else."""
    if data[12:14] != b"\x08\0" or data[23] != UDP:
        return None
    source, destination, source_port, destination_port = struct.unpack_from("!IIHH", data, 26)
    return Datagram(source, source_port, destination, destination_port)


def _parse_mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


class _Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class _Header(ctypes.Structure):
    """struct msghdr, which ends with padding on 64 bits"""

    _fields_ = (
        ("name", ctypes.c_void_p),
        ("name_length", ctypes.c_uint32),
        ("vectors", ctypes.POINTER(_Vector)),
        ("vectors_length", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_length", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    )


class _Message(ctypes.Structure):
    """struct mmsghdr. sent: octets, written by the kernel"""

    _fields_ = (("header", _Header), ("sent", ctypes.c_uint))


class Train:
    """Frames in the order in which they are sent, laid out for the kernel once."""

    def __init__(self, frames: Sequence[bytes]) -> None:
        self._octets = ctypes.create_string_buffer(b"".join(frames))
        self._vectors, self.messages = (_Vector * len(frames))(), (_Message * len(frames))()
        at = ctypes.addressof(self._octets)
        for number, each in enumerate(frames):
            self._vectors[number] = _Vector(at, len(each))
            self.messages[number].header.vectors = ctypes.pointer(self._vectors[number])
            self.messages[number].header.vectors_length = 1
            at += len(each)

    def __len__(self) -> int:
        return len(self.messages)


class Sender:
    """A raw socket on one card of the calling thread's namespace."""

    def __init__(self, card: str) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._socket.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
        self._socket.bind((card, 0))
        self._send = ctypes.CDLL(None, use_errno=True).sendmmsg

    def iter_bursts(self, train: Train) -> Iterator[float]:
        """Send the train. Yield for each whole burst the nanoseconds of this thread's CPU time per frame, including the path behind it."""
        for start in range(0, len(train), BURST):
            count = min(BURST, len(train) - start)
            before = time.thread_time_ns()
            self._send_all(train, start, count)
            if count == BURST:
                yield (time.thread_time_ns() - before) / count

    def _send_all(self, train: Train, start: int, count: int) -> None:
        size = ctypes.sizeof(_Message)
        while count:
            sent = self._send(self._socket.fileno(), ctypes.byref(train.messages, start * size), count, 0)
            if sent <= 0:
                raise OSError(ctypes.get_errno(), "sendmmsg took no frame")
            start, count = start + sent, count - sent

    def close(self) -> None:
        self._socket.close()


class FrameListener:
    """Receives every frame that comes out at one card of the calling thread's namespace."""

    def __init__(self, card: str) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERYTHING))
        self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE)
        self._socket.bind((card, EVERYTHING))
        self._socket.setblocking(False)

    def iter_datagrams(self) -> Iterator[Datagram]:
        """Yield everything that has arrived so far."""
        while True:
            try:
                datagram = read(self._socket.recv(128))
            except BlockingIOError:
                return
            if datagram:
                yield datagram

    def close(self) -> None:
        self._socket.close()
