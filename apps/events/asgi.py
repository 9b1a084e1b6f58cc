"""ASGI 3 application of the events process: event streams, and API requests that wait until gateways have confirmed.

All other paths return 404: gunicorn serves pages and the API. A stream ends by itself after a time, when its subscriber loses the
right to listen, and on SIGTERM.
"""

import asyncio
import json
import signal
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final
from urllib.parse import parse_qs

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.utils.translation import gettext as _

from apps.events import confirmation_waiters, notify_listener, selectors, sse
from apps.events.database_threads import DatabaseThreads
from apps.events.event_types import Subscriber
from apps.events.hub import EventHub, SubscriberQueue
from apps.events.stream_position import parse_position
from apps.events.subscriber_rights import SubscriberRefused, SubscriberRequest, authenticate_subscriber, parse_asgi_scope, validate_origin
from apps.lib.api.problems import MEDIA_TYPE, build_problem_body
from apps.operations.heartbeats import EVERY, HeartbeatThread
from apps.operations.models import ProcessRole

type Scope = dict[str, Any]
type Receive = Callable[[], Awaitable[dict[str, Any]]]
type Send = Callable[[dict[str, Any]], Awaitable[None]]
type Headers = Iterable[tuple[bytes, bytes]]

STREAMS: Final = ("/events/", "/api/events/")
BEAT: Final = 15.0  # seconds of silence after which a comment (beat) is sent
RETRY_MS: Final = 2_000
SENT_WITHIN: Final = 30.0  # seconds in which the network must take what is sent
log = structlog.get_logger()


@dataclass(frozen=True)
class StreamTimes:
    """Seconds between two checks of the subscriber's rights, and seconds until a stream ends by itself."""

    check: float
    stream: float


