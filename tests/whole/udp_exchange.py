"""Members who exchange data with a host on the internet, from several addresses, by UDP and TCP.

One thread does everything in rounds: in each round every flow sends once, and the round ends when all answers that still arrive are
there. UDP octets sent and received are known exactly; TCP retransmits and acknowledges when it wants to.
"""

import fcntl
import selectors
import socket
import struct
import termios
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from threading import Event, Lock, Thread
from typing import Self

from lab.lab import Lab
from tests.whole.system import inside, wait_for

PORT = 7100
HOSTS = {4: "203.0.113.10", 6: "2001:db8:cafe::10"}
HEADERS = {4: 28, 6: 48}  # octets of the IP and UDP headers
NUMBER = struct.Struct("!I")
LATE = 2.0  # seconds after which a round no longer waits for an answer
PAUSE = 0.05  # seconds between two rounds
PATIENCE = 10  # rounds within which a connection must be established
AT_ONCE = struct.pack("ii", 1, 0)  # struct linger: closing sends a reset


@dataclass
class UdpFlow:
    """A flow of one address by one protocol. waits: octets of the answer still missing; late: rounds without any answer."""

    number: int
    node: str
    address: str
    protocol: str
    near: socket.socket
    far: socket.socket | None = None
    waits: int = 0
    late: int = 0


@dataclass
class Spoken:
    """Octets of UDP packets by address, with headers: sent by the near end and received by the far end, and the reverse."""

    near_sent: Counter[str] = field(default_factory=Counter)
    far_got: Counter[str] = field(default_factory=Counter)
    far_sent: Counter[str] = field(default_factory=Counter)
    near_got: Counter[str] = field(default_factory=Counter)


