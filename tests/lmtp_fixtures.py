"""The portal's LMTP server in a thread of the test, and a mail server that relays to it, as a network's own one does."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from smtplib import LMTP
from threading import Event, Thread
from typing import Any

from aiosmtpd.smtp import SMTP

from apps.inbound_mail import lmtp


@contextmanager
def _in_a_thread[Place](serve: Callable[[Callable[[Place], None], asyncio.Event], Coroutine[Any, Any, None]]) -> Iterator[Place]:
    """Run `serve` in a thread and yield its address. It calls its first argument once it listens, and ends when the event is set."""
    loop, listens, stop, places = asyncio.new_event_loop(), Event(), asyncio.Event(), list[Place]()

    def ready(place: Place) -> None:
        places.append(place)
        listens.set()

    thread = Thread(target=lambda: loop.run_until_complete(serve(ready, stop)), daemon=True)
    thread.start()
    assert listens.wait(60)
    try:
        yield places[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


@contextmanager
def lmtp_server(where: lmtp.ListenPlace) -> Iterator[lmtp.ListenPlace]:
    """Run the portal's LMTP server until the end of the block."""

    async def serve(ready: Callable[[lmtp.ListenPlace], None], stop: asyncio.Event) -> None:
        await lmtp.serve_lmtp(where, ready, stop)

    with _in_a_thread(serve) as place:
        yield place


class _Relay:
    """Accepts a mail after LMTP has accepted it."""

    def __init__(self, to: lmtp.ListenPlace) -> None:
        self._to = to

    async def handle_DATA(self, _server: SMTP, _session: Any, envelope: Any) -> str:  # noqa: N802
        await asyncio.to_thread(self._hand_on, envelope)
        return "250 OK"

    def _hand_on(self, envelope: Any) -> None:
        with LMTP(self._to.host, self._to.port) as client:
            client.sendmail(envelope.mail_from, envelope.rcpt_tos, envelope.content)


@contextmanager
def mail_server(to: lmtp.ListenPlace) -> Iterator[int]:
    """Run an SMTP server on loopback that relays to LMTP; yield its port."""

    async def serve(ready: Callable[[int], None], stop: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: SMTP(_Relay(to), hostname="mx.test", loop=loop), "127.0.0.1", 0)
        async with server:
            ready(server.sockets[0].getsockname()[1])
            await stop.wait()

    with _in_a_thread(serve) as port:
        yield port
