"""Renders server-sent events (WHATWG HTML, section 9.2). Pure.

Only the last event of a batch carries the `id`: a client that is cut off in between gets the whole batch again.
"""

import json
from collections.abc import Sequence
from typing import Final

from apps.events.event_types import PublishedEvent
from apps.events.stream_position import StreamPosition

HEADERS: Final = ((b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no"))


def render_opening(retry_ms: int, position: StreamPosition) -> bytes:
    """Return the reconnection time and the starting position."""
    return f"retry: {retry_ms}\nid: {position}\n\n".encode()


def render_batch(events: Sequence[PublishedEvent], position: StreamPosition) -> bytes:
    """Return a batch of events, which must not be empty."""
    frames = [f"event: {each.kind}\ndata: {_render_data(each)}\n" for each in events]
    frames[-1] = f"id: {position}\n{frames[-1]}"
    return "".join(f"{frame}\n" for frame in frames).encode()


def render_reset(position: StreamPosition) -> bytes:
    """Return a reset: the client missed events and must load everything again."""
    return f"id: {position}\nevent: reset\ndata: {{}}\n\n".encode()


def render_beat(position: StreamPosition) -> bytes:
    """Return a comment that keeps the connection alive. The id without data moves the client's position on and fires no event."""
    return f": still here\nid: {position}\n\n".encode()


def _render_data(event: PublishedEvent) -> str:
    return json.dumps({"type": event.kind, "id": event.pk, "state": event.state})
