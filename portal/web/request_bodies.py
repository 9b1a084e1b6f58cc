"""Reads request bodies completely before Django sees the request: into memory, or to disk if the client has signed in."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final

from portal.web.body_limits import USUAL

type Receive = Callable[[], Awaitable[dict[str, Any]]]

MAX_BUFFERED_OCTETS: Final = 64 << 20  # octets of all unfinished bodies of one process


class BodyTooLarge(Exception):  # noqa: N818 - becomes a response
    """The body is larger than the limit, by its header or by what was received."""

    def __init__(self, most: int) -> None:
        super().__init__(f"more than {most} octets")
        self.most = most


class ServerOverloaded(Exception):  # noqa: N818 - becomes a response
    """Other requests use all of the capacity."""


class RequestCut(Exception):  # noqa: N818 - becomes a response
    """The client disconnected, or was too slow."""


@dataclass(eq=False)
class Body:
    """The body of a request: `length` octets."""

    file: IO[bytes]
    length: int = 0

    def add(self, data: bytes) -> None:
        self.length += len(data)
        self.file.write(data)


class BodyReader:
    """Reads bodies for one process. If the unfinished ones together are too large, the oldest is cut: an honest client's ends quickly."""

    def __init__(self, most_held: int = MAX_BUFFERED_OCTETS) -> None:
        self._most_held = most_held
        self._unfinished: dict[Body, asyncio.Task[None]] = {}

    async def read(self, receive: Receive, most: int) -> Body:
        """Read a body of at most `most` octets.

        Up to USUAL octets stay in memory; a higher limit is only for clients that have signed in. Raises BodyTooLarge, RequestCut
        or ServerOverloaded.
        """
        body = Body(BytesIO() if most <= USUAL else SpooledTemporaryFile(max_size=USUAL))  # noqa: SIM115 - the caller closes it
        task = asyncio.ensure_future(self._read(receive, most, body))
        self._unfinished[body] = task
        try:
            await asyncio.wait([task])
            if task.cancelled():
                raise ServerOverloaded
            task.result()
        except BaseException:
            task.cancel()
            body.file.close()
            raise
        finally:
            self._unfinished.pop(body, None)
        body.file.seek(0)
        return body

    async def _read(self, receive: Receive, most: int, body: Body) -> None:
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RequestCut
            data, more = message.get("body", b""), message.get("more_body", False)
            if body.length + len(data) > most:
                raise BodyTooLarge(most)
            body.add(data)
            self._cut_oldest()

    def _cut_oldest(self) -> None:
        while self._unfinished and sum(body.length for body in self._unfinished) > self._most_held:
            self._unfinished.pop(next(iter(self._unfinished))).cancel()
