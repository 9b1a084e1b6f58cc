"""Starts a real process for live events on the test's database, and reads streams from it."""

import json
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen

from portal import programs
from tests.free_ports import find_free_port
from tests.whole.system import wait_for
from tests.whole.worker import ROOT, environment

Event = tuple[str, dict[str, object]]


@dataclass
class Process:
    """The running process: its port and its log."""

    port: int
    popen: Popen[bytes]
    log: Path


@contextmanager
def events_process(directory: Path, **given: str) -> Iterator[Process]:
    """Run uvicorn with portal.asgi as the stack starts it; settings are given as NETZWART_… variables. Killed at the end."""
    port, log = find_free_port(), directory / "events.log"
    command = [sys.executable, "-m", "uvicorn", "--host", "127.0.0.1", "--port", str(port), "--log-level", "info"]
    command += ["--http", programs.PROTOCOL, "--no-proxy-headers", "--timeout-graceful-shutdown", "30", "portal.asgi:application"]
    known = environment("redis://127.0.0.1:1/0") | {"NETZWART_REQUIRE_SECOND_FACTOR": "0"} | given
    with log.open("wb") as output, Popen(command, cwd=ROOT, env=known, stdout=output, stderr=output) as popen:
        try:
            wait_for(lambda: b"Uvicorn running" in log.read_bytes() or popen.poll() is not None, seconds=120)
            assert popen.poll() is None, log.read_text()
            yield Process(port, popen, log)
        finally:
            popen.kill()


@dataclass
class Stream:
    """An open stream: its response, and the events so far."""

    connection: socket.socket
    status: int = 0
    last_id: str = ""
    events: list[Event] = field(default_factory=list)
    ended: bool = False
    _rest: bytes = b""

    def read(self, *, until: int = 1, seconds: float = 60) -> list[Event]:
        """Return the next `until` events, or fewer if the stream ends. Fails if they do not arrive in time."""
        self.connection.settimeout(seconds)
        while len(self.events) < until and not self.ended:
            self._more()
        taken, self.events = self.events[:until], self.events[until:]
        return taken

    def end(self, *, seconds: float = 60) -> None:
        """Read until the other side ends the stream properly."""
        self.connection.settimeout(seconds)
        while not self.ended:
            self._more()

    def close(self) -> None:
        self.connection.close()

    def _more(self) -> None:
        data = self.connection.recv(65_536)
        self.ended = self.ended or not data or b"\r\n0\r\n\r\n" in data or data == b"0\r\n\r\n"
        *lines, self._rest = (self._rest + data).split(b"\r\n")  # HTTP chunks, with their sizes between them
        for chunk in lines:
            self._frames(chunk.decode())

    def _frames(self, text: str) -> None:
        for frame in text.split("\n\n"):
            fields = dict(line.split(": ", 1) for line in frame.split("\n") if ": " in line)
            self.last_id = fields.get("id", self.last_id)
            if "event" in fields:
                self.events.append((fields["event"], json.loads(fields["data"])))


def stream(port: int, headers: dict[str, str], path: str = "/events/") -> Stream:
    """Open a stream and return it after its response; with status 200, after its first id."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    told = {"Host": f"127.0.0.1:{port}", **headers}
    connection.sendall(f"GET {path} HTTP/1.1\r\n{''.join(f'{name}: {value}\r\n' for name, value in told.items())}\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        got = connection.recv(1)
        assert got, head
        head += got
    opened = Stream(connection, status=int(head.split()[1]))
    while opened.status == 200 and not opened.last_id:
        opened._more()
    return opened
