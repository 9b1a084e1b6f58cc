"""A rollout as a state machine: (state, event) -> (state, command). One table; no database, no wire, no clock.

A rollout brings the gateways of a group to a revision, one after the other. Whoever drives it (a worker) does the command,
and comes back with the event that says how it went. The same holds when the worker is another one, because the first is
dead: it begins with TAKEN_OVER, and asks the gateway what became of the last command.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

MOST_ATTEMPTS = 3  # of sending to one gateway, when a command never arrived


class Phase(StrEnum):
    """Of the whole rollout. The last three are final."""

    QUEUED = "queued"
    APPLYING = "applying"
    PAUSED = "paused"
    CONFIRMED = "confirmed"
    FAILED = "failed"
    ABORTED = "aborted"


class Step(StrEnum):
    """Of one gateway."""

    WAITING = "waiting"  # its turn has not come
    SENDING = "sending"  # Apply is on its way
    PROBING = "probing"  # committed, on trial: the gateway goes back by itself unless it is confirmed
    CONFIRMING = "confirming"  # Confirm is on its way
    REVERTING = "reverting"  # Revert is on its way
    ASKING = "asking"  # nobody knows what became of the last command
    CONFIRMED = "confirmed"  # runs the revision, and will after a reboot
    REFUSED = "refused"  # the gateway said no; nothing changed there
    AWAY = "away"  # did not answer; nothing was sent
    WENT_BACK = "went_back"  # committed, not confirmed: runs again what it ran before
    LOST = "lost"  # stopped answering in the middle: it has confirmed, or goes back by itself
    IMPAIRED = "impaired"  # its own disk, state or token is in the way, not the ruleset: it runs what it ran before
    SKIPPED = "skipped"  # the rollout ended before its turn


class Event(StrEnum):
    """What happened: to the driver, to the last command, or by a person's wish."""

    CLAIMED = "claimed"
    TAKEN_OVER = "taken_over"
    COMMITTED = "committed"
    UNCHANGED = "unchanged"  # it runs the revision already, and has confirmed it
    REFUSED = "refused"
    IMPAIRED = "impaired"  # it refused because of a fault of its own, which says nothing about the ruleset
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


class Command(StrEnum):
    """What the driver does next, to the gateway whose turn it is."""

    ASK = "ask"
    APPLY = "apply"
    PROBE = "probe"
    CONFIRM = "confirm"
    REVERT = "revert"
    REST = "rest"  # nothing, until somebody resumes it
    FINISH = "finish"  # nothing more: the rollout is over
    NOTHING = "nothing"  # go on with what is under way


@dataclass(frozen=True, slots=True)
class Rollout:
    """goes_on: without a gateway that does not answer, or is impaired. harmless: nothing but elements changes, which locks nobody out.

    attempts: how often the gateway whose turn it is was sent to.
    """

    steps: tuple[Step, ...]
    phase: Phase = Phase.QUEUED
    goes_on: bool = True
    harmless: bool = False
    wish: Event | None = None
    attempts: int = 0

    @property
    def turn(self) -> int | None:
        """Index of the gateway that something is under way with, or whose turn is next; None when all are done."""
        return next((at for at, step in enumerate(self.steps) if step not in FINAL), None)


FINAL = frozenset({Step.CONFIRMED, Step.REFUSED, Step.AWAY, Step.WENT_BACK, Step.LOST, Step.IMPAIRED, Step.SKIPPED})
WITHOUT = frozenset({Step.AWAY, Step.LOST, Step.IMPAIRED})  # a rollout may go on without a gateway that is so
OVER = frozenset({Phase.CONFIRMED, Phase.FAILED, Phase.ABORTED})
ON_TRIAL = frozenset({Step.PROBING, Step.CONFIRMING, Step.REVERTING})

TABLE: Mapping[tuple[Step, Event], Step] = {
    (Step.SENDING, Event.COMMITTED): Step.PROBING,
    (Step.SENDING, Event.UNCHANGED): Step.CONFIRMED,
    (Step.SENDING, Event.REFUSED): Step.REFUSED,
    (Step.SENDING, Event.IMPAIRED): Step.IMPAIRED,
    (Step.SENDING, Event.AWAY): Step.AWAY,
    (Step.SENDING, Event.LOST): Step.ASKING,
    (Step.PROBING, Event.PASSED): Step.CONFIRMING,
    (Step.PROBING, Event.FAILED): Step.REVERTING,
    (Step.PROBING, Event.LOST): Step.ASKING,
    (Step.CONFIRMING, Event.CONFIRMED): Step.CONFIRMED,
    (Step.CONFIRMING, Event.NOT_CONFIRMED): Step.REVERTING,
    (Step.CONFIRMING, Event.LOST): Step.ASKING,
    (Step.REVERTING, Event.WENT_BACK): Step.WENT_BACK,
    (Step.REVERTING, Event.IMPAIRED): Step.IMPAIRED,  # it has gone back, and why it had to says nothing about the ruleset
    (Step.REVERTING, Event.LOST): Step.LOST,
    (Step.ASKING, Event.FOUND_CONFIRMED): Step.CONFIRMED,
    (Step.ASKING, Event.FOUND_ON_TRIAL): Step.PROBING,
    (Step.ASKING, Event.NEVER_ARRIVED): Step.SENDING,
    (Step.ASKING, Event.WENT_BACK): Step.WENT_BACK,
    (Step.ASKING, Event.IMPAIRED): Step.IMPAIRED,
    (Step.ASKING, Event.LOST): Step.LOST,
}

