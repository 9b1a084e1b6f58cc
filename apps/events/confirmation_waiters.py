"""`?wait=confirmed`: API requests that are answered when every gateway has the change, or when the timeout is over.

Django handles the request as everywhere else, in a thread; after that, the waiting costs only this coroutine. The API answers 202
while a gateway has not confirmed (`lib/api/confirmation_wait.py`); it is asked again at each event, and each second.
"""

import asyncio
import io
import json
import time
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final
from urllib.parse import parse_qs

from django.core.handlers.wsgi import WSGIHandler
from django.utils.translation import gettext as _

from apps.events.database_threads import DatabaseThreads
from apps.events.hub import EventHub
from apps.events.subscriber_rights import SubscriberRefused
from apps.events.wsgi_environ import build_environ
from apps.lib.api.confirmation_wait import LONGEST, UNLESS_TOLD

LARGEST: Final = 16 << 20  # octets of a request body
PAUSE: Final = 1.0  # seconds until it asks again without an event
CHUNK: Final = 500  # objects in one query of the API
GONE: Final = frozenset({b"if-match", b"idempotency-key", b"content-type", b"content-length", b"x-change-reason", b"x-csrftoken"})


@dataclass(frozen=True)
class DjangoAnswer:
    """Response of Django."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def parsed_body(self) -> Any:
        """The decoded JSON body; None if it is empty or not JSON."""
        try:
            return json.loads(self.body) if self.body else None
        except ValueError:
            return None


async def serve_when_confirmed(scope: Any, receive: Any, send: Any, hub: EventHub, calls: DatabaseThreads) -> None:
    """Handle the request, and send the response when the change is confirmed or the timeout is over."""
    given = await _read_body(receive)
    first: DjangoAnswer = await calls.run(call_django, scope, given)
    answer = await _wait_until_confirmed(scope, first, hub, calls) if first.status == 202 else first
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers if name.lower() != "content-length"
    ]
    headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


async def _wait_until_confirmed(scope: Any, first: DjangoAnswer, hub: EventHub, calls: DatabaseThreads) -> DjangoAnswer:
    """Return the newest response: with 200 or 201 once every gateway has the change, still 202 when the timeout is over."""
    ends = time.monotonic() + _parse_timeout(scope)
    answer, turned = first, hub.turned
    while answer.status == 202 and not hub.closed and (left := ends - time.monotonic()) > 0:
        with suppress(TimeoutError):
            async with asyncio.timeout(min(left, PAUSE)):
                await turned.wait()
        turned = hub.turned
        asked = await calls.run(refetch_shown_state, scope, first)
        if asked is None:
            return first
        answer = asked
    return replace(answer, status=201) if answer.status == 200 and scope["method"] == "POST" else answer


def _parse_timeout(scope: Any) -> float:
    """Return the timeout in seconds. The API has already refused values that are not a number within the limits."""
    text = parse_qs(scope["query_string"].decode("latin-1")).get("timeout", [str(UNLESS_TOLD)])[-1]
    return min(max(float(text), 0.0), LONGEST)


def refetch_shown_state(scope: Any, first: DjangoAnswer) -> DjangoAnswer | None:
    """Return the current state of what the first response showed, or None if it can no longer be read."""
    said, path = first.parsed_body, scope["path"]
    if isinstance(said, list):
        return _ask_many(scope, [int(each["id"]) for each in said], first)
    own = f"{path}{said['id']}/" if scope["method"] == "POST" else path
    found = call_django(_build_get_scope(scope, own, scope["query_string"]), b"")
    return found if found.status in (200, 202) else None


def _ask_many(scope: Any, ids: list[int], first: DjangoAnswer) -> DjangoAnswer | None:
    """Return the current state of the objects of a bulk request, in the same order, or None if one can no longer be read."""
    rows: dict[int, Any] = {}
    for at in range(0, len(ids), CHUNK):
        some = ids[at : at + CHUNK]
        query = f"id__in={','.join(map(str, some))}&limit={CHUNK}".encode()
        found = call_django(_build_get_scope(scope, scope["path"], query), b"").parsed_body
        rows |= {row["id"]: row for row in found["results"]} if isinstance(found, dict) and "results" in found else {}
    if set(rows) != set(ids):
        return None
    missing = any(not each["since"] for row in rows.values() for each in row.get("active", ()))
    return replace(first, status=202 if missing else 200, body=json.dumps([rows[each] for each in ids]).encode())


def _build_get_scope(scope: Any, path: str, query: bytes) -> Any:
    kept = [(name, value) for name, value in scope["headers"] if name not in GONE]
    return scope | {"method": "GET", "path": path, "query_string": query, "headers": kept}


async def _read_body(receive: Any) -> bytes:
    whole = io.BytesIO()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise SubscriberRefused(400, _("The request was cut off."))
        whole.write(message.get("body", b""))
        more = message.get("more_body", False)
        if whole.tell() > LARGEST:
            raise SubscriberRefused(413, _("A request with ?wait=confirmed must not exceed %(most)d MiB.") % {"most": LARGEST >> 20})
    return whole.getvalue()


@cache
def _get_handler() -> WSGIHandler:
    return WSGIHandler()


def call_django(scope: Any, given: bytes) -> DjangoAnswer:
    """Let Django handle one request as it does under gunicorn (PEP 3333)."""
    told: dict[str, Any] = {}

    def start(status: str, headers: list[tuple[str, str]], _trouble: Any = None) -> Any:
        told.update(status=int(status[:3]), headers=tuple(headers))

    response: Any = _get_handler()(build_environ(scope, io.BytesIO(given), len(given)), start)
    with closing(response):
        return DjangoAnswer(told["status"], told["headers"], b"".join(response))
