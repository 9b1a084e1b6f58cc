"""The agent's one live trace: turns the kernel's trace messages into numbered events with the rules' texts.

Nothing waits here, so no other operation is delayed: new messages stay in the socket until the next look.
"""

from collections.abc import Callable, Iterator, Mapping
from math import inf

from firewall.codec import WireError
from firewall.live_trace import COMES, PACKETS, PORTS, PROTOCOLS, SECONDS, WITH_PORTS, Event, Look, Seen, Watch, Watching
from firewall.render import render_rule
from firewall.ruleset import TABLE, Chain
from gateway.table import NftTable, TableError, TraceMessage, TraceSession

_OURS = f"inet {TABLE}"
_MOST_EVENTS = 4000
_LONGEST_NAME = 15  # IFNAMSIZ without the zero


class LiveTrace:
    """The events since the last start.

    rules: returns the chains as committed. steady: returns seconds of CLOCK_MONOTONIC.
    """

    def __init__(self, table: NftTable, rules: Callable[[], Mapping[str, Chain]], steady: Callable[[], float]) -> None:
        self._table, self._rules, self._steady = table, rules, steady
        self._tracing: TraceSession | None = None
        self._number, self._most, self._until = 0, 0, -inf
        self._ended = ""
        self._events: list[Event] = []
        self._packets: dict[int, int] = {}  # by the kernel's ids
        self._hooks: dict[int, str] = {}  # where each packet is
        self._begun = 0
        self._texts: dict[int, tuple[int, str]] = {}  # number and text by the kernel's handles

    @property
    def is_active(self) -> bool:
        """True while packets are marked."""
        return self._tracing is not None

    @property
    def seconds_left(self) -> float:
        """Seconds until the trace ends."""
        return max(self._until - self._steady(), 0.0)

    def start(self, watch: Watch) -> Watching:
        """Start a live trace and forget the last one.

        Raises WireError for an invalid request, TableError if the trace cannot be started.
        """
        inspect(watch)
        self.end_overdue()
        if self._tracing:
            raise TableError(f"a live trace already runs here, for another {self.seconds_left:.0f} s: look at it, end it, or wait")
        self._texts = {}
        self._read_texts()
        self._tracing = self._table.trace(watch)
        self._number = max(self._number + 1, int(self._steady()))  # a restarted agent does not reuse a number
        self._most, self._until, self._ended, self._begun = watch.most, self._steady() + watch.seconds, "", 0
        self._events, self._packets, self._hooks = [], {}, {}
        return Watching(self._number)

    def look(self, look: Look) -> Seen:
        """Return the events since `look.after`.

        Raises TableError if another trace has started, WireError if `look.after` is out of range.
        """
        if look.watch != self._number or not self._number:
            raise TableError("this live trace is no longer available: another one was started, or the agent was restarted")
        if not 0 <= look.after <= _MOST_EVENTS:
            raise WireError(f"request.after: {look.after} is out of range")
        self.end_overdue()
        self._take()
        if look.end:
            self._end("asked")
        return Seen(tuple(self._events[look.after :]), self._ended)

    def end_overdue(self) -> None:
        """End the trace if its time is over."""
        if self._tracing and not self.seconds_left:
            self._take()
            self._end("time")

    def _end(self, reason: str) -> None:
        if self._tracing:
            self._tracing.close()
            self._tracing, self._ended = None, reason

    def _take(self) -> None:
        """Read the messages that have arrived.

        If all packets had begun before this call, it also reads their last events, so the trace ends.
        """
        if self._tracing is None:
            return
        complete = self._begun >= self._most
        for traced in self._tracing.iter_messages():
            if len(self._events) < _MOST_EVENTS:
                self._events.extend(self._iter_events(traced))
        if self._tracing.lost:
            self._end("lost")
        elif complete or len(self._events) >= _MOST_EVENTS:
            self._end("packets")

    def _iter_events(self, traced: TraceMessage) -> Iterator[Event]:
        """Return the event, if it is about one of our packets."""
        if traced.mark == COMES:
            self._begun += 1
            self._packets[traced.id] = self._begun
        packet = self._packets.get(traced.id)
        if packet is None:
            return
        number, text = self._find_rule_text(traced)
        told = (traced.verdict, traced.to, traced.came, traced.goes, traced.headers)
        yield Event(
            packet, traced.mark, traced.table, traced.chain, self._find_hook(packet, traced), not traced.handle, number, text, *told
        )

    def _find_hook(self, packet: int, traced: TraceMessage) -> str:
        """Return the hook of the base chain that the packet is in: chains reached by a jump have none of their own."""
        if traced.table != _OURS:
            return ""
        chain = self._rules().get(traced.chain)
        if chain and chain.hook:
            self._hooks[packet] = chain.hook.hook
        return self._hooks.get(packet, "")

    def _find_rule_text(self, traced: TraceMessage) -> tuple[int, str]:
        if traced.table != _OURS or not traced.handle:
            return 0, ""
        if traced.handle not in self._texts:
            self._read_texts()
        return self._texts.setdefault(traced.handle, (0, ""))

    def _read_texts(self) -> None:
        """Map the kernel's handles to the committed rules. They are in the same order as long as no other program has changed them."""
        handles = self._table.list_rule_handles()
        for name, chain in self._rules().items():
            if len(there := handles.get(name, ())) == len(chain.rules):
                for number, (handle, rule) in enumerate(zip(there, chain.rules, strict=True), 1):
                    self._texts[handle] = number, render_rule(rule)


def inspect(watch: Watch) -> None:
    """Raise WireError for a watch that makes no sense or has a value out of range."""
    ends = [each for each in (watch.source, watch.destination) if each]
    if not ends:
        raise WireError("request: give a source or a destination; otherwise every packet would be watched")
    if len({each.version for each in ends}) > 1:
        raise WireError("request: source and destination are of different families")
    fields = (("seconds", SECONDS), ("most", PACKETS), ("protocol", PROTOCOLS), ("port", PORTS))
    for name, possible in fields:
        if (value := getattr(watch, name)) not in possible:
            raise WireError(f"request.{name}: {value} is not between {possible[0]} and {possible[-1]}")
    if watch.port and watch.protocol not in WITH_PORTS:
        raise WireError("request.port: only TCP and UDP have ports; give the protocol")
    if len(watch.interface.encode()) > _LONGEST_NAME or not watch.interface.isprintable() or " " in watch.interface:
        raise WireError("request.interface: not a name of an interface")
