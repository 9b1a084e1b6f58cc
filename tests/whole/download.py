"""A download: numbers from the internet's server to a member, one after the other over one TCP connection, compared as they arrive."""

import socket
from threading import Event, Thread
from typing import Final, Self

from lab.lab import Lab
from tests.whole.system import wait_for
from tests.whole.tcp_streams import connect_to_internet

SO_MAX_PACING_RATE: Final = 47  # asm-generic/socket.h: octets a second
PACE: Final = 500_000  # a download that leaves the processors to those that are tested
NUMBERS: Final = 1024  # in one block


def build_block(which: int) -> bytes:
    """Return the numbers of this block, eight octets each."""
    return b"".join(each.to_bytes(8) for each in range(which * NUMBERS, (which + 1) * NUMBERS))


class Download:
    """A download of the member on this host, until the block ends. `octets`: what has arrived as it was sent.

    `seen_as`: the member's address, as the server sees it. `fault`: why it broke off, "" if it did not.
    """

    def __init__(self, lab: Lab, host: str, server: str) -> None:
        self._near, self._far = connect_to_internet(lab, host, server)
        self._far.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, PACE)
        self._far.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 * NUMBERS)  # little waits in the server
        self.seen_as: str = self._far.getpeername()[0]
        self.sent = self.octets = 0
        self.fault = ""
        self._enough = Event()
        self._threads = [Thread(target=self._send, daemon=True), Thread(target=self._receive, daemon=True)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_fault: object) -> None:
        self._enough.set()
        for thread in self._threads:
            thread.join()
        self._near.close()
        self._far.close()

    def goes_on(self) -> bool:
        """Wait until something has arrived that was sent later than now; return False if it broke off."""
        before = self.sent
        wait_for(lambda: self.fault or self.octets > before)
        return not self.fault

    def is_whole(self) -> bool:
        """True if everything that was sent has arrived, in order. Only after its end."""
        return not self.fault and self.octets == self.sent > 0

    def _send(self) -> None:
        try:
            while not self._enough.is_set():
                block = build_block(self.sent // (8 * NUMBERS))
                self._far.sendall(block)
                self.sent += len(block)
            self._far.shutdown(socket.SHUT_WR)
        except OSError as error:
            self.fault = f"the server: {error}"

    def _receive(self) -> None:
        try:
            with self._near.makefile("rb") as stream:
                while got := stream.read(8 * NUMBERS):
                    if got != build_block(self.octets // (8 * NUMBERS)):
                        raise OSError(f"not what was sent, after {self.octets} octets")
                    self.octets += len(got)
        except OSError as error:
            self.fault = f"the member: {error}"
