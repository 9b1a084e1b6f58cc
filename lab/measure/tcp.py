"""Sends or receives octets over one TCP connection, and reports amount, duration, checksums of both ends and retransmits."""

import json
import os
import socket
import struct
import time
from argparse import ArgumentParser
from hashlib import sha256
from typing import NamedTuple

from lab.measure.output import report, report_ready

CHUNK = 65536
TOTAL_RETRANSMITS = struct.Struct("100xI")  # tcpi_total_retrans in struct tcp_info, linux/tcp.h


class TcpReceiverReport(NamedTuple):
    """The receiver's report: `peer` is the sender's address as seen here; `sha256` is of all octets, in hexadecimal digits."""

    octets: int
    sha256: str
    seconds: float
    peer: str


class Transfer(NamedTuple):
    """The sender's report; `arrived` is the receiver's, sent at the end over the same connection.

    A few `retransmits` are no proof of loss: on a busy machine the sender probes when an acknowledgement is late (RFC 8985).
    """

    octets: int
    sha256: str
    seconds: float
    retransmits: int
    arrived: TcpReceiverReport

    @property
    def is_intact(self) -> bool:
        return (self.octets, self.sha256) == (self.arrived.octets, self.arrived.sha256)


def send(host: str, port: int, *, octets: int, rate: float, timeout: float) -> Transfer:
    """Send random octets. `rate` is in octets per second, 0 for no limit; `timeout` is the longest silence of the connection, in
    seconds.
    """
    with socket.create_connection((host, port), timeout=timeout) as connection:
        start = time.monotonic()
        digest = sha256()
        for sent in range(0, octets, CHUNK):
            time.sleep(max(0.0, start + sent / rate - time.monotonic()) if rate else 0.0)
            chunk = os.urandom(min(CHUNK, octets - sent))
            digest.update(chunk)
            connection.sendall(chunk)
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as stream:
            arrived = TcpReceiverReport(**json.loads(stream.readline()))
        seconds = round(time.monotonic() - start, 3)
        return Transfer(octets, digest.hexdigest(), seconds, _count_retransmits(connection), arrived)


def receive(port: int, *, timeout: float) -> TcpReceiverReport:
    """Receive one connection. `timeout` is the longest wait for it, and its longest silence, in seconds."""
    with socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True) as listener:
        listener.settimeout(timeout)
        report_ready()
        connection, peer = listener.accept()
    with connection:
        connection.settimeout(timeout)
        start = time.monotonic()
        digest, octets = sha256(), 0
        while chunk := connection.recv(CHUNK):
            digest.update(chunk)
            octets += len(chunk)
        seconds = round(time.monotonic() - start, 3)
        arrived = TcpReceiverReport(octets, digest.hexdigest(), seconds, peer[0].removeprefix("::ffff:"))
        connection.sendall(json.dumps(arrived._asdict()).encode() + b"\n")
        return arrived


def _count_retransmits(connection: socket.socket) -> int:
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    count: int = TOTAL_RETRANSMITS.unpack_from(info)[0]
    return count


def main() -> None:
    parser = ArgumentParser("python -m lab.measure.tcp", description=__doc__)
    roles = parser.add_subparsers(dest="role", required=True)
    sending = roles.add_parser("send")
    sending.add_argument("host")
    sending.add_argument("port", type=int)
    sending.add_argument("--octets", type=int, default=1_000_000)
    sending.add_argument("--rate", type=float, default=0, help="octets per second; 0: as fast as it goes")
    receiving = roles.add_parser("receive")
    receiving.add_argument("port", type=int)
    for role in (sending, receiving):
        role.add_argument("--timeout", type=float, default=10, help="seconds of silence that end it")
    options = parser.parse_args()
    if options.role == "send":
        report(send(options.host, options.port, octets=options.octets, rate=options.rate, timeout=options.timeout))
    else:
        report(receive(options.port, timeout=options.timeout))


if __name__ == "__main__":
    main()
