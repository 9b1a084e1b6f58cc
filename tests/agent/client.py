"""A client of the agent's socket: sends requests and waits for the replies."""

import socket
from pathlib import Path

from firewall import wire

PATIENCE = 30.0  # seconds


class Client:
    """One connection to the agent. version: in which it asks and expects the answers."""

    def __init__(self, path: Path, version: int = wire.VERSION) -> None:
        self.version = version
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(PATIENCE)
        self._socket.connect(str(path))
        self._file = self._socket.makefile("rb")
        self._number = 0
        self.beats: list[wire.Beat] = []

    def ask(self, request: wire.Request) -> wire.Reply:
        """Send the request and wait for its reply; beats that arrive before it are kept in `beats`."""
        self._number += 1
        self.beats.clear()
        self.send(b"".join(wire.iter_lines(self._number, request, self.version)))
        number, reply = self.answer()
        assert number == self._number
        return reply

    def answer(self) -> tuple[int, wire.Reply]:
        """Return the next reply that is not a beat, with its number."""
        number, reply = self.receive()
        while isinstance(reply, wire.Beat):
            self.beats.append(reply)
            number, reply = self.receive()
        return number, reply

    def send(self, octets: bytes) -> None:
        """Send octets as they are."""
        self._socket.sendall(octets)

    def finish(self) -> None:
        """Close the sending side."""
        self._socket.shutdown(socket.SHUT_WR)

    def receive(self) -> tuple[int, wire.Reply]:
        """Return the next reply and its number. Raises EOFError if the agent has closed the connection."""
        assembler = wire.Assembler()
        for line in self._file:
            if whole := assembler.feed(line):
                assert assembler.version == self.version
                return whole[0], wire.parse_reply(whole[1], self.version)
        raise EOFError

    def close(self) -> None:
        """Close the connection."""
        self._file.close()
        self._socket.close()
