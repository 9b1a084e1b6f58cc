"""Greedy TCP connections between members and the internet, and datagrams that come back; two threads move the octets of all connections."""

import selectors
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from benchmarks.fair.line import ADDRESSES, MEMBERS, TARGETS, SlowLine, get_address

_CHUNK, _SEND_BUFFER, _LOOK = 1 << 15, 1 << 17, 0.2  # octets, octets, seconds
ECHO = 7


class GreedyStreams:
    """A connection for each entry of `members`, which carries as much as it can. up: from the member to the internet."""

    def __init__(self, line: SlowLine, members: Sequence[int], version: int, *, up: bool) -> None:
        self._members, self._counts, self._stop = members, [0] * len(members), threading.Event()
        family = _get_family(version)
        self._listener = line.internet.do(socket.create_server, (TARGETS[version], 0), family=family, backlog=len(members))
        pairs = [line.members.do(self._connect, member, number % ADDRESSES, version) for number, member in enumerate(members)]
        nears, fars = [near for near, _far in pairs], [far for _near, far in pairs]
        self._sources, self._sinks = (nears, fars) if up else (fars, nears)
        self._workers = [threading.Thread(target=self._pour), threading.Thread(target=self._drain)]
        for worker in self._workers:
            worker.start()

    def _connect(self, member: int, number: int, version: int) -> tuple[socket.socket, socket.socket]:
        near = socket.socket(self._listener.family, socket.SOCK_STREAM)
        near.bind((get_address(member, version, number), 0))
        near.connect(self._listener.getsockname()[:2])
        far, _peer = self._listener.accept()
        for each in (near, far):
            each.setblocking(False)
        return near, far

    def count_by_member(self) -> list[int]:
        """Return the octets that have arrived, by member."""
        counts = list(self._counts)
        return [sum(count for of, count in zip(self._members, counts, strict=True) if of == member) for member in range(MEMBERS - 1)]

    def _pour(self) -> None:
        chunk = bytes(_CHUNK)
        with selectors.DefaultSelector() as selector:
            for source in self._sources:
                source.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
                selector.register(source, selectors.EVENT_WRITE, source)
            while not self._stop.is_set():
                for key, _events in selector.select(_LOOK):
                    key.data.send(chunk)

    def _drain(self) -> None:
        with selectors.DefaultSelector() as selector:
            for at, sink in enumerate(self._sinks):
                selector.register(sink, selectors.EVENT_READ, (at, sink))
            while not self._stop.is_set():
                for key, _events in selector.select(_LOOK):
                    at, sink = key.data
                    self._counts[at] += len(sink.recv(_SEND_BUFFER))

    def close(self) -> None:
        """End the connections at once."""
        self._stop.set()
        for worker in self._workers:
            worker.join()
        for each in (*self._sources, *self._sinks, self._listener):
            each.close()


@contextmanager
def open_echo(line: SlowLine, version: int) -> Iterator[socket.socket]:
    """Yield the last member's socket, with a thread on the internet that sends each datagram back."""
    far, near = (space.do(socket.socket, _get_family(version), socket.SOCK_DGRAM) for space in (line.internet, line.members))
    far.bind((TARGETS[version], ECHO))
    near.bind((get_address(MEMBERS - 1, version), 0))
    stop = threading.Event()
    worker = threading.Thread(target=_echo, args=(far, stop))
    worker.start()
    try:
        yield near
    finally:
        stop.set()
        worker.join()
        near.close()
        far.close()


def _echo(far: socket.socket, stop: threading.Event) -> None:
    far.settimeout(_LOOK)
    while not stop.is_set():
        try:
            far.sendto(*far.recvfrom(64))
        except TimeoutError:
            continue


def _get_family(version: int) -> socket.AddressFamily:
    return socket.AF_INET if version == 4 else socket.AF_INET6