class Exchange:
    """Exchange that runs in a thread until the `with` block ends. seed: determines the sizes of messages."""

    def __init__(self, lab: Lab, seed: int) -> None:
        self._lab, self._random = lab, Random(seed)
        self.spoken = Spoken()
        self.rounds = 0
        self._flows: dict[int, UdpFlow] = {}
        self._ends: dict[socket.socket, UdpFlow] = {}
        self._addresses: dict[int, str] = {}
        self._lock, self._ended = Lock(), Event()
        self._selector = selectors.DefaultSelector()
        with inside(lab, "internet"):
            self._far = [_far(family, kind) for family in HOSTS for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
        for each in self._far:
            self._selector.register(each, selectors.EVENT_READ, self._accept if each.type == socket.SOCK_STREAM else self._echo)
        self._thread = Thread(target=self._run, daemon=True)
        self._fault: BaseException | None = None
        self._thread.start()

    def begin(self, node: str, *addresses: str) -> None:
        """Let these addresses of the host send from now on."""
        with self._lock:
            for address in addresses:
                for protocol in ("udp", "tcp"):
                    self._open(node, address, protocol)

    def cease(self, *addresses: str) -> None:
        """Let these addresses send no more. Afterwards none of their packets is in flight, and none will be sent again."""
        with self._lock:
            self._quiet(set(addresses))
            for flow in self._of(set(addresses)):
                self._close(flow)

    @contextmanager
    def still(self) -> Iterator[None]:
        """Pause all flows. No packet is in flight meanwhile."""
        with self._lock:
            self._quiet(set(self._addresses.values()))
            yield

    def _of(self, addresses: set[str]) -> list[UdpFlow]:
        return [each for each in self._flows.values() if each.address in addresses]

    def _quiet(self, addresses: set[str]) -> None:
        """Wait until every flow is connected, and each end knows that the other received what it sent."""
        self._work(self._round, lambda: all(each.protocol == "udp" or each.far for each in self._of(addresses)))
        self._work(self._serve, lambda: all(map(self._is_settled, self._of(addresses))))

    def _work(self, step: Callable[[], None], over: Callable[[], bool]) -> None:
        """Repeat the step until `over` returns true."""

        def worked() -> bool:
            step()
            return over()

        wait_for(lambda: over() or worked())

    def some_rounds(self, number: int = 2) -> None:
        """Wait until every flow has sent this many more times."""
        until = self.rounds + number
        wait_for(lambda: self._over() or self.rounds >= until, seconds=120)

    def _over(self) -> bool:
        assert self._fault is None, self._fault
        return not self._thread.is_alive()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the thread and close all sockets."""
        self._ended.set()
        self._thread.join(60)
        for each in [key.fileobj for key in self._selector.get_map().values()]:
            assert isinstance(each, socket.socket)
            each.close()
        self._selector.close()

    def _open(self, node: str, address: str, protocol: str) -> None:
        number = len(self._addresses) + 1
        self._addresses[number] = address
        family = _family(address)
        with inside(self._lab, node):
            near = socket.socket(_domain(family), socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM)
        near.bind((address, 0))
        near.setblocking(False)
        near.connect_ex((HOSTS[family], PORT))
        self._flows[number] = flow = UdpFlow(number, node, address, protocol, near)
        self._selector.register(near, selectors.EVENT_READ, lambda _: self._hear(flow))

    def _close(self, flow: UdpFlow) -> None:
        """Close the flow with a reset, so that neither end retransmits."""
        del self._flows[flow.number]
        self._reset(flow.near)
        self._work(self._serve, lambda: flow.far is None)

    def _is_settled(self, flow: UdpFlow) -> bool:
        return flow.far is None or not (flow.waits or _read_unacknowledged(flow.near) or _read_unacknowledged(flow.far))

    def _give_up(self, flow: UdpFlow) -> None:
        """Replace the flow's dead connection by a new one."""
        del self._flows[flow.number]
        self._reset(flow.near)
        if flow.far is not None:
            self._reset(flow.far)
        self._open(flow.node, flow.address, flow.protocol)

    def _reset(self, of: socket.socket) -> None:
        self._ends.pop(of, None)
        if of.fileno() in self._selector.get_map():
            self._selector.unregister(of)
        of.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        of.close()

    def _run(self) -> None:
        try:
            while not self._ended.wait(PAUSE):
                with self._lock:
                    self._round()
                self.rounds += 1
        except BaseException as fault:  # raised to the test when it waits for a round
            self._fault = fault

    def _round(self) -> None:
        for flow in list(self._flows.values()):
            self._say(flow)
        give_up = time.monotonic() + LATE
        while any(each.waits for each in self._flows.values()) and time.monotonic() < give_up:
            self._serve(0.05)
        for flow in list(self._flows.values()):
            flow.late = flow.late + 1 if flow.waits or not (flow.far or flow.protocol == "udp") else 0
            if flow.protocol == "tcp" and (flow.waits or flow.late > PATIENCE):
                self._give_up(flow)
            flow.waits = 0

    def _say(self, flow: UdpFlow) -> None:
        size = self._random.randint(NUMBER.size, 1200 if flow.protocol == "udp" else 6000)
        try:
            flow.near.send(NUMBER.pack(flow.number) + bytes(size - NUMBER.size))
        except OSError:  # not connected yet, or the connection was cut: counts as late
            return
        flow.waits = size
        if flow.protocol == "udp":
            self.spoken.near_sent[flow.address] += size + HEADERS[_family(flow.address)]

    def _hear(self, flow: UdpFlow) -> None:
        try:
            heard = len(flow.near.recv(1 << 16))
        except OSError:
            heard = 0
        if flow.protocol == "udp":
            flow.waits = 0
            self.spoken.near_got[flow.address] += heard + HEADERS[_family(flow.address)] if heard else 0
        elif heard:
            flow.waits -= min(heard, flow.waits)
        else:
            self._selector.unregister(flow.near)  # the connection was cut; the round ends without its answer

    def _echo(self, far: socket.socket) -> None:
        """Answer with half of the datagram."""
        heard, peer = far.recvfrom(1 << 16)
        address = self._addresses[NUMBER.unpack_from(heard)[0]]
        headers = HEADERS[_family(address)]
        answer = heard[: len(heard) // 2 + 1]
        self.spoken.far_got[address] += len(heard) + headers
        self.spoken.far_sent[address] += len(answer) + headers
        far.sendto(answer, peer)

    def _accept(self, listener: socket.socket) -> None:
        far, _peer = listener.accept()
        far.setblocking(False)
        self._selector.register(far, selectors.EVENT_READ, self._answer)

    def _answer(self, far: socket.socket) -> None:
        try:
            heard = far.recv(1 << 16)
            far.send(heard)
        except OSError:
            heard = b""
        if not heard:
            if flow := self._ends.get(far):
                flow.far = None
            self._reset(far)
        elif far not in self._ends and (of := self._flows.get(NUMBER.unpack_from(heard)[0])):
            of.far, self._ends[far] = far, of

    def _serve(self, seconds: float = 0) -> None:
        for ready, _ in self._selector.select(seconds):
            if ready.fd in self._selector.get_map():
                ready.data(ready.fileobj)


def _family(address: str) -> int:
    return 6 if ":" in address else 4


def _domain(family: int) -> socket.AddressFamily:
    return socket.AF_INET6 if family == 6 else socket.AF_INET


def _far(family: int, kind: socket.SocketKind) -> socket.socket:
    made = socket.socket(_domain(family), kind)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((HOSTS[family], PORT))
    if kind == socket.SOCK_STREAM:
        made.listen(512)
    made.setblocking(False)
    return made


def _read_unacknowledged(of: socket.socket) -> int:
    """Return the number of octets that the other end has not acknowledged: SIOCOUTQ of tcp(7)."""
    given: int = struct.unpack("i", fcntl.ioctl(of, termios.TIOCOUTQ, bytes(4)))[0]
    return given
