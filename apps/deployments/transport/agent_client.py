"""Client of one gateway's agent: sends one command and translates its answer into an event of a rollout. Does not use the database.

Sends a delta if this process knows what the gateway runs; otherwise the whole ruleset, and the agent computes the difference.
"""

from dataclasses import dataclass

from apps.deployments.desired_state import database_clock
from apps.deployments.transport.agent_channel import AgentChannel, BeatHandler, Unreachable, ignore_beat
from firewall import wire
from firewall.diff import Delta
from firewall.digest import format_digest, subtract_expired_from_base_digest
from firewall.rollout import RolloutEvent
from firewall.ruleset import Ruleset

AHEAD = 1000  # milliseconds by which an agent's clock may be ahead
_UNKNOWN_REQUEST = "request.is"  # how a refusal of a request that the agent does not know begins


class AgentRefused(Exception):  # noqa: N818 - the gateway's decision, not an error of the program
    """The agent refused, and nothing changed on the gateway. `reason` is one of `wire.Refused`."""

    def __init__(self, reason: str, words: str) -> None:
        super().__init__(words)
        self.reason = reason if reason in wire.REASONS else "malformed"


@dataclass(frozen=True, slots=True)
class KnownRuleset:
    """Ruleset that a gateway is known to run: the id of the revision, the digest over everything in it, and the ruleset."""

    revision: int
    digest: int
    ruleset: Ruleset


@dataclass(frozen=True, slots=True)
class DeployOrder:
    """Order to deploy a ruleset to a gateway: the ruleset, its digest over everything, its digest at `now`, and the fencing token.

    known, delta: what the gateway is known to run, and the delta from it; None if unknown. confirm_within: seconds after which
    the gateway reverts by itself.
    """

    ruleset: Ruleset
    digest: int
    target: str
    now: int
    token: int
    confirm_within: int
    known: KnownRuleset | None
    delta: Delta | None


def send_hello(channel: AgentChannel, now: int, token: int = 0, heard: BeatHandler = ignore_beat) -> wire.Welcome:
    """Ask an agent what it runs; from then on it refuses older tokens. Raises Unreachable or AgentRefused.

    If its answer proves that its clock is ahead, send it an upper bound of the time.
    """
    welcome = expect_answer(wire.Welcome, channel.ask(wire.Hello(now, token, database_clock.get_earliest_database_time()), heard=heard))
    latest = database_clock.get_latest_database_time()
    if not latest or welcome.clock <= latest + AHEAD:
        return welcome
    bound = wire.ClockBound(welcome.steady, latest)
    return expect_answer(wire.Welcome, channel.ask(wire.Hello(now, token, database_clock.get_earliest_database_time(), bound), heard=heard))


def plan_on_gateway(channel: AgentChannel, now: int, ruleset: Ruleset, heard: BeatHandler = ignore_beat) -> wire.Planned:
    """Ask what the ruleset would change, without changing anything. Raises Unreachable or AgentRefused."""
    return expect_answer(wire.Planned, channel.ask(wire.Plan(now, ruleset), heard=heard))


def apply_order(channel: AgentChannel, order: DeployOrder, welcome: wire.Welcome, heard: BeatHandler = ignore_beat) -> wire.Applied:
    """Commit the order on top of what the agent has just reported to run. Raises Unreachable or AgentRefused."""
    known = order.known
    if (
        known
        and order.delta is not None
        and format_digest(subtract_expired_from_base_digest(known.digest, order.delta, order.now)) == welcome.digest
    ):
        answer = channel.ask(_build_request(order, welcome.digest, order.delta), heard=heard)
        if not (isinstance(answer, wire.Refused) and answer.reason in ("base", "digest")):
            return expect_answer(wire.Applied, answer)
    return expect_answer(wire.Applied, channel.ask(_build_request(order, welcome.digest, None), heard=heard))


def _build_request(order: DeployOrder, base: str, delta: Delta | None) -> wire.Apply:
    whole = order.ruleset if delta is None else None
    return wire.Apply(order.token, order.now, base, order.target, delta, whole, order.confirm_within)


def confirm_order(channel: AgentChannel, order: DeployOrder, heard: BeatHandler = ignore_beat) -> wire.Confirmed:
    """Keep what was applied. Raises Unreachable or AgentRefused."""
    return expect_answer(wire.Confirmed, channel.ask(wire.Confirm(order.token, order.target), heard=heard))


def revert_order(channel: AgentChannel, order: DeployOrder, heard: BeatHandler = ignore_beat) -> str:
    """Revert now. Return a text about what runs then; it may have reverted by itself already. Raises Unreachable or AgentRefused."""
    answer = channel.ask(wire.Revert(order.token), heard=heard)
    if isinstance(answer, wire.Refused) and answer.reason == "digest":
        return answer.text
    return expect_answer(wire.Reverted, answer).text


def query_outcome(channel: AgentChannel, order: DeployOrder, heard: BeatHandler = ignore_beat) -> RolloutEvent:
    """Find the outcome of the last command with this token. The agent refuses older tokens from then on."""
    try:
        welcome = send_hello(channel, order.now, order.token, heard)
    except Unreachable:
        return RolloutEvent.LOST
    if welcome.trial == order.target:
        return RolloutEvent.FOUND_ON_TRIAL
    if not welcome.trial and welcome.confirmed == order.target == welcome.digest:
        return RolloutEvent.FOUND_CONFIRMED
    return RolloutEvent.WENT_BACK if welcome.applied == order.token else RolloutEvent.NEVER_ARRIVED


def is_running(welcome: wire.Welcome, target: str) -> bool:
    """True if the gateway runs the target now and would after a reboot."""
    return welcome.digest == welcome.confirmed == target and not welcome.trial


def is_request_unknown(answer: wire.Reply) -> bool:
    """True if the agent is of a release that does not know the request.

    What its version of the protocol does not have is not even sent. Until version 8 it refused such a request as malformed.
    """
    if not isinstance(answer, wire.Refused):
        return False
    return answer.reason == "version" or (answer.reason == "malformed" and answer.text.startswith(_UNKNOWN_REQUEST))


def expect_answer[Answer: wire.Reply](kind: type[Answer], answer: wire.Reply) -> Answer:
    """Return the answer if it is of this kind. Raises AgentRefused."""
    if isinstance(answer, wire.Refused):
        raise AgentRefused(answer.reason, answer.text)
    if not isinstance(answer, kind):
        raise AgentRefused("malformed", f"the agent answered {type(answer).__name__}, expected {kind.__name__}")
    return answer
