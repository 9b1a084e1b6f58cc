"""ICMP echo requests to a target: some small ones, and one of full size that no router may fragment.

The sockets need no privilege, but the namespace has to allow them (net.ipv4.ping_group_range, icmp(7)). The kernel chooses the
identifier, and hands over only the answers to it. Formats: RFC 792, RFC 4443; sock_extended_err: linux/errqueue.h.
"""

import asyncio
import errno
import socket
from contextlib import suppress
from dataclasses import dataclass
from struct import Struct

from firewall.policy import Address
from firewall.probe_messages import ECHOES, FULL_SIZE

_HEADER = Struct("!BBHHH")  # type, code, checksum, identifier, sequence
_ERROR = Struct("=IBBBBII")
_MOST_HEARD = 8 * (ECHOES + 1)
_PROBED_PATH = 3  # IP_PMTUDISC_PROBE: never fragment, and send whatever size was found to pass before


@dataclass(frozen=True, slots=True)
class _Family:
    """Numbers of one address family: of its protocol, its echo request, its socket options, and the octets of its headers."""

    family: socket.AddressFamily
    protocol: int
    level: int
    request: int
    discovery: int
    errors: int
    headers: int


_FAMILIES = {
    4: _Family(socket.AF_INET, socket.IPPROTO_ICMP, socket.IPPROTO_IP, 8, 10, 11, 28),
    6: _Family(socket.AF_INET6, socket.IPPROTO_ICMPV6, socket.IPPROTO_IPV6, 128, 23, 25, 48),
}


@dataclass(frozen=True, slots=True)
class Echoed:
    """How many small requests were answered, and whether the large one was; None: could not be sent. mtu: as in TargetSeen."""

    small: int | None = None
    full_size: bool | None = None
    mtu: int = 0


async def echo(target: Address, limit: float) -> Echoed:
    """Send the requests at once, and wait for the answers for at most `limit` seconds."""
    of = _FAMILIES[target.version]
    try:
        with socket.socket(of.family, socket.SOCK_DGRAM, of.protocol) as asked:
            return await _Exchange(asked, of).run(str(target), limit)
    except OSError:  # not allowed here, or no way to the target: the handshake says more
        return Echoed()


class _Exchange:
    """The requests of one target, by sequence number: the last one is the large one."""

    def __init__(self, asked: socket.socket, of: _Family) -> None:
        self._asked, self._of = asked, of
        self._sent: set[int] = set()
        self._answered: set[int] = set()
        self._mtu = 0

    async def run(self, target: str, limit: float) -> Echoed:
        self._asked.setblocking(False)
        self._asked.setsockopt(self._of.level, self._of.discovery, _PROBED_PATH)
        self._asked.setsockopt(self._of.level, self._of.errors, 1)
        self._asked.connect((target, 0))
        for sequence in range(ECHOES + 1):
            self._send(sequence)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._receive_all(), limit)
        self._receive_waiting()  # a busy machine may let us look too late at what has long come
        return self._summarize()

    def _send(self, sequence: int) -> None:
        filling = bytes(FULL_SIZE - self._of.headers if sequence == ECHOES else 0)
        with suppress(OSError):  # told by what is missing in `_sent`; an error of an earlier request may also show here
            self._asked.send(_HEADER.pack(self._of.request, 0, 0, 0, sequence) + filling)
            self._sent.add(sequence)

    async def _receive_all(self) -> None:
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        loop.add_reader(self._asked, readable.set)
        try:
            while self._sent - self._answered:
                await readable.wait()
                readable.clear()
                self._receive_waiting()
        finally:
            loop.remove_reader(self._asked)

    def _receive_waiting(self) -> None:
        """Take the answers and errors that are there: not more than what was sent can lead to."""
        for _ in range(_MOST_HEARD):
            if not (self._receive_error() or self._receive_answer()):
                return

    def _receive_answer(self) -> bool:
        try:
            octets = self._asked.recv(FULL_SIZE)
        except BlockingIOError:
            return False
        except OSError:  # the error itself stands in the queue
            return True
        if len(octets) >= _HEADER.size:
            self._answered.add(_HEADER.unpack_from(octets)[4])
        return True

    def _receive_error(self) -> bool:
        """Take one error that a router or this machine told; keep the size that it says would pass."""
        try:
            _, told, _, _ = self._asked.recvmsg(FULL_SIZE, 512, socket.MSG_ERRQUEUE)
        except OSError:
            return False
        for _, _, octets in told:
            if len(octets) >= _ERROR.size:
                number, *_, info, _ = _ERROR.unpack_from(octets)
                self._mtu = info if number == errno.EMSGSIZE else self._mtu
        return True

    def _summarize(self) -> Echoed:
        small = len(self._answered - {ECHOES})
        full = ECHOES in self._answered if ECHOES in self._sent else None
        return Echoed(small if self._sent - {ECHOES} else None, full, self._mtu)
