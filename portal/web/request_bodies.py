"""Bodies of requests, read as a whole before Django sees the request: into memory, and onto the disk only of somebody who has signed in."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final

from portal.web.body_limits import USUAL

type Receive = Callable[[], Awaitable[dict[str, Any]]]

HELD: Final = 64 << 20  # octets of all unfinished bodies of one process


class BodyTooLarge(Exception):  # noqa: N818 - an answer
    """More than the limit, by what the header says or by what came."""

    def __init__(self, most: int) -> None:
        super().__init__(f"more than {most} octets")
        self.most = most


class ServerOverloaded(Exception):  # noqa: N818 - an answer
    """Other requests hold everything that there is."""


class RequestCut(Exception):  # noqa: N818 - an answer
    """The client went away, or was too slow."""


@dataclass(eq=False)
class Body:
    """`length` octets of a request, from the first one on."""

    file: IO[bytes]
    length: int = 0

    def add(self, data: bytes) -> None:
        self.length += len(data)
        self.file.write(data)


class BodyReader:
    """Reads bodies for one process. When the unfinished ones together are too large, the oldest is cut: an honest one ends at once."""

    def __init__(self, most_held: int = HELD) -> None:
        self._most_held = most_held
        self._unfinished: dict[Body, asyncio.Task[None]] = {}

    async def read(self, receive: Receive, most: int) -> Body:
        """Raises BodyTooLarge, RequestCut or Overloaded. Up to USUAL octets stay in memory; a larger limit is for who has signed in."""
        body = Body(BytesIO() if most <= USUAL else SpooledTemporaryFile(max_size=USUAL))  # noqa: SIM115 - whoever answers closes it
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
