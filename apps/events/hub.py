"""Publishes events to all open streams after each query of the database.

Each subscriber has a bounded queue. A subscriber that reads too slowly gets a reset, and must load everything again.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from django.utils.translation import gettext as _

from apps.events import sse
from apps.events.event_types import PublishedEvent, Subscriber
from apps.events.stream_position import StreamPosition
from apps.events.subscriber_rights import SubscriberRefused

MAX_WAITING_EVENTS: Final = 200  # events that wait for one subscriber


class SubscriberQueue:
    """Events that wait for one stream. since: position up to which the subscriber already has them, if known."""

    def __init__(self, reader: Subscriber) -> None:
        self.reader = reader
        self.since: StreamPosition | None = None
        self.closed = False
        self._waiting: list[PublishedEvent] = []
        self._position: StreamPosition | None = None
        self._missed = False
        self._woken = asyncio.Event()

    def put(self, events: Sequence[PublishedEvent], position: StreamPosition) -> None:
        """Add the events that the subscriber may see. If too many wait, a single reset replaces them."""
        told = [each for each in events if self.reader.can_see(each)]
        if not told:
            return
        if len(self._waiting) + len(told) > MAX_WAITING_EVENTS:
            self.reset(position)
            return
        self._waiting += told
        self._position = position
        self._woken.set()

    def reset(self, position: StreamPosition) -> None:
        """Replace the waiting events by a reset: the subscriber must load everything again."""
        self._waiting.clear()
        self._missed, self._position = True, position
        self._woken.set()

    def close(self) -> None:
        """End the stream."""
        self.closed = True
        self._woken.set()

    async def next(self, within: float) -> bytes:
        """Wait for events and return them all; b"" after `within` seconds or when the stream ends."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._woken.wait()
        if self.closed:
            return b""
        self._woken.clear()
        return self._take_waiting()

    def _take_waiting(self) -> bytes:
        fresh = [each for each in self._waiting if not (self.since and self.since.has_seen(each.transaction))]
        missed, position = self._missed, self._position
        self._waiting.clear()
        self._missed = False
        if position is None:
            return b""
        return (sse.render_reset(position) if missed else b"") + (sse.render_batch(fresh, position) if fresh else b"")


class EventHub:
    """All open streams, and the position up to which events have been published.

    most, each: greatest number of streams, in total and for one account.
    """

    def __init__(self, most: int, each: int) -> None:
        self._most, self._each = most, each
        self._mailboxes: set[SubscriberQueue] = set()
        self._of: Counter[int] = Counter()
        self.position: StreamPosition | None = None
        self.turned = asyncio.Event()
        self.closed = False

    @contextmanager
    def reserve_place(self, user: int) -> Iterator[None]:
        """Reserve one of the limited places. Raises SubscriberRefused if none is free."""
        if self.closed or self._of.total() >= self._most:
            raise SubscriberRefused(503, _("Too many long-running requests are open already. Try again in a moment."))
        if self._of[user] >= self._each:
            raise SubscriberRefused(429, _("You have %(most)d long-running requests open already. End one first.") % {"most": self._each})
        self._of[user] += 1
        try:
            yield
        finally:
            self._of[user] -= 1
            if not self._of[user]:
                del self._of[user]

    @contextmanager
    def join(self, reader: Subscriber) -> Iterator[SubscriberQueue]:
        """Register a new queue for the subscriber, and remove it at the end."""
        mailbox = SubscriberQueue(reader)
        self._mailboxes.add(mailbox)
        try:
            yield mailbox
        finally:
            self._mailboxes.discard(mailbox)

    def publish(self, events: Sequence[PublishedEvent], position: StreamPosition, *, missed: bool = False) -> None:
        """Put the events of one query into all queues. missed: events were missed, so every queue gets a reset."""
        self.position = position
        for mailbox in self._mailboxes:
            if missed:
                mailbox.reset(position)
            else:
                mailbox.put(events, position)
        if events or missed:
            turned, self.turned = self.turned, asyncio.Event()
            turned.set()

    def close(self) -> None:
        """End all streams and waiting requests, and accept no new ones."""
        self.closed = True
        self.turned.set()
        for mailbox in list(self._mailboxes):
            mailbox.close()
