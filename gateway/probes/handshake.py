"""TCP handshakes with a target, and how long they took.

The kernel measures (tcp_info of linux/tcp.h): on a busy machine this process may look at a socket long after the answer has come.
"""

import asyncio
import os
import socket
import struct
from time import perf_counter

from firewall.probe_messages import Connected, Target

_ABORT = struct.pack("ii", 1, 0)  # struct linger: close with a reset, so that nothing of the connection outlives the probe
_ROUND_TRIP = struct.Struct("=68xI")  # tcpi_rtt, microseconds


async def connect(target: Target, limit: float, tries: int = 1) -> Connected:
    """Try to connect for at most `limit` seconds in all. A refusal is a failure: it may be the gateway's own."""
    for _ in range(tries):
        if found := await _try(target, limit / tries):
            return found
    return Connected(None, f"no answer within {limit * 1000:.0f} ms")


async def _try(target: Target, limit: float) -> Connected | None:
    """Return the result of one connection; None if there was no answer at all."""
    family = socket.AF_INET if target.address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_STREAM) as stream:
        stream.setblocking(False)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
        return await dial(stream, target, limit)


async def dial(stream: socket.socket, target: Target, limit: float) -> Connected | None:
    """Connect this socket, which does not block, within `limit` seconds, and return how it went; None if there was no answer at all."""
    begun = perf_counter()
    try:
        await asyncio.wait_for(asyncio.get_running_loop().sock_connect(stream, (str(target.address), target.port)), limit)
    except TimeoutError:
        if not _is_connected(stream):
            return None
    except ConnectionRefusedError:
        return Connected(None, "refused")
    except OSError as error:
        return Connected(None, (os.strerror(error.errno) if error.errno else str(error)).lower())
    return Connected(_read_round_trip(stream) or round((perf_counter() - begun) * 1_000_000))


def _is_connected(stream: socket.socket) -> bool:
    """True if the answer had come before this process was given time to see it."""
    try:
        stream.getpeername()
    except OSError:
        return False
    return True


def _read_round_trip(stream: socket.socket) -> int:
    microseconds: int = _ROUND_TRIP.unpack(stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ROUND_TRIP.size))[0]
    return microseconds
