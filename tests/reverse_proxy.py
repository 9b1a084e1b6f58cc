"""A reverse proxy: one HTTP/1.1 address for the portal and its process for live events. A browser has six connections for both."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Final

STREAM: Final = b"/events/"


@dataclass
class Front:
    """The running proxy: its port, and the number of requested streams so far."""

    port: int = 0
    streams: int = 0

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"


@contextmanager
def front(*, pages: int, events: int) -> Iterator[Front]:
    """Forward requests to these ports of loopback, until the end of the block. Each connection is for one request."""
    made = Front()

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            head = b"".join(iter(self._line, b""))
            if not head:
                return
            path = head.split(b" ", 2)[1]
            if path.startswith(STREAM):
                made.streams += 1
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            body = self.rfile.read(int(length[1])) if length else b""
            try:
                self._pass_on(head, body, events if path.startswith(STREAM) else pages)
            except OSError:  # the browser has closed the connection
                return

        def _line(self) -> bytes:
            """Return the next line of the head; b"" at its end."""
            line = self.rfile.readline()
            return b"" if line == b"\r\n" else line

        def _pass_on(self, head: bytes, body: bytes, port: int) -> None:
            with socket.create_connection(("127.0.0.1", port)) as behind:
                behind.sendall(re.sub(rb"(?im)^connection:.*\r\n", b"", head) + b"Connection: close\r\n\r\n" + body)
                while data := behind.recv(65_536):
                    self.wfile.write(data)

    class Server(ThreadingTCPServer):
        daemon_threads, allow_reuse_address, request_queue_size = True, True, 64

    with Server(("127.0.0.1", 0), Handler) as server:
        made.port = server.server_address[1]
        Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
        yield made
        server.shutdown()
