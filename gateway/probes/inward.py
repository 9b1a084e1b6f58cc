"""Probes from outside to inside: asks responders to connect back, again and again, and listens for them."""

import asyncio
import os
import secrets
from asyncio import StreamReader, StreamWriter
from time import monotonic

from firewall.probe_messages import Connected, InwardSeen, Target
from gateway.probes.responder_protocol import LATE, LONGEST_LINE, LONGEST_REASON, ConnectBack, parse_outcome, render_request

_HANGS_UP = "it hangs up without an answer"


class InwardProbes:
    """Probes of these responders, each every `every` seconds, beside the rounds, which do not wait for them. port: theirs, and ours.

    limit: seconds in which a responder must get a connection.
    """

    def __init__(self, responders: tuple[Target, ...], every: float, limit: float) -> None:
        self._responders, self._every, self._limit = responders, every, limit
        self._awaited: set[str] = set()  # tokens that no responder has brought yet
        self._seen: dict[Target, InwardSeen] = {}

    def take(self, responder: Target) -> InwardSeen | None:
        """Return what was seen since the last time; None if there is nothing new."""
        return self._seen.pop(responder, None)

    async def run(self) -> None:
        """Probe until this task is cancelled."""
        if not self._responders:
            return
        server = await self._listen(self._responders[0].port)
        try:
            await asyncio.gather(*(self._probe(each) for each in self._responders))
        finally:
            server.close()

    async def _listen(self, port: int) -> asyncio.Server:
        """Return the server at this port. As long as another has it, which may be our predecessor's, that is what is seen."""
        while True:
            try:
                return await asyncio.start_server(self._handle_responder, None, port, limit=LONGEST_LINE)
            except OSError as error:
                seen = InwardSeen(Connected(None, f"the prober cannot listen: {_describe(error)}"), asked=False)
                self._seen = dict.fromkeys(self._responders, seen)
            await asyncio.sleep(self._every)

    async def _probe(self, responder: Target) -> None:
        while True:
            begun = monotonic()
            self._seen[responder] = await self._look(responder)
            await asyncio.sleep(max(begun + self._every - monotonic(), 0))

    async def _look(self, responder: Target) -> InwardSeen:
        token = secrets.token_hex(16)
        self._awaited.add(token)
        try:
            said = await asyncio.wait_for(self._ask(responder, ConnectBack(token, self._limit)), self._limit * 2 + LATE * 2)
            return self._judge(parse_outcome(said), token)
        except (OSError, ValueError) as error:
            return InwardSeen(Connected(None, _describe(error)), asked=False)
        finally:
            self._awaited.discard(token)

    def _judge(self, outcome: Connected | None, token: str) -> InwardSeen:
        if outcome is None:
            return InwardSeen(Connected(None, _HANGS_UP), asked=False)
        if outcome.microseconds is not None and token in self._awaited:
            return InwardSeen(Connected(None, "another program took the connection"))
        return InwardSeen(outcome)

    async def _ask(self, responder: Target, request: ConnectBack) -> bytes:
        reader, writer = await asyncio.open_connection(str(responder.address), responder.port)
        try:
            writer.write(render_request(request))
            return await reader.readline()
        finally:
            writer.close()

    async def _handle_responder(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Take a token that is awaited, and give it back."""
        try:
            line = await asyncio.wait_for(reader.readline(), LATE)
            token = line.decode("ascii", "replace").removesuffix("\n")
            if token in self._awaited:
                self._awaited.remove(token)
                writer.write(line)
                await writer.drain()
        except (OSError, ValueError):
            writer.transport.abort()
        finally:
            writer.close()


def _describe(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it does not answer"
    if isinstance(error, ConnectionResetError):
        return _HANGS_UP
    number = getattr(error, "errno", None)
    return (os.strerror(number) if number else str(error)).lower()[:LONGEST_REASON]
