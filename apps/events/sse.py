"""The text of a stream of server-sent events (WHATWG HTML, 9.2). Pure.

Only the last event of what was read together carries the `id`: whoever is cut off in between is told all of it again.
"""

import json
from collections.abc import Sequence
from typing import Final

from apps.events.event_types import PublishedEvent
from apps.events.stream_position import StreamPosition

HEADERS: Final = ((b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no"))


def render_opening(retry_ms: int, position: StreamPosition) -> bytes:
    """How long to wait before coming again, and from where."""
    return f"retry: {retry_ms}\nid: {position}\n\n".encode()


def render_batch(events: Sequence[PublishedEvent], position: StreamPosition) -> bytes:
    """Events that were read together; some, not none."""
    frames = [f"event: {each.kind}\ndata: {_render_data(each)}\n" for each in events]
    frames[-1] = f"id: {position}\n{frames[-1]}"
    return "".join(f"{frame}\n" for frame in frames).encode()


def render_reset(position: StreamPosition) -> bytes:
    """Something was missed: look at everything again."""
    return f"id: {position}\nevent: reset\ndata: {{}}\n\n".encode()


def render_beat(position: StreamPosition) -> bytes:
    """A comment, so that nobody takes the connection for dead. The id without data moves the reader's place on, and fires nothing."""
    return f": still here\nid: {position}\n\n".encode()


def _render_data(event: PublishedEvent) -> str:
    return json.dumps({"type": event.kind, "id": event.pk, "state": event.state})
