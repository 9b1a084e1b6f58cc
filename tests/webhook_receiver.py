"""A real web server on loopback that receives webhooks; its status codes follow a list."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from threading import Event, Thread
from typing import Any


@dataclass
class Receiver:
    """The running server, and the deliveries that arrived: headers and bodies. `answers`: status codes; the last one repeats."""

    port: int = 0
    answers: list[int] = field(default_factory=lambda: [200])
    text: bytes = b"thanks"
    came: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    before_answering: Callable[[], object] = lambda: None
    over: Event = field(default_factory=Event)
    tls: SSLContext | None = None

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}/hook?of=netzwart"

    def status(self) -> int:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def receiving(**changes: Any) -> Iterator[Receiver]:
    """Run the server until the end of the block."""
    receiver = Receiver(**changes)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.came.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            receiver.before_answering()
            code = receiver.status()
            self.send_response(code)
            if 300 <= code < 400:
                self.send_header("Location", receiver.url)
            self.end_headers()
            try:
                self.wfile.write(receiver.text)
            except OSError:
                return

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:  # a client that does not trust us closes the connection
                return

        def log_message(self, format: str, *args: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.port = http.server_port
    if receiver.tls:  # each connection does its TLS handshake in its own thread, when it is first read
        http.socket = receiver.tls.wrap_socket(http.socket, server_side=True, do_handshake_on_connect=False)
    thread = Thread(target=http.serve_forever, args=[0.01], daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.over.set()
        http.shutdown()
        http.server_close()
        thread.join()
