"""Members who talk with a host on the internet: each says something from an address of theirs, by UDP and TCP, and gets an answer.

All is done by one thread, round by round: everybody says one thing, and the round is over when all that still come have been answered.
What was said and heard by UDP is known to the octet; TCP repeats and acknowledges as it likes.
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
HEADERS = {4: 28, 6: 48}  # octets of IP and UDP
NUMBER = struct.Struct("!I")
LATE = 2.0  # seconds after which a round does not wait for an answer any more
PAUSE = 0.05  # seconds between two rounds
PATIENCE = 10  # rounds in which a connection may come about
AT_ONCE = struct.pack("ii", 1, 0)  # struct linger: closing sends a reset


@dataclass
class UdpFlow:
    """One address that talks by one protocol. waits: octets of the answer that have not come; late: rounds without any."""

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
    """Octets of UDP packets by address: what left the near and arrived at the far end, and the other way."""

    near_sent: Counter[str] = field(default_factory=Counter)
    far_got: Counter[str] = field(default_factory=Counter)
    far_sent: Counter[str] = field(default_factory=Counter)
    near_got: Counter[str] = field(default_factory=Counter)


class Exchange:
    """Goes on in a thread until the `with` block ends. seed: decides how much is said."""

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
        """These addresses of the host talk from now on."""
        with self._lock:
            for address in addresses:
                for protocol in ("udp", "tcp"):
                    self._open(node, address, protocol)

    def cease(self, *addresses: str) -> None:
        """These addresses are silent from now on: nothing of theirs is under way or will be sent again."""
        with self._lock:
            self._quiet(set(addresses))
            for flow in self._of(set(addresses)):
                self._close(flow)

    @contextmanager
    def still(self) -> Iterator[None]:
        """Nobody says anything meanwhile, and nothing is under way."""
        with self._lock:
            self._quiet(set(self._addresses.values()))
            yield

    def _of(self, addresses: set[str]) -> list[UdpFlow]:
        return [each for each in self._flows.values() if each.address in addresses]

    def _quiet(self, addresses: set[str]) -> None:
        """Everybody is connected, and has and knows that the other end has what was sent."""
        self._work(self._round, lambda: all(each.protocol == "udp" or each.far for each in self._of(addresses)))
        self._work(self._serve, lambda: all(map(self._is_settled, self._of(addresses))))

    def _work(self, step: Callable[[], None], over: Callable[[], bool]) -> None:
        """Step by step, until it is over."""

        def worked() -> bool:
            step()
            return over()

        wait_for(lambda: over() or worked())

    def some_rounds(self, number: int = 2) -> None:
        """Wait until everybody has said so many things."""
        until = self.rounds + number
        wait_for(lambda: self._over() or self.rounds >= until, seconds=120)

    def _over(self) -> bool:
        assert self._fault is None, self._fault
        return not self._thread.is_alive()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nobody talks any more."""
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
        """With a reset: neither end has anything to send again."""
        del self._flows[flow.number]
        self._reset(flow.near)
        self._work(self._serve, lambda: flow.far is None)

    def _is_settled(self, flow: UdpFlow) -> bool:
        return flow.far is None or not (flow.waits or _read_unacknowledged(flow.near) or _read_unacknowledged(flow.far))

    def _give_up(self, flow: UdpFlow) -> None:
        """Its connection leads nowhere any more: another one."""
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
        except BaseException as fault:  # whoever waits for a round says it
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
        except OSError:  # not connected yet, or its connection was cut: late
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
            self._selector.unregister(flow.near)  # it was cut; the round ends without its answer

    def _echo(self, far: socket.socket) -> None:
        """What comes back is half as long."""
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
    """Octets that the other end has not acknowledged: SIOCOUTQ of tcp(7)."""
    given: int = struct.unpack("i", fcntl.ioctl(of, termios.TIOCOUTQ, bytes(4)))[0]
    return given
