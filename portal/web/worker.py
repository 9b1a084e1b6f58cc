"""Worker classes for gunicorn, which forks, watches and replaces processes. Each runs uvicorn's event loop and a WSGI application.

    gunicorn --worker-class portal.web.worker.WebWorker --workers 2 --threads 8 portal.wsgi:application

gunicorn's own threads read from the sockets themselves, so a slow client for each thread would stop everything.
"""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Iterator
from functools import partial
from ipaddress import ip_address
from socket import socket
from typing import TYPE_CHECKING, Any, ClassVar, Final

from django.conf import settings
from gunicorn.workers.base import Worker
from uvicorn import Config, Server

from portal.web.deadlines import DeadlineProtocol, WaitingConnections
from portal.web.open_files import allow_open_files

if TYPE_CHECKING:
    from portal.web.wsgi_bridge import WsgiBridge

TURNS_TO_CONNECT: Final = 3
"""Turns of the event loop until a connection that asyncio has accepted is one of the server's."""
NOTICE_CONNECTIONS: Final = 16
"""Unanswered connections of one address to the notice page. Browsers open six, and a proxy of ours is not counted."""


class WebWorker(Worker):  # type: ignore[misc]  # gunicorn has no types
    """Worker for pages and API."""

    protocol: ClassVar[type[DeadlineProtocol]] = DeadlineProtocol
    reads_bodies: ClassVar[bool] = True

    def init_signals(self) -> None:
        """Reset all signals to the kernel's defaults until the event loop handles those that end a worker."""
        for number in self.SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGUSR1, self.handle_usr1)

    def run(self) -> None:
        """Serve until the worker shall end. Called by gunicorn in the worker's process."""
        from portal.web.wsgi_bridge import WsgiBridge  # needs Django to be set up, which the WSGI application has done by now

        allow_open_files()
        if self.cfg.accesslog:
            access = logging.getLogger("netzwart.access")
            access.setLevel(logging.INFO)
            access.handlers = list(self.log.access_log.handlers)
            access.propagate = False
        asyncio.run(self._serve(WsgiBridge(self.wsgi, self.cfg.threads, reads_bodies=self.reads_bodies)))

    async def _serve(self, application: "WsgiBridge") -> None:
        server = _Server(Config(application, **self._build_options()))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            asyncio.get_running_loop().add_signal_handler(number, server.end)
        self._server = server
        try:
            await server.serve(sockets=[each.sock for each in self.sockets])
        finally:
            application.close()

    def _build_options(self) -> dict[str, Any]:
        return {
            "http": self.protocol,
            "interface": "asgi3",
            "ws": "none",
            "lifespan": "off",
            "log_config": None,
            "access_log": False,
            "proxy_headers": False,  # our settings say which proxies are trusted
            "server_header": False,
            "backlog": self.cfg.backlog,
            "timeout_keep_alive": self.cfg.keepalive,
            "timeout_graceful_shutdown": self.cfg.graceful_timeout,
            "timeout_notify": 1,
            "callback_notify": self._notify_alive,
        }

    async def _notify_alive(self) -> None:
        """Tell gunicorn that the worker lives, and end if gunicorn is gone."""
        self.notify()
        if self.ppid != os.getppid():
            self._server.end()


class NoticePageProtocol(DeadlineProtocol):
    """Protocol for the notice page. Every host in the network reaches it directly, so the connections of one address are limited."""

    waiting = WaitingConnections(most=1000, most_each=NOTICE_CONNECTIONS)

    def get_counted_address(self) -> str:
        """Return the client's address, or "" for our proxies, which speak for many clients."""
        address = super().get_counted_address()
        return "" if address and any(ip_address(address) in proxy for proxy in settings.NOTICE_PROXIES) else address


class NoticeWorker(WebWorker):
    """Worker for the notice page, which does not depend on what is sent to it."""

    protocol = NoticePageProtocol
    reads_bodies = False


def _take_connection(listener: socket) -> socket | None:
    """Return the next connection that waits to be accepted; None if there is none, or if another worker has closed the listener."""
    try:
        connection, _address = listener.accept()
    except OSError:
        return None
    connection.setblocking(False)
    return connection


def _take_all_connections(listener: socket) -> list[socket]:
    """Return the connections that wait to be accepted, and close the listener in the next moment. None comes between (portal.web.arbiter).

    Its file descriptor stays, as one of /dev/null, for those who will close it.
    """
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    taken = list(iter(partial(_take_connection, listener), None))
    os.dup2(nothing, listener.fileno(), inheritable=False)
    os.close(nothing)
    return taken


class _Server(Server):
    """uvicorn's server with gunicorn's signals."""

    def end(self) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Stop listening, but first take the connections that the kernel has accepted for us: closing would reset them.

        A proxy tries a refused connection again; after a reset it cannot know whether the request was carried out.
        """
        listeners = sockets or []
        for listener in listeners:
            asyncio.get_running_loop().remove_reader(listener)
        for _turn in range(TURNS_TO_CONNECT):
            await asyncio.sleep(0)
        queued = [connection for listener in listeners for connection in _take_all_connections(listener)]
        serving = [asyncio.create_task(self._serve_last(connection)) for connection in queued]
        await super().shutdown(sockets)
        await asyncio.gather(*serving)

    async def _serve_last(self, connection: socket) -> None:
        loop = asyncio.get_running_loop()
        _transport, protocol = await loop.connect_accepted_socket(self._build_protocol, connection)
        protocol.shutdown()

    def _build_protocol(self) -> DeadlineProtocol:
        protocol: Any = self.config.http_protocol_class
        made: DeadlineProtocol = protocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)
        return made

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals: uvicorn would raise them again at the end, and gunicorn would report a killed worker."""
        yield
