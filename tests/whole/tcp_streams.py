"""TCP connections between members and the internet that send as fast as they can, and count what arrives."""

import socket
import time
from contextlib import closing
from threading import Thread

from firewall.ruleset import BURST
from lab.lab import Lab
from tests.whole.system import inside, wait_for


def connect_to_internet(lab: Lab, host: str, other: str) -> tuple[socket.socket, socket.socket]:
    """Connect from the host to a new port of the internet's address `other`. Return both ends, the host's first."""
    family = socket.AF_INET6 if ":" in other else socket.AF_INET
    with inside(lab, "internet"):
        listener = socket.create_server((other, 0), family=family)
    with closing(listener):
        with inside(lab, host):
            near = socket.create_connection(listener.getsockname()[:2], timeout=10)
        far, _peer = listener.accept()
    for each in (near, far):
        each.settimeout(60)
    return near, far


class Speaker:
    """Connection that sends as much as TCP takes, in one direction, until it is closed. `octets`: what has arrived."""

    def __init__(self, lab: Lab, host: str, other: str, *, up: bool) -> None:
        near, far = connect_to_internet(lab, host, other)
        self._source, self._sink = (near, far) if up else (far, near)
        self.octets, self.since = 0, time.monotonic()
        self._threads = [Thread(target=self._send, daemon=True), Thread(target=self._receive, daemon=True)]
        for thread in self._threads:
            thread.start()

    def _send(self) -> None:
        chunk = bytes(1 << 14)
        try:
            while True:
                self._source.sendall(chunk)
        except OSError:
            return

    def _receive(self) -> None:
        try:
            while got := self._sink.recv(1 << 16):
                self.octets += len(got)
        except OSError:
            return

    def close(self) -> None:
        for each in (self._source, self._sink):
            each.close()


def is_rate_limited(speaker: Speaker, rate: int) -> bool:
    """Return whether no more arrived than a full bucket and its refills at this rate, in octets a second.

    Valid only for a member who was limited before the connection began.
    """
    return speaker.octets <= rate * (1 + time.monotonic() - speaker.since) + BURST


def wait_until_unlimited(speaker: Speaker, rate: int) -> None:
    """Wait until twice as much arrives as a bucket at this rate, in octets a second, would let through."""
    start, before = time.monotonic(), speaker.octets
    wait_for(lambda: speaker.octets - before > 2 * (rate * (2 + time.monotonic() - start) + BURST), seconds=90)
