"""A gateway that lies: a real agent in this process; its answers are changed on their way to the portal."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread

from apps.network.models import Gateway
from firewall import wire
from firewall.codec import encode
from gateway.memory_table import FakeKernel
from gateway.operations import Agent
from gateway.persistent_state import StateDirectory
from tests.db.agents import socket_of, stop_agent

type Lie = Callable[[wire.Request, str], str]
"""From what was asked and the honest answer's JSON text to what the portal is told."""

_PART = 1 << 17


@contextmanager
def lying(gateway: Gateway, lie: Lie) -> Iterator[None]:
    """Run a liar in place of the gateway's agent. It begins with nothing confirmed."""
    with stop_agent(gateway) as directory:
        liar = Liar(socket_of(gateway), directory.with_suffix(".liar"), gateway.name, lie)
        try:
            yield
        finally:
            liar.close()


class Liar:
    """Server at the agent's socket that answers with lies, with one thread for each peer."""

    def __init__(self, path: Path, state: Path, name: str, lie: Lie) -> None:
        self._path, self._lie, self._lock = path, lie, Lock()
        self._state = StateDirectory(state)
        self._agent = Agent(FakeKernel(), self._state, name=name, boot="liar", clock=time.time)
        self._agent.changes.restore()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._path.unlink()
        self._state.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                peer, _ = self._listener.accept()
                Thread(target=self._talk, args=(peer,), daemon=True).start()

    def _talk(self, peer: socket.socket) -> None:
        assembler = wire.Assembler()
        with suppress(OSError), closing(peer), peer.makefile("rb") as lines:
            for line in lines:
                if whole := assembler.feed(line):
                    number, data = whole
                    request = wire.parse_request(data)
                    with self._lock:
                        honest = json.dumps(encode(self._agent.answer(request)))
                    for part in _frames(number, self._lie(request, honest)):
                        peer.sendall(part)


def _frames(number: int, text: str) -> Iterator[bytes]:
    for start in range(0, len(text), _PART):
        frame = {"v": wire.VERSION, "id": number, "last": start + _PART >= len(text), "part": text[start : start + _PART]}
        yield json.dumps(frame).encode() + b"\n"
