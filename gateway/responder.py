"""The responder: runs on a host outside the network, and connects back to whoever asks it to, at its own port.

So a gateway's prober learns whether connections from outside come in. It needs no privilege and stores nothing. It connects to no other
address than the one that has just completed a handshake with it (RFC 9293, 3.5), so nobody can turn it against a third party.
"""

import asyncio
import logging
import socket
from asyncio import StreamReader, StreamWriter
from collections import Counter
from ipaddress import ip_address, ip_network

from firewall.policy import Address, Prefix
from firewall.probe_messages import Connected, Target
from gateway.probes.handshake import dial
from gateway.probes.responder_protocol import LATE, LONGEST_LINE, ConnectBack, parse_request, render_outcome

MOST_PEERS = 512
MOST_OF_ONE = 8  # connections at once from one address
log = logging.getLogger("gateway")


class Responder:
    """Answers probers at this port, from these prefixes; from anywhere if there are none."""

    def __init__(self, port: int, allowed: tuple[Prefix, ...] = ()) -> None:
        self._port, self._allowed = port, allowed
        self._peers: Counter[str] = Counter()

    async def serve(self, stop: asyncio.Event) -> None:
        """Answer until `stop` is set. Raises OSError if the port is taken."""
        server = await asyncio.start_server(self._handle_peer, None, self._port, limit=LONGEST_LINE)
        log.info("the responder listens at port %d", self._port)
        await stop.wait()
        server.close()

    async def _handle_peer(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Serve one request. Whoever is too many or not allowed is hung up on."""
        peer = str(writer.get_extra_info("peername")[0])
        self._peers[peer] += 1
        try:
            if self._is_welcome(peer):
                await self._answer(reader, writer)
        except (OSError, ValueError, EOFError):  # closed, silent, or no end of line: a handshake alone is a probe, too
            writer.transport.abort()
        finally:
            self._peers[peer] -= 1
            if not self._peers[peer]:
                del self._peers[peer]
            writer.close()

    def _is_welcome(self, peer: str) -> bool:
        if self._peers[peer] > MOST_OF_ONE or self._peers.total() > MOST_PEERS:
            return False
        address = ip_address(peer.partition("%")[0])
        return not self._allowed or any(address in prefix for prefix in self._allowed)

    async def _answer(self, reader: StreamReader, writer: StreamWriter) -> None:
        request = parse_request(await asyncio.wait_for(reader.readline(), LATE))
        if request is None:
            return
        here, there = (ip_address(str(writer.get_extra_info(name)[0]).partition("%")[0]) for name in ("sockname", "peername"))
        writer.write(render_outcome(await _connect_back(here, Target(there, self._port), request)))
        await writer.drain()


async def _connect_back(here: Address, target: Target, request: ConnectBack) -> Connected:
    """Connect from the address that was asked, and hand the token over. Return how it went."""
    with socket.socket(socket.AF_INET if here.version == 4 else socket.AF_INET6, socket.SOCK_STREAM) as stream:
        stream.setblocking(False)
        stream.bind((str(here), 0))
        connected = await dial(stream, target, request.limit)
        if connected is None:
            return Connected(None, f"no answer within {request.limit * 1000:.0f} ms")
        if connected.microseconds is None:
            return connected
        try:
            returned = await asyncio.wait_for(_exchange(stream, request.token), LATE)
        except OSError:
            returned = ""
        return connected if returned == request.token else Connected(None, "connected, but not to the prober")


async def _exchange(stream: socket.socket, token: str) -> str:
    """Send the token, and return what comes back until the other side closes."""
    loop, returned = asyncio.get_running_loop(), b""
    await loop.sock_sendall(stream, f"{token}\n".encode())
    while len(returned) < LONGEST_LINE and (piece := await loop.sock_recv(stream, LONGEST_LINE)):
        returned += piece
    return returned.decode("ascii", "replace").removesuffix("\n")


def parse_allowed(texts: list[str]) -> tuple[Prefix, ...]:
    """Return the prefixes. Raises ValueError for a text that is none."""
    return tuple(ip_network(text) for text in texts)
