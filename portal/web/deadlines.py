"""HTTP/1.1 protocol (uvicorn's) with deadlines: a client that sends or reads slowly holds a socket for a limited time and nothing else.

For the web server, for live events (`--http portal.web.deadlines:DeadlineProtocol`) and for the notice page.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

type Connection = DeadlineProtocol

LARGEST_HEADERS: Final = 64 << 10  # octets of a request line with all its header fields


@dataclass(frozen=True)
class Deadlines:
    """Time limits in seconds, and a rate in octets per second."""

    header: float = 10.0
    """From the connection, or from the first octet of a further request, until the header fields are complete."""
    body_start: float = 20.0
    """At the beginning of a body, during which its rate does not count."""
    body_rate: float = 4096.0
    """Least average rate between two checks, once body_start is over."""
    unread: float = 30.0
    """Until the client must have read something of the answer, and until a refused body must end."""
    check: float = 10.0
    """Between two checks of a body, and until a closed connection is given up."""


class WaitingConnections:
    """Registry of the connections without a complete request: new, half sent, or kept alive. The oldest come first.

    Beyond the limits the oldest is closed, instead of refusing the newest: a client that sends its request at once gets through a
    flood of half-sent requests.
    """

    def __init__(self, most: int, most_each: int | None = None) -> None:
        self._most, self._most_each = most, most_each
        self._all: dict[Connection, str] = {}
        self._each: dict[str, dict[Connection, None]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def add(self, connection: Connection, address: str) -> None:
        """Register the connection as the newest, and close the oldest beyond a limit. The address "" may have any number."""
        self.remove(connection)
        self._all[connection] = address
        own = self._each.setdefault(address, {})
        own[connection] = None
        if self._most_each is not None and address and len(own) > self._most_each:
            self._close(next(iter(own)))
        if len(self._all) > self._most:
            self._close(next(iter(self._all)))

    def remove(self, connection: Connection) -> None:
        """Remove the connection: its request is complete, or it is closed."""
        address = self._all.pop(connection, None)
        if address is not None:
            own = self._each[address]
            own.pop(connection, None)
            if not own:
                del self._each[address]

    def _close(self, connection: Connection) -> None:
        self.remove(connection)
        connection.transport.abort()


class DeadlineProtocol(H11Protocol):
    """One connection. uvicorn parses and answers; this class enforces the deadlines."""

    deadlines: ClassVar[Deadlines] = Deadlines()
    waiting: ClassVar[WaitingConnections] = WaitingConnections(most=1000)

    def __init__(self, config: Any, server_state: Any, app_state: dict[str, Any], _loop: asyncio.AbstractEventLoop | None = None) -> None:
        config.h11_max_incomplete_event_size = config.h11_max_incomplete_event_size or LARGEST_HEADERS
        super().__init__(config, server_state, app_state, _loop)
        self._reading: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._in_body = self._is_last_request = False
        self._since, self._octets = 0.0, 0  # when the body began, and octets received since the last check

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._wait_for_request()
        self._restart(self.deadlines.header, self._close_with_408)

    def data_received(self, data: bytes) -> None:
        self._octets += len(data)
        super().data_received(data)
        if self._is_last_request and self.cycle is not None:
            self.cycle.keep_alive = False
        self._follow()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self.loop.call_later(self.deadlines.unread, self.transport.abort)
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        if self._writing:
            self._writing.cancel()
        self.waiting.remove(self)
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """End an idle connection. One on which no request has come yet is answered once: who opened it could not know that we stop."""
        if self.cycle is None and not self.transport.is_closing():
            self._is_last_request = True
        else:
            super().shutdown()

    def pause_writing(self) -> None:
        """Start the deadline of a client that does not read what is sent."""
        super().pause_writing()
        self._writing = self.loop.call_later(self.deadlines.unread, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._writing:
            self._writing.cancel()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; abort it if the client has not read everything by now, because closing would wait for that."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    def get_counted_address(self) -> str:
        """Return the address that the connection counts for."""
        return self.client[0] if self.client else ""

    def _follow(self) -> None:
        """Set the deadline for the connection's present state."""
        state = self.conn.their_state
        if state is h11.SEND_BODY and not self._in_body:
            self._in_body, self._since, self._octets = True, self.loop.time(), 0
            self._restart(self.deadlines.check, self._look_at_body)
        elif state is h11.IDLE:
            self._wait_for_request()
            if self.timeout_keep_alive_task is None and self._reading is None:
                self._restart(self.deadlines.header, self._close_with_408)
        elif state is not h11.SEND_BODY:
            self._stop()
            self.waiting.remove(self)

    def _wait_for_request(self) -> None:
        if self._in_body or self._reading is None:
            self._stop()
            self.waiting.add(self, self.get_counted_address())

    def _stop(self) -> None:
        self._in_body = False
        if self._reading:
            self._reading.cancel()
            self._reading = None

    def _restart(self, seconds: float, then: Any) -> None:
        if self._reading:
            self._reading.cancel()
        self._reading = self.loop.call_later(seconds, then)

    def _look_at_body(self) -> None:
        """Check the progress of a body. It is not late while we pause reading it ourselves."""
        limit, lasted, came = self.deadlines, self.loop.time() - self._since, self._octets
        self._octets = 0
        if self.cycle.response_complete and lasted > limit.unread:
            self.transport.abort()
        elif not self.flow.read_paused and lasted > limit.body_start and came < limit.check * limit.body_rate:
            self._close_with_408()
        else:
            self._restart(limit.check, self._look_at_body)

    def _close_with_408(self) -> None:
        """Answer 408 Request Timeout (RFC 9110, 15.5.9) unless an answer has begun, and close."""
        if not self.transport.is_closing():
            if self.conn.our_state is h11.IDLE or (self._in_body and not self.cycle.response_started):
                self.transport.write(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            self.transport.close()
        self.loop.call_later(self.deadlines.check, self.transport.abort)
