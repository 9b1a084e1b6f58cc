"""ASGI 3 application that runs a WSGI application: it reads whole requests, and a fixed number of threads answers them.

A slow client never holds a thread: the event loop reads the request before, and sends the answer after.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from typing import Any, Final

from django.db import DatabaseError, InterfaceError, connections
from django.utils.translation import gettext as _

from apps.events.wsgi_environ import build_environ
from apps.lib.log_context import REQUEST_HEADER, choose_request_id
from apps.lib.web.path_redaction import redact_path
from portal.web.body_limits import USUAL, get_body_limit, is_signed_in
from portal.web.error_responses import send_error_response
from portal.web.reply_channel import ClientGone, ReplyChannel
from portal.web.request_bodies import Body, BodyReader, BodyTooLarge, RequestCut, ServerOverloaded

type Scope = dict[str, Any]
type Environ = dict[str, Any]
type Wsgi = Callable[[Environ, Any], Iterable[bytes]]

WAITING: Final = 500  # requests that may wait for a thread
LONGEST_ADDRESS: Final = 8 << 10  # octets of path and parameters
ID_FIELD: Final = REQUEST_HEADER.lower().encode()
access = logging.getLogger("netzwart.access")
log = logging.getLogger("netzwart.web")


class AddressTooLong(Exception):  # noqa: N818 - names what happened
    """Path and parameters are longer than LONGEST_ADDRESS."""


class WsgiBridge:
    """The bridge of a process. `threads` requests are answered at once, WAITING others wait for their turn, further ones get 503."""

    def __init__(self, wsgi: Wsgi, threads: int, *, reads_bodies: bool = True) -> None:
        self._wsgi, self._threads, self._most = wsgi, ThreadPoolExecutor(threads, "web"), threads + WAITING
        self._bodies, self._under_way = BodyReader() if reads_bodies else None, 0

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        began, request = time.monotonic(), _give_request_id(scope)
        tell = _build_naming_send(send, request)
        try:
            status = await self._answer(scope, receive, send)
        except (RequestCut, ClientGone):
            return
        except BodyTooLarge as error:
            most = error.most >> 10
            status = await send_error_response(scope, tell, 413, lambda: _("At most %(most)d KiB can be sent here.") % {"most": most})
        except AddressTooLong:
            status = await send_error_response(
                scope, tell, 414, lambda: _("The address is longer than 8 KiB. Ask for fewer values at once.")
            )
        except ServerOverloaded:
            status = await send_error_response(
                scope, tell, 503, lambda: _("The portal is busy. Nothing was changed; try again in a moment.")
            )
        except (DatabaseError, InterfaceError):
            status = await send_error_response(
                scope, tell, 503, lambda: _("The database does not answer. Nothing was changed; try again in a moment.")
            )
        except Exception:
            log.exception("request failed: %s", redact_path(scope["path"]))
            status = await send_error_response(scope, tell, 500, lambda: _("Something went wrong on our side. It is in the log."))
        access.info("%s %s %d %.3f s %s", scope["method"], redact_path(scope["path"]), status, time.monotonic() - began, request)

    def close(self) -> None:
        """Accept no new work, without waiting for what runs."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _answer(self, scope: Scope, receive: Any, send: Any) -> int:
        if len(scope["raw_path"]) + len(scope["query_string"]) > LONGEST_ADDRESS:
            raise AddressTooLong
        body = await self._bodies.read(receive, await self._get_body_limit(scope)) if self._bodies else Body(BytesIO())
        if self._under_way >= self._most:
            raise ServerOverloaded
        self._under_way += 1
        reply = ReplyChannel()
        work = asyncio.get_running_loop().run_in_executor(self._threads, self._run, scope, body, reply)
        work.add_done_callback(self._release_slot)
        await _send_all(reply, receive, send)
        return reply.status or 500

    def _release_slot(self, _work: object) -> None:
        self._under_way -= 1

    async def _get_body_limit(self, scope: Scope) -> int:
        """Return the limit of the body's size. For a large body, first check that the client has signed in."""
        announced = _get_content_length(scope)
        if announced is not None and announced <= USUAL:
            return USUAL
        most = get_body_limit(scope["path"])
        if announced is not None and announced > most:
            raise BodyTooLarge(most)
        if most > USUAL and not await asyncio.get_running_loop().run_in_executor(self._threads, _run_and_disconnect, is_signed_in, scope):
            raise BodyTooLarge(USUAL)
        return most

    def _run(self, scope: Scope, body: Body, reply: ReplyChannel) -> None:
        """Run the WSGI application in a thread: the server's side of PEP 3333."""
        try:
            with body.file:
                self._respond(build_environ(scope, body.file, body.length), reply)
        except (ClientGone, DatabaseError, InterfaceError) as error:
            log.warning("response aborted: %s: %s", redact_path(scope["path"]), str(error).strip())
            reply.break_off(error)
        except Exception as error:  # the event loop answers 500; if the answer has begun, it is only logged
            log.exception("response aborted: %s", redact_path(scope["path"]))
            reply.break_off(error)

    def _respond(self, environ: Environ, reply: ReplyChannel) -> None:
        answer = self._wsgi(environ, reply.start)
        try:
            for data in answer:
                reply.write(data)
            reply.end()
        finally:
            if close := getattr(answer, "close", None):
                close()


def _give_request_id(scope: Scope) -> str:
    """Return the request's id; if the client gave none, the application finds ours among the headers."""
    given = dict(scope["headers"]).get(ID_FIELD, b"").decode("latin-1")
    chosen = choose_request_id(given)
    scope["headers"] = [*(each for each in scope["headers"] if each[0] != ID_FIELD), (ID_FIELD, chosen.encode())]
    return chosen


def _build_naming_send(send: Any, request: str) -> Any:
    """Return `send` for the server's own answers, which name the request as those of the application do."""

    async def send_named(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (ID_FIELD, request.encode())]}
        await send(message)

    return send_named


def _get_content_length(scope: Scope) -> int | None:
    """Return the body's length from the header; None if it is chunked. The parser has already refused anything that is not a number."""
    told = dict(scope["headers"])
    return None if b"transfer-encoding" in told else int(told.get(b"content-length", b"0"))


def _run_and_disconnect[T](work: Callable[[Scope], T], scope: Scope) -> T:
    try:
        return work(scope)
    finally:
        connections.close_all()


async def _send_all(reply: ReplyChannel, receive: Any, send: Any) -> None:
    """Send the answer until its end, or until the client disconnects, and then tell the thread that makes it."""
    watch: asyncio.Task[None] | None = None
    try:
        more = True
        while more and (message := await reply.take_message()):
            await send(message)
            more = message.get("more_body", message["type"] == "http.response.start")
            if more and watch is None and "body" in message:
                watch = asyncio.create_task(_watch(receive, reply))
    finally:
        reply.abandon()
        if watch:
            watch.cancel()


async def _watch(receive: Any, reply: ReplyChannel) -> None:
    with suppress(asyncio.CancelledError):
        while (await receive())["type"] != "http.disconnect":
            pass
        reply.abandon()