class EventsApplication:
    """The ASGI application; one instance in a process.

    Threads: `doors` authenticate subscribers, check their rights again and read missed events, `look` reads new events, `calls`
    run waiting API requests.
    """

    def __init__(self) -> None:
        self._hub = EventHub(settings.EVENTS_STREAMS, settings.EVENTS_STREAMS_EACH)
        self._times = StreamTimes(settings.EVENTS_CHECK_SECONDS, settings.EVENTS_STREAM_SECONDS)
        self._doors, self._looks, self._calls = DatabaseThreads(3, "doors"), DatabaseThreads(1, "look"), DatabaseThreads(3, "calls")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
        elif scope["type"] == "http":
            await self._answer_request(scope, receive, send)

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        listener = asyncio.create_task(notify_listener.listen_for_events(self._hub, self._looks.run))
        alive = asyncio.create_task(self._report_alive())
        self._end_with_the_process()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._hub.close()
        await notify_listener.cancel_and_wait(alive)
        await notify_listener.cancel_and_wait(listener)
        for threads in (self._doors, self._looks, self._calls):
            threads.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _report_alive(self) -> None:
        """Write signs of life as long as the event loop runs."""
        heartbeat = HeartbeatThread([ProcessRole.EVENTS], probe=lambda: "")
        try:
            while True:
                await self._doors.run(heartbeat.beat)
                await asyncio.sleep(EVERY)
        finally:
            await self._doors.run(heartbeat.leave)

    def _end_with_the_process(self) -> None:
        """End the streams on SIGTERM itself: the server waits for its connections before it sends the lifespan shutdown."""
        loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGTERM)

        def close(number: int, frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(self._hub.close)
            if callable(before):
                before(number, frame)

        signal.signal(signal.SIGTERM, close)

    async def _answer_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._dispatch(scope, receive, send)
        except SubscriberRefused as refused:
            await _send_problem(send, refused.status, str(refused))
        except (DatabaseError, InterfaceError) as error:
            log.warning("database away", path=scope["path"], error=str(error).strip())
            await _send_problem(send, 503, _("The database does not answer. Nothing was changed; try again in a moment."))

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        who = parse_asgi_scope(scope)
        if scope["path"] in STREAMS and scope["method"] == "GET":
            await self._serve_stream(who, scope, receive, send)
        elif who.of_api and b"wait=" in scope["query_string"]:
            listener = await self._doors.run(authenticate_subscriber, who)
            with self._hub.reserve_place(listener.user):
                await confirmation_waiters.serve_when_confirmed(scope, receive, send, self._hub, self._calls)
        else:
            await _send_problem(send, 404, _("There is nothing at this address."))

    async def _serve_stream(self, who: SubscriberRequest, scope: Scope, receive: Receive, send: Send) -> None:
        origin = validate_origin(who)
        listener = await self._doors.run(authenticate_subscriber, who)
        with self._hub.reserve_place(listener.user), self._hub.join(listener) as mailbox:
            await send({"type": "http.response.start", "status": 200, "headers": [*sse.HEADERS, *_build_cors_headers(origin)]})
            gone = asyncio.create_task(_wait_for_disconnect(receive, mailbox))
            try:
                await self._begin(_get_last_event_id(scope, who), mailbox, send)
                await self._relay_events(who, mailbox, send)
            except (DatabaseError, InterfaceError) as error:
                log.warning("database away", path=scope["path"], error=str(error).strip())
            except (TimeoutError, OSError):
                log.info("event stream not read by its client, closed", user=listener.user)
                return
            finally:
                gone.cancel()
            await _send(send, b"", more=False)

    async def _begin(self, last: str, mailbox: SubscriberQueue, send: Send) -> None:
        """Send the stream's position, and the events since the Last-Event-ID if the client sent one."""
        known = parse_position(last)
        here = known or self._hub.position
        if here is None:
            here = await self._looks.run(selectors.get_current_position)
        await _send(send, sse.render_opening(RETRY_MS, here))
        if known:
            found = await self._doors.run(selectors.list_events_since, known)
            told = [each for each in found.events if mailbox.reader.can_see(each)]
            mailbox.since = found.position
            await _send(send, sse.render_reset(found.position) if found.missed else sse.render_batch(told, found.position) if told else b"")
        elif last:
            await _send(send, sse.render_reset(here))

    async def _relay_events(self, who: SubscriberRequest, mailbox: SubscriberQueue, send: Send) -> None:
        ends = time.monotonic() + self._times.stream
        watch = asyncio.create_task(self._watch(who, mailbox))
        try:
            while not mailbox.closed and (left := ends - time.monotonic()) > 0:
                data = await mailbox.next(min(BEAT, left))
                if self._hub.position:
                    await _send(send, data or sse.render_beat(self._hub.position))
        finally:
            watch.cancel()

    async def _watch(self, who: SubscriberRequest, mailbox: SubscriberQueue) -> None:
        """Close the subscriber's queue when it loses its rights. Runs beside the stream, so that a hanging database does not silence it."""
        may = True
        while may:
            await asyncio.sleep(self._times.check)
            may = await self._is_still_allowed(who, mailbox.reader)
        mailbox.close()

    async def _is_still_allowed(self, who: SubscriberRequest, listener: Subscriber) -> bool:
        """True if the subscriber still has the same rights as at first. An unreachable database counts as True."""
        try:
            return await self._doors.run(authenticate_subscriber, who) == listener
        except SubscriberRefused:
            return False
        except (DatabaseError, InterfaceError):
            return True


def _get_last_event_id(scope: Scope, who: SubscriberRequest) -> str:
    """Return the Last-Event-ID header, or `?after=` from clients that cannot send the header."""
    sent = next((value.decode("latin-1") for name, value in who.headers if name == b"last-event-id"), "")
    return sent or parse_qs(scope["query_string"].decode("latin-1")).get("after", [""])[0]


def _build_cors_headers(origin: str) -> Headers:
    if not origin:
        return []
    return [(b"access-control-allow-origin", origin.encode()), (b"access-control-allow-credentials", b"true"), (b"vary", b"Origin")]


async def _wait_for_disconnect(receive: Receive, mailbox: SubscriberQueue) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    mailbox.close()


async def _send(send: Send, data: bytes, *, more: bool = True) -> None:
    if data or not more:
        async with asyncio.timeout(SENT_WITHIN):
            await send({"type": "http.response.body", "body": data, "more_body": more})


async def _send_problem(send: Send, status: int, sentence: str) -> None:
    said = json.dumps(build_problem_body(status, sentence)).encode()
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(said)).encode()), (b"cache-control", b"no-store")]
    headers += [(b"retry-after", b"5")] if status in (429, 503) else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": said})
