"""Live trace at the command line: prints each event as it arrives, until the trace has ended."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict

from apps.deployments.transport.agent_channel import AgentChannel
from apps.desk.live_trace import live_trace_texts
from apps.desk.live_trace.live_trace_session import LiveTraceRequest, read_live_trace, start_live_trace
from firewall.live_trace import COMES, Event

PAUSE = 0.3  # seconds between two polls


def print_live_trace(channel: AgentChannel, wish: LiveTraceRequest, say: Callable[[str], None], *, as_json: bool) -> None:
    """Print events until the trace has ended; Ctrl-C ends it. Raises InvalidQuestion and Problem."""
    number = start_live_trace(channel, wish, by=None)
    after, ended = 0, ""
    try:
        while not ended:
            seen = read_live_trace(channel, number, after=after)
            for event in seen.events:
                say(_render_json(event) if as_json else "\n".join(_iter_lines(event)))
            after, ended = after + len(seen.events), seen.ended
            if not ended:
                time.sleep(PAUSE)
    except KeyboardInterrupt:
        ended = read_live_trace(channel, number, after=after, end=True).ended
    if not as_json:
        say(f"\n{live_trace_texts.ENDED.get(ended, ended)}")


def _render_json(event: Event) -> str:
    return json.dumps(asdict(event), default=str, ensure_ascii=False)


def _iter_lines(event: Event) -> Iterator[str]:
    if event.mark == COMES:
        yield ""
    number = f"{event.packet:3}"
    if event.mark:
        packet = live_trace_texts.render_headers(event.headers) if event.headers else ""
        yield f"{number} {event.mark} {event.goes or event.came}: {packet}"
    else:
        yield f"{number}   {event.chain}: {live_trace_texts.render_rule(event)}: {live_trace_texts.describe_effect(event)}"
