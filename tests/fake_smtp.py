"""A real SMTP server on loopback, which fails on request and keeps the mails that it accepted."""

import asyncio
import ssl
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from enum import Enum
from threading import Event, Thread
from typing import Any

from aiosmtpd.smtp import SMTP

from apps.mail.smtp import SmtpServer


class SmtpWay(Enum):
    """Behaviour of the server for the next mail."""

    TAKE = "take"
    NO_SENDER = "550 at MAIL"
    GREYLISTED = "450 at RCPT"
    CLOSING = "421 at RCPT, and closes"
    UNKNOWN_READER = "550 at RCPT"
    BUSY = "451 after DATA"
    REFUSE = "554 after DATA"
    DROP_IN_DATA = "the connection breaks in the middle of DATA"
    DROP_UNTAKEN = "it breaks after DATA, before 250, and nothing was taken"
    DROP_TAKEN = "it breaks after DATA, before 250, and the mail was taken"
    HANG = "no answer to DATA, until `go_on` is set"
    DRIBBLE = "an answer to MAIL that never ends, an octet at a time"


@dataclass
class Post:
    """The running server. `ways`: the behaviour for the next mails, one each; afterwards it accepts all."""

    ways: deque[SmtpWay] = field(default_factory=deque)
    taken: list[EmailMessage] = field(default_factory=list)
    readers: list[str] = field(default_factory=list)
    connections: int = 0
    server: SmtpServer = field(default_factory=lambda: SmtpServer("127.0.0.1"))
    hangs: Event = field(default_factory=Event)
    go_on: Event = field(default_factory=Event)

    def times(self) -> Counter[str]:
        """Return how often each Message-ID arrived."""
        return Counter(str(each["Message-ID"]) for each in self.taken)

    # aiosmtpd calls these

    async def handle_MAIL(self, server: SMTP, session: Any, envelope: Any, address: str, options: list[str]) -> str:  # noqa: N802
        session.way = self.ways.popleft() if self.ways else SmtpWay.TAKE
        if session.way is SmtpWay.DRIBBLE:
            await _dribble(server)
        if session.way is SmtpWay.NO_SENDER:
            return "550 5.7.1 You do not write from here"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(self, server: SMTP, session: Any, envelope: Any, address: str, options: list[str]) -> str:  # noqa: N802
        if session.way is SmtpWay.CLOSING:
            await server.push("421 4.3.2 Going down")
            _drop(server)
        refused = {SmtpWay.GREYLISTED: "450 4.2.0 Greylisted, come back later", SmtpWay.UNKNOWN_READER: "550 5.1.1 Nobody of this name"}
        if session.way in refused:
            return refused[session.way]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Any, envelope: Any) -> str:  # noqa: N802
        way = session.way
        if way in (SmtpWay.BUSY, SmtpWay.REFUSE):
            return "451 4.3.0 Try again" if way is SmtpWay.BUSY else "554 5.7.1 This looks like spam"
        if way not in (SmtpWay.DROP_UNTAKEN, SmtpWay.DROP_IN_DATA):
            self.taken.append(message_from_bytes(envelope.content, policy=policy.default))
            self.readers.extend(envelope.rcpt_tos)
        if way in (SmtpWay.DROP_UNTAKEN, SmtpWay.DROP_TAKEN):
            _drop(server)
        if way is SmtpWay.HANG:
            self.hangs.set()
            await asyncio.to_thread(self.go_on.wait, 120)
        return "250 2.0.0 Queued"


class _Listener(SMTP):
    """Counts connections, and can break one in the middle of DATA."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.event_handler.connections += 1

    async def smtp_DATA(self, arg: str) -> None:  # noqa: N802
        if getattr(self.session, "way", None) is SmtpWay.DROP_IN_DATA:
            await self.push("354 Go on")
            await self._reader.readline()
            _drop(self)
            return
        await super().smtp_DATA(arg)


def _drop(server: SMTP) -> None:
    assert isinstance(server.transport, asyncio.Transport)
    server.transport.abort()


async def _dribble(server: SMTP) -> None:
    while isinstance(server.transport, asyncio.Transport) and not server.transport.is_closing():
        server.transport.write(b"2")
        await asyncio.sleep(0.05)


@contextmanager
def post(context: ssl.SSLContext | None = None, **about_the_server: Any) -> Iterator[Post]:
    """Run the server until the end of the block. context: offer STARTTLS with this certificate."""
    box, loop, ready = Post(), asyncio.new_event_loop(), Event()

    async def listen() -> asyncio.Server:
        made = await loop.create_server(lambda: _Listener(box, hostname="post.test", tls_context=context, timeout=300), "127.0.0.1", 0)
        box.server = SmtpServer("127.0.0.1", made.sockets[0].getsockname()[1], **about_the_server)
        return made

    def run() -> None:
        listening = loop.run_until_complete(listen())
        loop.call_soon(ready.set)
        loop.run_forever()
        listening.close()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()

    thread = Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(60), "the server does not start"
    try:
        yield box
    finally:
        box.go_on.set()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
