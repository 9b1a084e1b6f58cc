"""Positions in the event stream, its text format, and the limits for a single subscriber."""

import asyncio
import json
import re
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from apps.events import sse
from apps.events.event_types import KINDS, OF_MEMBERS, PublishedEvent, Subscriber
from apps.events.hub import MAX_WAITING_EVENTS, EventHub, SubscriberQueue
from apps.events.notify_listener import publish_news
from apps.events.stream_position import LONGEST, StreamPosition, parse_position
from apps.events.subscriber_rights import SubscriberRefused

HERE, LATER = StreamPosition(1, "10:10:"), StreamPosition(2, "20:30:21,25")
MARA = Subscriber(1, frozenset({"rollout"}))


def event(pk: int, *, kind: str = "rollout", transaction: int = 15) -> PublishedEvent:
    return PublishedEvent(kind, pk, "queued", None, own=False, transaction=transaction)


@given(st.integers(0, 10**11), st.sets(st.integers(1, 10**17), min_size=1, max_size=50))
def test_a_position_is_read_as_it_was_written_and_knows_what_it_saw(seconds: int, numbers: set[int]) -> None:
    first, *under_way = sorted(numbers)
    end = max(numbers) + 1
    made = StreamPosition(seconds, f"{first}:{end}:{','.join(map(str, under_way))}")
    assert parse_position(str(made)) == made
    assert made.has_seen(first - 1) and not made.has_seen(end)
    assert not any(made.has_seen(each) for each in under_way)


WRONG = ("", "17", "1-", "1-2:1:", "1-0:1:", "1-5:9:4", "1-5:9:9", "1-5:9:7,6", "1-5:9:7,7", "1-5:9:,", "1-5:9:\n", "-1-5:9:")


@pytest.mark.parametrize("text", [*WRONG, f"1-{'5' * 20}:9:"])
def test_a_text_that_is_not_a_valid_stream_position_is_ignored(text: str) -> None:
    assert parse_position(text) is None


def test_a_position_that_is_too_long_is_none() -> None:
    assert parse_position(f"1-1:{10**17}:{','.join(str(each) for each in range(2, LONGEST))}") is None


def test_a_stream_reads_as_the_standard_says_and_only_the_last_of_a_batch_moves_the_place_on() -> None:
    assert sse.render_opening(2000, HERE) == b"retry: 2000\nid: 1-10:10:\n\n"
    first, last, rest = sse.render_batch([event(1), event(2)], LATER).decode().split("\n\n")
    assert rest == "" and "id:" not in first.replace('"id":', "")
    assert last.split("\n")[:2] == ["id: 2-20:30:21,25", "event: rollout"]
    assert json.loads(last.split("\n")[2].removeprefix("data: ")) == {"type": "rollout", "id": 2, "state": "queued"}
    assert sse.render_reset(HERE) == b"id: 1-10:10:\nevent: reset\ndata: {}\n\n"
    assert sse.render_beat(HERE).startswith(b":") and b"data" not in sse.render_beat(HERE)


def test_pages_listen_to_every_kind_that_there_is() -> None:
    script = (settings.ROOT / "static" / "netzwart" / "stream.js").read_text()
    listened = re.findall(r'"(\w+)"', script.partition("const KINDS = [")[2].partition("]")[0])
    assert set(listened) == {*KINDS, *OF_MEMBERS, "reset"}


def run(work: Callable[[], Coroutine[None, None, None]]) -> None:
    """Run the coroutine in a separate thread, because browser tests may have a running loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(work())).result()


def test_a_mailbox_keeps_little_and_tells_nothing_twice() -> None:
    async def reads() -> None:
        mailbox = SubscriberQueue(MARA)
        mailbox.put([event(1, kind="ticket")], HERE)
        assert await mailbox.next(0) == b""
        mailbox.since = LATER
        mailbox.put([event(1, transaction=19), event(2, transaction=21), event(3, transaction=22), event(4, transaction=30)], LATER)
        assert await mailbox.next(0) == sse.render_batch([event(2), event(4)], LATER)
        for number in range(3 * MAX_WAITING_EVENTS):
            mailbox.put([event(number, transaction=40)], LATER)
        waiting = await mailbox.next(0)
        assert waiting.startswith(sse.render_reset(LATER)) and waiting.count(b"event: rollout") < MAX_WAITING_EVENTS
        assert await mailbox.next(0) == b""

    run(reads)


def test_a_stream_that_began_before_the_first_position_is_told_to_load_everything_again() -> None:
    async def find_position(_look: Callable[[], StreamPosition]) -> StreamPosition:
        return LATER

    async def reads() -> None:
        hub = EventHub(most=4, each=2)
        with hub.join(MARA) as mailbox:
            mailbox.since = HERE
            await publish_news(hub, find_position)
            assert await mailbox.next(0) == sse.render_reset(LATER)
        with hub.join(MARA) as mailbox:
            assert await mailbox.next(0) == b""

    run(reads)


def read_refusal_status(hub: EventHub, user: int) -> int:
    """Return the HTTP status with which one more subscriber is refused."""
    with pytest.raises(SubscriberRefused) as error, hub.reserve_place(user):
        pytest.fail("one too many")
    return error.value.status


def test_places_are_counted_for_each_person_and_in_all_and_given_back() -> None:
    async def comes_and_goes() -> None:
        hub = EventHub(most=3, each=2)
        with hub.reserve_place(1), hub.reserve_place(1):
            assert read_refusal_status(hub, 1) == 429
            with hub.reserve_place(2):
                assert read_refusal_status(hub, 3) == 503
        with hub.reserve_place(1), hub.reserve_place(1), hub.join(MARA) as mailbox:
            turned = hub.turned
            hub.publish([event(1)], LATER)
            assert turned.is_set() and not hub.turned.is_set()
            assert await mailbox.next(0)
            hub.close()
            assert mailbox.closed and hub.turned.is_set()
        assert read_refusal_status(hub, 1) == 503

    run(comes_and_goes)
