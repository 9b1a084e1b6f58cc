"""Following a live trace at the command line: each event as it comes, until it has ended."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict

from apps.deployments.transport.agent_channel import Channel
from apps.desk.live_trace import live_trace_texts
from apps.desk.live_trace.live_trace_session import Wish, look, start
from firewall.live_trace import COMES, Event

PAUSE = 0.3  # seconds between two looks


def follow(channel: Channel, wish: Wish, say: Callable[[str], None], *, as_json: bool) -> None:
    """Print until it has ended; interrupted, end it. Raises CannotAsk and Problem."""
    number = start(channel, wish, by=None)
    after, ended = 0, ""
    try:
        while not ended:
            seen = look(channel, number, after=after)
            for event in seen.events:
                say(_data(event) if as_json else "\n".join(_lines(event)))
            after, ended = after + len(seen.events), seen.ended
            if not ended:
                time.sleep(PAUSE)
    except KeyboardInterrupt:
        ended = look(channel, number, after=after, end=True).ended
    if not as_json:
        say(f"\n{live_trace_texts.ENDED.get(ended, ended)}")


def _data(event: Event) -> str:
    return json.dumps(asdict(event), default=str, ensure_ascii=False)


def _lines(event: Event) -> Iterator[str]:
    if event.mark == COMES:
        yield ""
    number = f"{event.packet:3}"
    if event.mark:
        packet = live_trace_texts.headers(event.headers) if event.headers else ""
        yield f"{number} {event.mark} {event.goes or event.came}: {packet}"
    else:
        yield f"{number}   {event.chain}: {live_trace_texts.rule(event)}: {live_trace_texts.did(event)}"
