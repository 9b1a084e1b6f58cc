"""A real web server on loopback, for programs that fetch; a function of the request computes the answer."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Any


@dataclass
class FakeAnswer:
    """An answer: status, headers, body. length: value of Content-Length; None: the true one."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None


@dataclass
class Server:
    """The running server: its port, its answers, and the requests that it got."""

    port: int
    answer: Callable[[str, Any], FakeAnswer]
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def url(self, path: str = "/list.txt", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"


@contextmanager
def serving(answer: Callable[[str, Any], FakeAnswer] | FakeAnswer) -> Iterator[Server]:
    """Run the server until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append((self.path, dict(self.headers)))
            said = server.answer(self.path, self.headers)
            self.send_response(said.status)
            for name, value in {"Content-Type": "text/plain", **said.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(said.body) if said.length is None else said.length))
            self.end_headers()
            try:
                self.wfile.write(said.body)
            except OSError:
                return

        def log_message(self, format: str, *args: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(http.server_port, (lambda _path, _headers: answer) if isinstance(answer, FakeAnswer) else answer)
    thread = Thread(target=http.serve_forever, args=[0.01], daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


@contextmanager
def serving_octets(answer: bytes) -> Iterator[int]:
    """Run a server that answers every request with these octets, HTTP or not, until the end of the block. Yield its port."""

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1 << 16)
            self.request.sendall(answer)

    server = ThreadingTCPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=[0.01], daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
