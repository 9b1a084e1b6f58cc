"""A rollout as a state machine: (state, event) -> (state, command). One table; no database, no wire, no clock.

A rollout brings the gateways of a group to a revision, one after the other. Its driver (a worker) executes the command and comes
back with the event that says how it went. If the worker dies, another one takes over: it begins with TAKEN_OVER, and asks the
gateway what became of the last command.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

MOST_ATTEMPTS = 3  # of sending to one gateway, when a command never arrived


class RolloutPhase(StrEnum):
    """Phases of the whole rollout. The last three are final."""

    QUEUED = "queued"
    APPLYING = "applying"
    PAUSED = "paused"
    CONFIRMED = "confirmed"
    FAILED = "failed"
    ABORTED = "aborted"


class GatewayStep(StrEnum):
    """Steps of one gateway in a rollout."""

    WAITING = "waiting"  # its turn has not come
    SENDING = "sending"  # Apply is on its way
    PROBING = "probing"  # committed, on trial: the gateway goes back by itself unless it is confirmed
    CONFIRMING = "confirming"  # Confirm is on its way
    REVERTING = "reverting"  # Revert is on its way
    ASKING = "asking"  # the result of the last command is not known
    CONFIRMED = "confirmed"  # runs the revision, and will after a reboot
    REFUSED = "refused"  # the gateway refused; nothing changed there
    AWAY = "away"  # did not answer; nothing was sent
    WENT_BACK = "went_back"  # committed, not confirmed: runs again what it ran before
    LOST = "lost"  # stopped answering in the middle: it has confirmed, or goes back by itself
    IMPAIRED = "impaired"  # its own disk, state or token is at fault, not the ruleset: it runs what it ran before
    SKIPPED = "skipped"  # the rollout ended before its turn


class RolloutEvent(StrEnum):
    """Events of a rollout: to the driver, to the last command, or by a person's request."""

    CLAIMED = "claimed"
    TAKEN_OVER = "taken_over"
    COMMITTED = "committed"
    UNCHANGED = "unchanged"  # runs the revision already, and has confirmed it
    REFUSED = "refused"
    IMPAIRED = "impaired"  # refused because of a fault of its own, which says nothing about the ruleset
    AWAY = "away"  # no connection, so nothing was sent
    LOST = "lost"  # no answer to what was sent
    PASSED = "passed"
    FAILED = "failed"
    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not_confirmed"  # the gateway refused to confirm
    WENT_BACK = "went_back"
    FOUND_CONFIRMED = "found_confirmed"
    FOUND_ON_TRIAL = "found_on_trial"
    NEVER_ARRIVED = "never_arrived"  # the highest token the gateway saw is older than this driver's
    PAUSE = "pause"
    RESUME = "resume"
    ABORT = "abort"


class RolloutCommand(StrEnum):
    """The driver's next action, on the gateway whose turn it is."""

    ASK = "ask"
    APPLY = "apply"
    PROBE = "probe"
    CONFIRM = "confirm"
    REVERT = "revert"
    REST = "rest"  # nothing, until the rollout is resumed
    FINISH = "finish"  # nothing: the rollout is over
    NOTHING = "nothing"  # continue what is under way


@dataclass(frozen=True, slots=True)
class RolloutState:
    """State of a rollout: the step of each gateway, the phase, and a person's request (`wish`) that waits.

    goes_on: True if the rollout continues without a gateway that does not answer or is impaired. harmless: True if only elements
    change, which locks nobody out. attempts: how often the driver has sent to the gateway whose turn it is.
    """

    steps: tuple[GatewayStep, ...]
    phase: RolloutPhase = RolloutPhase.QUEUED
    goes_on: bool = True
    harmless: bool = False
    wish: RolloutEvent | None = None
    attempts: int = 0

    @property
    def turn(self) -> int | None:
        """Index of the gateway that something is under way with, or whose turn is next; None when all are done."""
        return next((at for at, step in enumerate(self.steps) if step not in FINAL), None)


