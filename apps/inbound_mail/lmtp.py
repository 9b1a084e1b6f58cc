"""LMTP server (RFC 2033) for mail to us: it answers for each recipient, and never before the mail is committed.

Comes in: mails from a mail server on this machine, which has decided that they are for us. Goes out: arrivals. Oversized mail is refused;
any other error is answered with "try again", so that the mail server keeps the mail.
"""

import asyncio
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

import structlog
from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import Envelope, Session
from django.conf import settings
from django.db import connection

from apps.inbound_mail.models import Arrival
from apps.inbound_mail.services import MOST_RECIPIENTS, TooLarge, store_arrival
from apps.lib.heap_trim import return_large_blocks, trim_heap

LONGEST_LINE: Final = 1 << 20  # octets; mail servers break lines long before
STORING: Final = 4  # mails that are written to the database at the same time
LARGE: Final = 1 << 20  # octets of a mail after which free memory is returned to the system
IDLE_SECONDS: Final = 300.0  # RFC 5321, 4.5.3.2.7
STORED: Final = "250 2.0.0 Stored"
NOT_NOW: Final = "451 4.3.0 Not stored, bring it again"
TOO_LARGE: Final = "552 5.3.4 Larger than a mail may be"
TOO_MANY: Final = "452 4.5.3 Too many recipients"
log = structlog.get_logger()


@dataclass(frozen=True)
class ListenPlace:
    """Where the server listens: a unix socket with its mode, or a loopback address and a port."""

    path: Path | None = None
    mode: int = 0o660
    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        return str(self.path) if self.path else f"{self.host}:{self.port}"


def parse_place(text: str, mode: int) -> ListenPlace:
    """Parse `/run/netzwart/lmtp.sock` or `127.0.0.1:2424`. Raises ValueError for other addresses: who can connect can bring any mail."""
    if "/" in text:
        return ListenPlace(path=Path(text), mode=mode)
    host, colon, port = text.rpartition(":")
    try:
        loopback = ip_address(host.strip("[]")).is_loopback
    except ValueError:
        loopback = False
    if not colon or not loopback or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"{text} is not valid. Give the path of a unix socket, or a loopback address with a port, such as 127.0.0.1:2424.")
    return ListenPlace(host=host.strip("[]"), port=int(port))


class LmtpConnection(LMTP):
    """One connection. The library answers a mail once; LMTP needs the answer after the content once for each recipient."""

    line_length_limit = LONGEST_LINE
    _answers = 1

    async def push(self, status: Any) -> None:
        answers, self._answers = self._answers, 1
        if str(status).startswith("354"):
            self._answers = len(self.envelope.rcpt_tos) if self.envelope else 1
        for _each in range(answers):
            await super().push(status)


class LmtpHandler:
    """Handler of RCPT and DATA, as aiosmtpd calls it."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(STORING, "lmtp")

    async def handle_RCPT(self, server: LMTP, session: Session, envelope: Envelope, address: str, options: list[str]) -> str:  # noqa: N802
        if len(envelope.rcpt_tos) >= MOST_RECIPIENTS:
            return TOO_MANY
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    async def handle_DATA(self, server: LMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        octets = bytes(envelope.original_content or b"")
        envelope.content = envelope.original_content = None  # a second copy of up to 25 MiB, kept until the next mail on this connection
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, store_mail, octets, envelope.mail_from, list(envelope.rcpt_tos)
        )

    def close(self) -> None:
        self._threads.shutdown()


def store_mail(octets: bytes, sender: str | None, recipients: list[str]) -> str:
    """Store a mail and return the answer; it is "250" only if the mail is committed."""
    try:
        store_arrival(octets=octets, way=Arrival.Way.LMTP, sender=sender, recipients=recipients)
    except TooLarge:
        return TOO_LARGE
    except Exception as error:
        log.warning("mail not stored", error=f"{type(error).__name__}: {error}")
        return NOT_NOW
    finally:
        with suppress(Exception):
            if len(octets) > LARGE and connection.connection is not None:
                connection.connection.close()  # libpq keeps the memory of the largest statement as long as the connection lives
            connection.close()  # back to the pool, which checks that it is alive
        if len(octets) > LARGE:
            trim_heap()
    return STORED


async def serve_lmtp(where: ListenPlace, ready: Callable[[ListenPlace], None], stop: asyncio.Event) -> None:
    """Serve until `stop`. ready: called once it listens, with the place (and the real port, where 0 was given). Raises OSError."""
    loop, store = asyncio.get_running_loop(), LmtpHandler()

    def line() -> LmtpConnection:
        limit = settings.MAIL_IN_OCTETS
        return LmtpConnection(
            store, data_size_limit=limit, enable_SMTPUTF8=True, hostname="netzwart", ident="LMTP", timeout=IDLE_SECONDS, loop=loop
        )

    if where.path:
        server = await loop.create_unix_server(line, where.path)
        where.path.chmod(where.mode)
        ready(where)
    else:
        server = await loop.create_server(line, where.host, where.port)
        ready(ListenPlace(host=where.host, port=server.sockets[0].getsockname()[1]))
    async with server:
        await stop.wait()
    store.close()
    if where.path:
        where.path.unlink(missing_ok=True)


def run_lmtp_server(where: ListenPlace, ready: Callable[[ListenPlace], None]) -> None:
    """Serve until SIGTERM or SIGINT. Mails in transfer at that moment are not acknowledged, so the mail server brings them again."""

    return_large_blocks()

    async def until_a_signal() -> None:
        stop = asyncio.Event()
        for each in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(each, stop.set)
        await serve_lmtp(where, ready, stop)

    asyncio.run(until_a_signal())
