"""Channel for one answer, from the thread that makes it to the event loop that sends it.

The thread is free as soon as it has made the answer, however slowly the client reads. It waits only while it is more than AHEAD
octets ahead of the client, which long exports may be.
"""

import asyncio
from contextlib import suppress
from threading import Condition
from typing import Any, Final

type Message = dict[str, Any]

AHEAD: Final = 4 << 20  # octets
PIECE: Final = 64 << 10  # octets that are passed on at once


class ClientGone(OSError):  # noqa: N818 - not an error of ours
    """The client has disconnected, so making the answer any further is useless."""


class ReplyChannel:
    """Filled by `start`, `write` and `end` in a thread, emptied by `take_message` in the event loop."""

    def __init__(self) -> None:
        self.status = 0
        self._loop = asyncio.get_running_loop()
        self._messages: asyncio.Queue[Message | Exception | None] = asyncio.Queue()
        self._head: Message | None = None
        self._piece = bytearray()
        self._ahead, self._gone, self._begun, self._room = 0, False, False, Condition()

    def start(self, status: str, headers: list[tuple[str, str]], error: Any = None) -> Any:
        """WSGI's start_response (PEP 3333)."""
        fields = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        self.status = int(status[:3])
        self._head = {"type": "http.response.start", "status": self.status, "headers": fields}
        return self.write

    def write(self, data: bytes) -> None:
        """Add data to the answer. Raises ClientGone if the client has disconnected."""
        self._piece += data
        if len(self._piece) >= PIECE:
            self._hand_over(more=True)

    def end(self) -> None:
        self._hand_over(more=False)

    def break_off(self, why: Exception) -> None:
        """Abort the answer. If sending has begun, it ends too early, so that the client notices; otherwise `take_message`
        raises `why`."""
        self._put(None if self._begun else why)

    async def take_message(self) -> Message | None:
        """Return the next message for ASGI's send; None if the answer was aborted after it had begun."""
        message = await self._messages.get()
        if isinstance(message, Exception):
            raise message
        with self._room:
            self._ahead -= len(message.get("body", b"")) if message else 0
            self._room.notify()
        return message

    def abandon(self) -> None:
        """Note that the client reads no more; `write` raises ClientGone from now on."""
        with self._room:
            self._gone = True
            self._room.notify()

    def _hand_over(self, *, more: bool) -> None:
        body, self._piece = bytes(self._piece), bytearray()
        with self._room:
            self._room.wait_for(lambda: self._gone or self._ahead < AHEAD)
            if self._gone:
                raise ClientGone
            self._ahead += len(body)
        head, self._head, self._begun = self._head, None, True
        self._put(*([head] if head else []), {"type": "http.response.body", "body": body, "more_body": more})

    def _put(self, *messages: Message | Exception | None) -> None:
        with suppress(RuntimeError):  # the loop has ended, so there is no reader any more
            for message in messages:
                self._loop.call_soon_threadsafe(self._messages.put_nowait, message)