FINAL = frozenset(
    {
        GatewayStep.CONFIRMED,
        GatewayStep.REFUSED,
        GatewayStep.AWAY,
        GatewayStep.WENT_BACK,
        GatewayStep.LOST,
        GatewayStep.IMPAIRED,
        GatewayStep.SKIPPED,
    }
)
WITHOUT = frozenset({GatewayStep.AWAY, GatewayStep.LOST, GatewayStep.IMPAIRED})  # a rollout may continue without a gateway in one of these
OVER = frozenset({RolloutPhase.CONFIRMED, RolloutPhase.FAILED, RolloutPhase.ABORTED})
ON_TRIAL = frozenset({GatewayStep.PROBING, GatewayStep.CONFIRMING, GatewayStep.REVERTING})

TABLE: Mapping[tuple[GatewayStep, RolloutEvent], GatewayStep] = {
    (GatewayStep.SENDING, RolloutEvent.COMMITTED): GatewayStep.PROBING,
    (GatewayStep.SENDING, RolloutEvent.UNCHANGED): GatewayStep.CONFIRMED,
    (GatewayStep.SENDING, RolloutEvent.REFUSED): GatewayStep.REFUSED,
    (GatewayStep.SENDING, RolloutEvent.IMPAIRED): GatewayStep.IMPAIRED,
    (GatewayStep.SENDING, RolloutEvent.AWAY): GatewayStep.AWAY,
    (GatewayStep.SENDING, RolloutEvent.LOST): GatewayStep.ASKING,
    (GatewayStep.PROBING, RolloutEvent.PASSED): GatewayStep.CONFIRMING,
    (GatewayStep.PROBING, RolloutEvent.FAILED): GatewayStep.REVERTING,
    (GatewayStep.PROBING, RolloutEvent.LOST): GatewayStep.ASKING,
    (GatewayStep.CONFIRMING, RolloutEvent.CONFIRMED): GatewayStep.CONFIRMED,
    (GatewayStep.CONFIRMING, RolloutEvent.NOT_CONFIRMED): GatewayStep.REVERTING,
    (GatewayStep.CONFIRMING, RolloutEvent.LOST): GatewayStep.ASKING,
    (GatewayStep.REVERTING, RolloutEvent.WENT_BACK): GatewayStep.WENT_BACK,
    (
        GatewayStep.REVERTING,
        RolloutEvent.IMPAIRED,
    ): GatewayStep.IMPAIRED,  # it has gone back, for a reason that says nothing about the ruleset
    (GatewayStep.REVERTING, RolloutEvent.LOST): GatewayStep.LOST,
    (GatewayStep.ASKING, RolloutEvent.FOUND_CONFIRMED): GatewayStep.CONFIRMED,
    (GatewayStep.ASKING, RolloutEvent.FOUND_ON_TRIAL): GatewayStep.PROBING,
    (GatewayStep.ASKING, RolloutEvent.NEVER_ARRIVED): GatewayStep.SENDING,
    (GatewayStep.ASKING, RolloutEvent.WENT_BACK): GatewayStep.WENT_BACK,
    (GatewayStep.ASKING, RolloutEvent.IMPAIRED): GatewayStep.IMPAIRED,
    (GatewayStep.ASKING, RolloutEvent.LOST): GatewayStep.LOST,
}

COMMANDS: Mapping[GatewayStep, RolloutCommand] = {
    GatewayStep.SENDING: RolloutCommand.APPLY,
    GatewayStep.PROBING: RolloutCommand.PROBE,
    GatewayStep.CONFIRMING: RolloutCommand.CONFIRM,
    GatewayStep.REVERTING: RolloutCommand.REVERT,
    GatewayStep.ASKING: RolloutCommand.ASK,
}


class InvalidTransitionError(ValueError):
    """An event that cannot happen in this state. The message names both."""


def advance_rollout(rollout: RolloutState, event: RolloutEvent) -> tuple[RolloutState, RolloutCommand]:
    """Return the state after the event, and the command that follows. Raises InvalidTransitionError."""
    if rollout.phase in OVER:
        raise InvalidTransitionError(f"{event}: the rollout is over ({rollout.phase})")
    if event in (RolloutEvent.PAUSE, RolloutEvent.RESUME, RolloutEvent.ABORT):
        return _apply_wish(rollout, event)
    if event is RolloutEvent.CLAIMED and rollout.phase is RolloutPhase.QUEUED:
        return _start_next(replace(rollout, phase=RolloutPhase.APPLYING))
    if rollout.phase is not RolloutPhase.APPLYING:
        raise InvalidTransitionError(f"{event}: the rollout is {rollout.phase}")
    if event is RolloutEvent.TAKEN_OVER:
        return _take_over(rollout)
    return _apply_answer(rollout, event)