COMMANDS: Mapping[Step, Command] = {
    Step.SENDING: Command.APPLY,
    Step.PROBING: Command.PROBE,
    Step.CONFIRMING: Command.CONFIRM,
    Step.REVERTING: Command.REVERT,
    Step.ASKING: Command.ASK,
}


class NotPossibleError(ValueError):
    """This event cannot happen in this state. The message names both."""


def advance(rollout: Rollout, event: Event) -> tuple[Rollout, Command]:
    """The state after the event, and what is to be done now. Raises NotPossibleError."""
    if rollout.phase in OVER:
        raise NotPossibleError(f"{event}: the rollout is over ({rollout.phase})")
    if event in (Event.PAUSE, Event.RESUME, Event.ABORT):
        return _wished(rollout, event)
    if event is Event.CLAIMED and rollout.phase is Phase.QUEUED:
        return _next(replace(rollout, phase=Phase.APPLYING))
    if rollout.phase is not Phase.APPLYING:
        raise NotPossibleError(f"{event}: the rollout is {rollout.phase}")
    if event is Event.TAKEN_OVER:
        return _taken_over(rollout)
    return _answered(rollout, event)


def _wished(rollout: Rollout, event: Event) -> tuple[Rollout, Command]:
    """A person's wish waits until what is under way on a gateway has come to an end; where nothing is, it is done at once."""
    if event is Event.RESUME:
        wish = None if rollout.wish is Event.PAUSE else rollout.wish
        phase = Phase.QUEUED if rollout.phase is Phase.PAUSED else rollout.phase
        return replace(rollout, wish=wish, phase=phase), Command.NOTHING
    if rollout.wish is not Event.ABORT:
        rollout = replace(rollout, wish=event)
    return (rollout, Command.NOTHING) if rollout.phase is Phase.APPLYING else _next(rollout)


def _taken_over(rollout: Rollout) -> tuple[Rollout, Command]:
    turn = rollout.turn
    if turn is None or rollout.steps[turn] is Step.WAITING:
        return _next(rollout)
    return _set(rollout, turn, Step.ASKING), Command.ASK


def _answered(rollout: Rollout, event: Event) -> tuple[Rollout, Command]:
    turn = rollout.turn
    step = None if turn is None else rollout.steps[turn]
    if turn is None or step is None or (step, event) not in TABLE:
        raise NotPossibleError(f"{event} cannot happen to a gateway that is {step}")
    after = TABLE[step, event]
    if after is Step.SENDING and rollout.attempts >= MOST_ATTEMPTS:
        after = Step.LOST
    if rollout.wish is Event.ABORT:
        after = {Step.PROBING: Step.REVERTING, Step.CONFIRMING: Step.REVERTING, Step.SENDING: Step.SKIPPED}.get(after, after)
    rollout = _set(rollout, turn, after)
    if after in FINAL:
        return _next(rollout)
    return replace(rollout, attempts=rollout.attempts + (after is Step.SENDING)), COMMANDS[after]


def _next(rollout: Rollout) -> tuple[Rollout, Command]:
    """Nothing is under way: the next gateway, or a rest, or the end."""
    turn = rollout.turn
    if turn is None or rollout.wish is Event.ABORT or not _may_go_on(rollout):
        return _over(rollout), Command.FINISH
    if rollout.wish is Event.PAUSE:
        return replace(rollout, phase=Phase.PAUSED, wish=None), Command.REST
    if rollout.phase is not Phase.APPLYING:
        return rollout, Command.NOTHING
    return replace(_set(rollout, turn, Step.SENDING), attempts=1), Command.APPLY


def _may_go_on(rollout: Rollout) -> bool:
    """What one gateway refused, or did not survive, is not tried on the next. A fault of its own is no reason to stop the others."""
    done = {step for step in rollout.steps if step in FINAL}
    if not done <= {Step.CONFIRMED, *WITHOUT}:
        return False
    return not (Step.LOST in done and not rollout.harmless) and (rollout.goes_on or not done & WITHOUT)


def _over(rollout: Rollout) -> Rollout:
    steps = tuple(Step.SKIPPED if step is Step.WAITING else step for step in rollout.steps)
    if all(step is Step.CONFIRMED for step in steps):
        return replace(rollout, steps=steps, phase=Phase.CONFIRMED, wish=None)
    return replace(rollout, steps=steps, phase=Phase.ABORTED if rollout.wish is Event.ABORT else Phase.FAILED, wish=None)


def _set(rollout: Rollout, turn: int, step: Step) -> Rollout:
    return replace(rollout, steps=(*rollout.steps[:turn], step, *rollout.steps[turn + 1 :]))
