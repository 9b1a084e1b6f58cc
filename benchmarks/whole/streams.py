"""Connections of members through the gateways that must not break: each sends a line every second and waits for its echo."""

import socket
import time
from collections.abc import Callable
from select import select
from threading import Event, Thread

from benchmarks.whole.stack import say
from lab.lab import Lab
from tests.whole.system import inside

PATIENCE = 600.0  # seconds for an echo: the next tick restores a gateway without rules, and TCP's next attempt may come late
PACE = 1.0


class EchoStream:
    """One connection in a thread of its own. excused: returns how often its gateway has lost all connections by itself so far."""

    def __init__(self, lab: Lab, node: str, host: str, port: int, excused: Callable[[], int]) -> None:
        self.broken: list[str] = []
        self.said = 0
        self._lab, self._node, self._host, self._port, self._excused = lab, node, host, port, excused
        self._stop = Event()
        self._thread = Thread(target=self._run, name=f"{node} to {host}", daemon=True)

    def start(self) -> None:
        """Start sending."""
        self._thread.start()

    def end(self) -> None:
        """Stop sending, after the echo of the last line."""
        self._stop.set()
        self._thread.join(PATIENCE + 10)

    def _run(self) -> None:
        while not self._stop.is_set():
            excused = self._excused()
            try:
                self._talk(excused)
            except OSError as error:
                if self._excused() == excused and self.said:
                    self.broken.append(f"{self._node} to {self._host}: {error}")
                    say(f"    broken: {self.broken[-1]}")
            self._stop.wait(PACE)

    def _talk(self, excused: int) -> None:
        self.said = 0  # a connection that cannot be opened while its gateway is rebuilt does not count as broken
        with inside(self._lab, self._node):
            connection = socket.create_connection((self._host, self._port), timeout=5)
        connection.settimeout(PATIENCE)
        with connection, connection.makefile("rwb") as stream:
            stream.readline()
            while not self._stop.wait(PACE):
                stream.write(b"still there?\n")
                stream.flush()
                self._await(connection, excused)
                if stream.readline() != b"still there?\n":
                    raise OSError("something else came back")
                self.said += 1

    def _await(self, connection: socket.socket, excused: int) -> None:
        """Wait until data arrives. Gives up at once if the gateway has been rebuilt meanwhile."""
        give_up = time.monotonic() + PATIENCE
        while not select([connection], [], [], PACE)[0]:
            if self._excused() != excused:
                raise ConnectionResetError("its gateway was built again")
            if time.monotonic() > give_up:
                raise TimeoutError(f"no echo within {PATIENCE:.0f} s")