def _apply_wish(rollout: RolloutState, event: RolloutEvent) -> tuple[RolloutState, RolloutCommand]:
    """Apply a person's request: it waits until what is under way on a gateway has ended; if nothing is, it takes effect at once."""
    if event is RolloutEvent.RESUME:
        wish = None if rollout.wish is RolloutEvent.PAUSE else rollout.wish
        phase = RolloutPhase.QUEUED if rollout.phase is RolloutPhase.PAUSED else rollout.phase
        return replace(rollout, wish=wish, phase=phase), RolloutCommand.NOTHING
    if rollout.wish is not RolloutEvent.ABORT:
        rollout = replace(rollout, wish=event)
    return (rollout, RolloutCommand.NOTHING) if rollout.phase is RolloutPhase.APPLYING else _start_next(rollout)


def _take_over(rollout: RolloutState) -> tuple[RolloutState, RolloutCommand]:
    turn = rollout.turn
    if turn is None or rollout.steps[turn] is GatewayStep.WAITING:
        return _start_next(rollout)
    return _set_step(rollout, turn, GatewayStep.ASKING), RolloutCommand.ASK


def _apply_answer(rollout: RolloutState, event: RolloutEvent) -> tuple[RolloutState, RolloutCommand]:
    turn = rollout.turn
    step = None if turn is None else rollout.steps[turn]
    if turn is None or step is None or (step, event) not in TABLE:
        raise InvalidTransitionError(f"{event} cannot happen to a gateway that is {step}")
    after = TABLE[step, event]
    if after is GatewayStep.SENDING and rollout.attempts >= MOST_ATTEMPTS:
        after = GatewayStep.LOST
    if rollout.wish is RolloutEvent.ABORT:
        after = {
            GatewayStep.PROBING: GatewayStep.REVERTING,
            GatewayStep.CONFIRMING: GatewayStep.REVERTING,
            GatewayStep.SENDING: GatewayStep.SKIPPED,
        }.get(after, after)
    rollout = _set_step(rollout, turn, after)
    if after in FINAL:
        return _start_next(rollout)
    return replace(rollout, attempts=rollout.attempts + (after is GatewayStep.SENDING)), COMMANDS[after]


def _start_next(rollout: RolloutState) -> tuple[RolloutState, RolloutCommand]:
    """Continue when nothing is under way: with the next gateway, a rest, or the end."""
    turn = rollout.turn
    if turn is None or rollout.wish is RolloutEvent.ABORT or not _may_go_on(rollout):
        return _finish(rollout), RolloutCommand.FINISH
    if rollout.wish is RolloutEvent.PAUSE:
        return replace(rollout, phase=RolloutPhase.PAUSED, wish=None), RolloutCommand.REST
    if rollout.phase is not RolloutPhase.APPLYING:
        return rollout, RolloutCommand.NOTHING
    return replace(_set_step(rollout, turn, GatewayStep.SENDING), attempts=1), RolloutCommand.APPLY


def _may_go_on(rollout: RolloutState) -> bool:
    """True if the rollout may continue with the next gateway.

    What one gateway refused, or did not survive, is not tried on the next. A gateway's own fault is no reason to stop the others.
    """
    done = {step for step in rollout.steps if step in FINAL}
    if not done <= {GatewayStep.CONFIRMED, *WITHOUT}:
        return False
    return not (GatewayStep.LOST in done and not rollout.harmless) and (rollout.goes_on or not done & WITHOUT)


def _finish(rollout: RolloutState) -> RolloutState:
    steps = tuple(GatewayStep.SKIPPED if step is GatewayStep.WAITING else step for step in rollout.steps)
    if all(step is GatewayStep.CONFIRMED for step in steps):
        return replace(rollout, steps=steps, phase=RolloutPhase.CONFIRMED, wish=None)
    return replace(
        rollout, steps=steps, phase=RolloutPhase.ABORTED if rollout.wish is RolloutEvent.ABORT else RolloutPhase.FAILED, wish=None
    )


def _set_step(rollout: RolloutState, turn: int, step: GatewayStep) -> RolloutState:
    return replace(rollout, steps=(*rollout.steps[:turn], step, *rollout.steps[turn + 1 :]))
