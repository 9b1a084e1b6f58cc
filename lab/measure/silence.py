"""Keeps flows to echo servers busy, and measures the longest time without an answer on each.

Reads commands from standard input, a line each: "mark" begins anew, "report" prints a SilenceReport since the last mark. Every flow
sends a line every few milliseconds, whether or not the one before was answered. A flow is lost when its connection broke, or when it
was silent for LATE seconds up to the report.
"""

import selectors
import socket
import sys
import time
from argparse import ArgumentParser
from typing import NamedTuple

from lab.measure.output import report, report_ready

PAUSE = 0.005  # seconds between two lines of a flow
LATE = 10.0  # seconds


class SilenceReport(NamedTuple):
    """The longest time without an answer of each flow, in seconds; the longest one that lasts still; and the flows that were lost."""

    silence: dict[str, float]
    lasting: float
    lost: list[str]


class BusyFlow:
    """A flow, given as protocol/host/port."""

    def __init__(self, name: str) -> None:
        self.name = name
        protocol, host, port = name.split("/")
        self._is_stream = protocol == "tcp"
        kind = socket.SOCK_STREAM if self._is_stream else socket.SOCK_DGRAM
        self.socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)
        self.socket.settimeout(10)
        self.socket.connect((host, int(port)))
        if self._is_stream:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket.recv(4096)  # who answers
        self.socket.setblocking(False)
        self.fault = ""
        self.mark()

    def mark(self) -> None:
        self.longest, self.last = 0.0, time.monotonic()

    def send(self) -> None:
        try:
            self.socket.send(b"still there?\n")
        except BlockingIOError:  # its buffer is full: nothing got through for long
            return
        except OSError as error:
            self._break(error)

    def receive(self) -> bool:
        """Take what arrived. Return False if the connection is broken."""
        try:
            arrived = self.socket.recv(1 << 16)
        except OSError as error:
            return self._break(error)
        if not arrived:
            return self._break(ConnectionResetError("closed by the server"))
        self.measure()
        self.last = time.monotonic()
        return True

    def measure(self) -> None:
        self.longest = max(self.longest, time.monotonic() - self.last)

    @property
    def is_lost(self) -> bool:
        return bool(self.fault) or time.monotonic() - self.last > LATE

    def _break(self, error: OSError) -> bool:
        if self._is_stream:
            self.fault = str(error)
        return not self._is_stream


def main() -> None:
    parser = ArgumentParser("python -m lab.measure.silence", description=__doc__)
    parser.add_argument("flows", nargs="+", metavar="PROTOCOL/HOST/PORT")
    flows = [BusyFlow(name) for name in parser.parse_args().flows]
    with selectors.DefaultSelector() as selector:
        selector.register(sys.stdin, selectors.EVENT_READ)
        for flow in flows:
            selector.register(flow.socket, selectors.EVENT_READ, flow)
        report_ready()
        converse(selector, flows)


def converse(selector: selectors.BaseSelector, flows: list[BusyFlow]) -> None:
    """Send and receive until standard input ends."""
    due = time.monotonic()
    while True:
        for ready, _ in selector.select(max(0.0, due - time.monotonic())):
            if ready.data is None:
                if not (command := sys.stdin.readline().strip()):
                    return
                obey(command, flows)
            elif not ready.data.receive():
                selector.unregister(ready.fileobj)
        if time.monotonic() >= due:
            due = time.monotonic() + PAUSE
            for flow in flows:
                if not flow.fault:
                    flow.send()


def obey(command: str, flows: list[BusyFlow]) -> None:
    for flow in flows:
        flow.mark() if command == "mark" else flow.measure()
    if command == "report":
        silence, lost = {flow.name: flow.longest for flow in flows}, [flow.name for flow in flows if flow.is_lost]
        report(SilenceReport(silence, max(time.monotonic() - flow.last for flow in flows), lost))
