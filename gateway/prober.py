"""The prober: sends probe packets to targets when the agent asks, and measures how long the answers take.

It runs in a network namespace of its own, whose routes all lead through the gateway, so it reaches what a member would reach. It
needs no privilege and stores nothing. Speaks the agent's own messages (firewall/wire.py): Probe and ReadProbes in, Probed, ProbesRead
or Refused out.
"""

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from pathlib import Path
from time import monotonic
from typing import TypeAlias

from firewall import wire
from firewall.codec import WireError
from firewall.probe_messages import Probe, Probed, ProbesRead, ReadProbes
from gateway.probes.handshake import connect
from gateway.probes.standing import StandingProbes

ProbeRequest: TypeAlias = Probe | ReadProbes

MOST_TARGETS = 4
TRIES = 3  # of a Probe, within its limit, so that a single lost packet is no failure; each try has an equal part of it
LONGEST_LIMIT = 1_000  # milliseconds; the agent does nothing else during a Probe
INTERVALS = range(100, 60_001)  # milliseconds between two rounds of standing probes
RESPONDER_PORTS = range(1024, 65536)  # the prober listens there, without any privilege
_GRACE = 5.0  # seconds the prober may need beside the limit, on a machine that is busy


def check(request: ProbeRequest) -> None:
    """Raise WireError for a request with a limit, an interval, a number of targets or a port out of range."""
    if not 0 < request.limit_ms <= LONGEST_LIMIT:
        raise WireError(f"request.limit_ms: {request.limit_ms} is not between 1 and {LONGEST_LIMIT}")
    if isinstance(request, ReadProbes) and request.every_ms not in INTERVALS:
        raise WireError(f"request.every_ms: {request.every_ms} is not between {INTERVALS[0]} and {INTERVALS[-1]}")
    if not 0 < len(request.targets) <= MOST_TARGETS:
        raise WireError(f"request.targets: {len(request.targets)} is not between 1 and {MOST_TARGETS}")
    for target in request.targets:
        if not 0 < target.port < 65536:
            raise WireError(f"request.targets: port {target.port} is not between 1 and 65535")
    if isinstance(request, ReadProbes) and request.responder_port and request.responder_port not in RESPONDER_PORTS:
        ports = f"{RESPONDER_PORTS[0]} and {RESPONDER_PORTS[-1]}"
        raise WireError(f"request.responder_port: {request.responder_port} is not between {ports}")


def ask_for_probe(path: Path, request: Probe) -> Probed:
    """Return the results of the prober at this socket. Raises OSError as `_ask`."""
    answer = _ask(path, request, request.limit_ms / 1000)
    if isinstance(answer, Probed) and len(answer.answers) == len(request.targets):
        return answer
    raise _explain_unexpected(path, answer)


def ask_for_rounds(path: Path, request: ReadProbes) -> ProbesRead:
    """Return the rounds of the prober at this socket. Raises OSError as `_ask`."""
    answer = _ask(path, request, 0)
    if isinstance(answer, ProbesRead) and all(len(each.seen) == len(request.targets) for each in answer.rounds):
        return answer
    raise _explain_unexpected(path, answer)


def _ask(path: Path, request: ProbeRequest, limit: float) -> wire.Reply:
    """Return the prober's answer. Raises OSError with a full sentence if there is none within the limit and _GRACE."""
    give_up = monotonic() + limit + _GRACE
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as prober:
        try:
            _set_timeout(prober, give_up)
            prober.connect(str(path))
            prober.sendall(b"".join(wire.iter_lines(1, request)))
            return _read_answer(prober, type(request), give_up)
        except (OSError, WireError) as error:
            words = "timed out" if isinstance(error, TimeoutError) else getattr(error, "strerror", None) or str(error)
            raise OSError(f"the prober at {path} gave no answer: {words}. Is it running (netzwart-prober.service)?") from error


def _explain_unexpected(path: Path, answer: wire.Reply) -> OSError:
    return OSError(f"the prober at {path} gave an unexpected answer: {getattr(answer, 'text', type(answer).__name__)}")


def _read_answer(prober: socket.socket, to: type[ProbeRequest], give_up: float) -> wire.Reply:
    """Return the answer, which is one line."""
    assembler, octets = wire.Assembler(wire.ANSWERED[to]), b""
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
    prober = _Prober()
    served = await asyncio.start_unix_server(prober.handle_peer, sock=listener, limit=wire.MAX_LINE)
    await stop.wait()
    served.close()
    await prober.standing.stop()


class _Prober:
    """Answers peers, one request each."""

    def __init__(self) -> None:
        self.standing = StandingProbes()

    async def handle_peer(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Read one request and write one reply."""
        try:
            line = await asyncio.wait_for(reader.readline(), _GRACE)
            for each in wire.iter_lines(1, await self._build_reply(line)):
                writer.write(each)
            await writer.drain()
        except (OSError, ValueError):  # closed, silent, or no end of line: the agent reports that there was no answer
            writer.transport.abort()
        finally:
            writer.close()

    async def _build_reply(self, line: bytes) -> wire.Reply:
        try:
            whole = wire.Assembler(wire.ANSWERED[Probe]).feed(line)
            request = wire.parse_request(whole[1] if whole else None)
            if not isinstance(request, ProbeRequest):
                raise WireError(f"a prober answers only Probe and ReadProbes, not {type(request).__name__}")
            check(request)
        except WireError as error:
            return wire.Refused("malformed", str(error))
        return self.standing.read(request) if isinstance(request, ReadProbes) else await _probe(request)


async def _probe(request: Probe) -> Probed:
    limit = request.limit_ms / 1000
    return Probed(tuple(await asyncio.gather(*(connect(target, limit, TRIES) for target in request.targets))), {})
