"""Bring one gateway to a ruleset: hello, apply, confirm. Knows the wire, not the database.

A delta is sent when this process knows what the gateway runs; otherwise the whole, and the agent finds the difference.
"""

from collections.abc import Callable
from dataclasses import dataclass

from apps.deployments.link import Channel
from firewall import wire
from firewall.diff import Delta
from firewall.digest import at, text
from firewall.ruleset import Ruleset

CONFIRM_WITHIN = 30  # seconds


class NotDone(Exception):  # noqa: N818 - the gateway's decision, not an error of the program
    """The agent refused, and nothing changed on the gateway. `reason` is one of `wire.Refused`."""

    def __init__(self, reason: str, words: str) -> None:
        super().__init__(words)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Known:
    """What a gateway is known to run, with the digest of everything in it."""

    digest: int
    ruleset: Ruleset


@dataclass(frozen=True, slots=True)
class Order:
    """What the gateway shall run: the ruleset, its digest of everything, the digest it has at `now`, and the fencing token.

    known, delta: what it is known to run, and the way from there; None where this process knows nothing.
    """

    ruleset: Ruleset
    digest: int
    target: str
    now: int
    token: int
    known: Known | None
    delta: Delta | None


class Memory:
    """What this process knows of the gateways, by id. Forgetting costs one whole ruleset on the wire."""

    def __init__(self) -> None:
        self._known: dict[int, Known] = {}

    def recall(self, gateway: int) -> Known | None:
        """What the gateway was last brought to by this process."""
        return self._known.get(gateway)

    def remember(self, gateway: int, order: Order) -> None:
        """The gateway runs what was ordered."""
        self._known[gateway] = Known(order.digest, order.ruleset)


def hello(channel: Channel, now: int) -> wire.Welcome:
    """Who is there, and what runs. Raises Unreachable or NotDone."""
    return _expect(wire.Welcome, channel.ask(wire.Hello(now)))


def plan(channel: Channel, now: int, ruleset: Ruleset) -> wire.Planned:
    """What the ruleset would change; nothing is changed. Raises Unreachable or NotDone."""
    return _expect(wire.Planned, channel.ask(wire.Plan(now, ruleset)))


def bring(channel: Channel, order: Order, committed: Callable[[wire.Applied | None], None]) -> wire.Welcome:
    """Bring the gateway to what is ordered and confirm it; `committed` is told in between (with None when it ran it already).

    Raises Unreachable or NotDone.
    """
    welcome = hello(channel, order.now)
    if welcome.digest == order.target:
        committed(None)
    else:
        applied = _apply(channel, order, welcome.digest)
        committed(applied)
        if applied.new_session:
            channel.close()  # the next question opens a new one
    _expect(wire.Confirmed, channel.ask(wire.Confirm(order.token, order.target)))
    return welcome


def _apply(channel: Channel, order: Order, base: str) -> wire.Applied:
    known = order.known
    if known and text(at(known.digest, known.ruleset, order.now)) == base:
        answer = channel.ask(_request(order, base, order.delta))
        if not (isinstance(answer, wire.Refused) and answer.reason in ("base", "digest")):
            return _expect(wire.Applied, answer)
    return _expect(wire.Applied, channel.ask(_request(order, base, None)))


def _request(order: Order, base: str, delta: Delta | None) -> wire.Apply:
    whole = order.ruleset if delta is None else None
    return wire.Apply(order.token, order.now, base, order.target, delta, whole, CONFIRM_WITHIN)


def _expect[Answer: wire.Reply](kind: type[Answer], answer: wire.Reply) -> Answer:
    if isinstance(answer, wire.Refused):
        raise NotDone(answer.reason, answer.text)
    if not isinstance(answer, kind):
        raise NotDone("malformed", f"the agent answered {type(answer).__name__} where {kind.__name__} was due")
    return answer
