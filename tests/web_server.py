"""The real web server, as `script/server` starts it, and clients that are slow on purpose."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from subprocess import Popen
from typing import Final

from portal import programs
from portal.stack import commands
from tests.free_ports import find_free_port
from tests.whole.system import wait_for
from tests.whole.worker import ROOT, environment

PATIENCE: Final = 120.0


@dataclass(frozen=True)
class WebAnswer:
    """Status, header fields by lower-case name, and body."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Web:
    """The running server: its port and its log."""

    port: int
    log: Path

    def ask(self, method: str, path: str, body: bytes | None = None, /, **headers: str) -> WebAnswer:
        """Send one request and return its answer. Raises TimeoutError after PATIENCE seconds. Header fields have underscores for
        hyphens.
        """
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return WebAnswer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    @contextmanager
    def slow_clients(self, number: int, begin: bytes) -> Iterator[list[socket.socket]]:
        """Open connections that send `begin` and then nothing."""
        with ExitStack() as stack:
            clients = []
            for _each in range(number):
                client = stack.enter_context(socket.create_connection(("127.0.0.1", self.port), timeout=60))
                client.sendall(begin)
                clients.append(client)
            yield clients


@contextmanager
def web_server(
    directory: Path, *more: str, worker: str = programs.WEB_WORKER, app: str = "portal.wsgi:application", **given: str
) -> Iterator[Web]:
    """Run gunicorn with the options of the stack, and `more`; settings are given as NETZWART_… variables. Ended at the end."""
    port, log = find_free_port(), directory / "web.log"
    *command, _app = commands.build_web(port).command
    command[command.index("--worker-class") + 1] = worker
    known = environment("redis://127.0.0.1:1/0") | {"NETZWART_REQUIRE_SECOND_FACTOR": "0"} | given
    with log.open("wb") as output, Popen([*command, *more, app], cwd=ROOT, env=known, stdout=output, stderr=output) as process:
        try:
            wait_for(lambda: _answers(port) or process.poll() is not None, seconds=180)
            assert process.poll() is None, log.read_text()
            yield Web(port, log)
        finally:
            process.terminate()
            process.wait(60)


def _answers(port: int) -> bool:
    try:
        Web(port, Path()).ask("GET", "/static/favicon.svg")
    except OSError:
        return False
    return True
