"""The prober: connects to a target by TCP when the agent asks, and measures how long it takes.

It runs in a network namespace of its own, whose routes all lead through the gateway, so it reaches what a member would reach. It
needs no privilege and stores nothing. Speaks the agent's own messages (firewall/wire.py): Probe in, Probed or Refused out.
"""

import asyncio
import os
import socket
import struct
from asyncio import StreamReader, StreamWriter
from pathlib import Path
from time import monotonic, perf_counter

from firewall import wire
from firewall.codec import WireError

MOST_TARGETS = 4
TRIES = 3  # within the limit, so that a single lost packet is no failure; each try has an equal part of it
LONGEST_LIMIT = 1_000  # milliseconds; the agent does nothing else meanwhile
_GRACE = 5.0  # seconds the prober may need beside the limit, on a machine that is busy
_ABORT = struct.pack("ii", 1, 0)  # struct linger: close with a reset, so that nothing of the connection outlives the probe


def check(request: wire.Probe) -> None:
    """Raise WireError for a request with a limit, a number of targets or a port out of range."""
    if not 0 < request.limit_ms <= LONGEST_LIMIT:
        raise WireError(f"request.limit_ms: {request.limit_ms} is not between 1 and {LONGEST_LIMIT}")
    if not 0 < len(request.targets) <= MOST_TARGETS:
        raise WireError(f"request.targets: {len(request.targets)} is not between 1 and {MOST_TARGETS}")
    for target in request.targets:
        if not 0 < target.port < 65536:
            raise WireError(f"request.targets: port {target.port} is not between 1 and 65535")


def ask(path: Path, request: wire.Probe) -> tuple[wire.Connected, ...]:
    """Return the results of the prober at this socket.

    Raises OSError with a full sentence if there is no answer within the limit and _GRACE.
    """
    give_up = monotonic() + request.limit_ms / 1000 + _GRACE
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as prober:
        try:
            _set_timeout(prober, give_up)
            prober.connect(str(path))
            prober.sendall(b"".join(wire.iter_lines(1, request)))
            answer = _read_answer(prober, give_up)
        except (OSError, WireError) as error:
            words = "timed out" if isinstance(error, TimeoutError) else getattr(error, "strerror", None) or str(error)
            raise OSError(f"the prober at {path} gave no answer: {words}. Is it running (netzwart-prober.service)?") from error
    if isinstance(answer, wire.Probed) and len(answer.answers) == len(request.targets):
        return answer.answers
    raise OSError(f"the prober at {path} gave an unexpected answer: {getattr(answer, 'text', type(answer).__name__)}")


def _read_answer(prober: socket.socket, give_up: float) -> wire.Reply:
    assembler, octets = wire.Assembler(wire.ANSWERED[wire.Probe]), b""
    while b"\n" not in octets:
        _set_timeout(prober, give_up)
        piece = prober.recv(wire.MAX_LINE)
        octets += piece
        if not piece or len(octets) > wire.MAX_LINE:
            raise WireError("it closed the connection" if not piece else "its answer is too long")
    whole = assembler.feed(octets)
    if whole is None:
        raise WireError("its answer is too long")
    return wire.parse_reply(whole[1])


def _set_timeout(prober: socket.socket, give_up: float) -> None:
    left = give_up - monotonic()
    if left <= 0:
        raise TimeoutError
    prober.settimeout(left)


async def serve(listener: socket.socket, stop: asyncio.Event) -> None:
    """Answer each peer until `stop` is set."""
    served = await asyncio.start_unix_server(_handle_peer, sock=listener, limit=wire.MAX_LINE)
    await stop.wait()
    served.close()


async def _handle_peer(reader: StreamReader, writer: StreamWriter) -> None:
    """Read one request and write one reply."""
    try:
        line = await asyncio.wait_for(reader.readline(), _GRACE)
        for each in wire.iter_lines(1, await _build_reply(line)):
            writer.write(each)
        await writer.drain()
    except (OSError, ValueError):  # closed, silent, or no end of line: the agent reports that there was no answer
        writer.transport.abort()
    finally:
        writer.close()


async def _build_reply(line: bytes) -> wire.Reply:
    try:
        whole = wire.Assembler(wire.ANSWERED[wire.Probe]).feed(line)
        request = wire.parse_request(whole[1] if whole else None)
        if not isinstance(request, wire.Probe):
            raise WireError(f"a prober answers only Probe, not {type(request).__name__}")
        check(request)
    except WireError as error:
        return wire.Refused("malformed", str(error))
    limit = request.limit_ms / 1000
    return wire.Probed(tuple(await asyncio.gather(*(connect(target, limit) for target in request.targets))), {})


async def connect(target: wire.Target, limit: float) -> wire.Connected:
    """Try to connect for at most `limit` seconds. A refusal is a failure: it may be the gateway's own."""
    for _ in range(TRIES):
        if found := await _try(target, limit / TRIES):
            return found
    return wire.Connected(None, f"no answer within {limit * 1000:.0f} ms")


async def _try(target: wire.Target, limit: float) -> wire.Connected | None:
    """Return the result of one connection; None if there was no answer at all."""
    begun = perf_counter()
    try:
        await asyncio.wait_for(_complete_handshake(target), limit)
    except TimeoutError:
        return None
    except ConnectionRefusedError:
        return wire.Connected(None, "refused")
    except OSError as error:
        return wire.Connected(None, (os.strerror(error.errno) if error.errno else str(error)).lower())
    return wire.Connected(round((perf_counter() - begun) * 1_000_000))


async def _complete_handshake(target: wire.Target) -> None:
    family = socket.AF_INET if target.address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_STREAM) as stream:
        stream.setblocking(False)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
        await asyncio.get_running_loop().sock_connect(stream, (str(target.address), target.port))
