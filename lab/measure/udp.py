"""Sends or receives a paced stream of numbered UDP datagrams, and counts lost, duplicate and reordered ones.

Every datagram carries its number and the total, so nothing but the datagrams themselves crosses the network, and a byte counter
on the way can be compared exactly: each datagram counts `size` octets and the IP and UDP headers.
"""

import socket
import struct
import time
from argparse import ArgumentParser
from typing import NamedTuple

from lab.measure.output import report, report_ready

HEADER = struct.Struct("!III")  # stream, number, total
SO_TIMESTAMPNS = 35  # asm-generic/socket.h: the time when the kernel received it, not when this program read it
SO_RCVBUFFORCE = 33
BUFFER = 64 << 20


class UdpSenderReport(NamedTuple):
    """The sender's counts.

    `failed` are the datagrams that the kernel refused, or for which it reported an earlier one as unreachable. `size` is in
    octets, without headers.
    """

    sent: int
    failed: int
    size: int
    seconds: float


class UdpReceiverReport(NamedTuple):
    """The receiver's counts. `received` counts each number once; `peer` is the address of the first datagram's sender, as seen
    here.
    """

    expected: int
    received: int
    missing: int
    duplicate: int
    reordered: int
    longest_gap_ms: float
    peer: str


class ReceivedStreamTally:
    """Counts the datagrams of the first stream that arrives; ignores other streams."""

    def __init__(self) -> None:
        self.stream: int | None = None
        self.expected = self.duplicate = self.reordered = 0
        self.peer = ""
        self.numbers: set[int] = set()
        self._highest = -1
        self._last_ns = self._gap_ns = 0

    @property
    def is_complete(self) -> bool:
        return self.stream is not None and len(self.numbers) == self.expected

    def add(self, datagram: bytes, peer: str, arrived_ns: int) -> None:
        if len(datagram) < HEADER.size:
            return
        stream, number, total = HEADER.unpack_from(datagram)
        if self.stream is None:
            self.stream, self.expected, self.peer, self._last_ns = stream, total, peer, arrived_ns
        if stream != self.stream:
            return
        self._gap_ns = max(self._gap_ns, arrived_ns - self._last_ns)
        self._last_ns = arrived_ns
        self._place(number)

    def _place(self, number: int) -> None:
        if number in self.numbers:
            self.duplicate += 1
            return
        self.reordered += number < self._highest
        self._highest = max(self._highest, number)
        self.numbers.add(number)

    def build_report(self) -> UdpReceiverReport:
        missing = self.expected - len(self.numbers)
        gap = round(self._gap_ns / 1e6, 3)
        return UdpReceiverReport(self.expected, len(self.numbers), missing, self.duplicate, self.reordered, gap, self.peer)


def send(host: str, port: int, *, rate: float, seconds: float, size: int) -> UdpSenderReport:
    """Send the stream. `rate` is in datagrams per second. A late datagram is sent at once; their number is always rate × seconds."""
    total = round(rate * seconds)
    stream = time.monotonic_ns() & 0xFFFFFFFF
    padding = bytes(size - HEADER.size)
    failed = 0
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect((host, port))
        start = time.monotonic()
        for number in range(total):
            time.sleep(max(0.0, start + number / rate - time.monotonic()))
            try:
                sender.send(HEADER.pack(stream, number, total) + padding)
            except OSError:
                failed += 1
    return UdpSenderReport(total - failed, failed, size, round(time.monotonic() - start, 3))


def receive(port: int, *, patience: float, idle: float) -> UdpReceiverReport:
    """Receive one stream and return its report.

    Ends 50 ms after the last datagram (to see duplicates), after `idle` seconds without one, or after `patience` seconds without
    a first one.
    """
    tally = ReceivedStreamTally()
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as receiver:
        receiver.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
        receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        receiver.bind(("::", port))
        report_ready()
        while True:
            receiver.settimeout(0.05 if tally.is_complete else idle if tally.stream is not None else patience)
            try:
                datagram, ancillary, _, peer = receiver.recvmsg(65536, 64)
            except TimeoutError:
                return tally.build_report()
            tally.add(datagram, peer[0].removeprefix("::ffff:"), _get_arrival_time(ancillary))


def _get_arrival_time(ancillary: list[tuple[int, int, bytes]]) -> int:
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
            seconds, nanoseconds = struct.unpack("qq", data)
            return int(seconds) * 1_000_000_000 + int(nanoseconds)
    return time.time_ns()


def main() -> None:
    parser = ArgumentParser("python -m lab.measure.udp", description=__doc__)
    roles = parser.add_subparsers(dest="role", required=True)
    sending = roles.add_parser("send")
    sending.add_argument("host")
    sending.add_argument("port", type=int)
    sending.add_argument("--rate", type=float, default=1000, help="datagrams per second")
    sending.add_argument("--seconds", type=float, default=1)
    sending.add_argument("--size", type=int, default=100, help="octets in each, at least 12")
    receiving = roles.add_parser("receive")
    receiving.add_argument("port", type=int)
    receiving.add_argument("--patience", type=float, default=10, help="seconds to wait for the first")
    receiving.add_argument("--idle", type=float, default=1, help="seconds of silence that end the stream")
    options = parser.parse_args()
    if options.role == "send":
        report(send(options.host, options.port, rate=options.rate, seconds=options.seconds, size=options.size))
    else:
        report(receive(options.port, patience=options.patience, idle=options.idle))


if __name__ == "__main__":
    main()
