"""The state machine of a rollout: single paths, then every order of events against a model of gateways and workers."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from firewall.rollout import (
    FINAL,
    OVER,
    WITHOUT,
    GatewayStep,
    InvalidTransitionError,
    RolloutCommand,
    RolloutEvent,
    RolloutPhase,
    RolloutState,
    advance_rollout,
)
from tests.example_counts import count_examples

CLAIMED = (RolloutEvent.CLAIMED,)
DONE = (RolloutEvent.COMMITTED, RolloutEvent.PASSED, RolloutEvent.CONFIRMED)


def after(*events: RolloutEvent, **given: Any) -> tuple[RolloutState, RolloutCommand]:
    """Return the state and last command of a rollout over two gateways after these events."""
    state, command = RolloutState((GatewayStep.WAITING, GatewayStep.WAITING), **given), RolloutCommand.NOTHING
    for event in events:
        state, command = advance_rollout(state, event)
    return state, command


def test_each_gateway_is_sent_to_probed_and_confirmed_in_turn() -> None:
    state, command = RolloutState((GatewayStep.WAITING, GatewayStep.WAITING)), RolloutCommand.NOTHING
    commands = []
    for event in (*CLAIMED, *DONE, *DONE):
        state, command = advance_rollout(state, event)
        commands.append(command)
    each = [RolloutCommand.APPLY, RolloutCommand.PROBE, RolloutCommand.CONFIRM]
    assert commands == [*each, *each, RolloutCommand.FINISH]
    assert state.phase is RolloutPhase.CONFIRMED


def test_what_one_gateway_refuses_never_reaches_the_next() -> None:
    state, command = after(*CLAIMED, RolloutEvent.REFUSED)
    assert command is RolloutCommand.FINISH
    assert (state.phase, state.steps) == (RolloutPhase.FAILED, (GatewayStep.REFUSED, GatewayStep.SKIPPED))


def test_a_failed_probe_sends_the_gateway_back_and_ends_the_rollout() -> None:
    state, command = after(*CLAIMED, RolloutEvent.COMMITTED, RolloutEvent.FAILED)
    assert command is RolloutCommand.REVERT
    state, command = advance_rollout(state, RolloutEvent.WENT_BACK)
    assert (state.phase, state.steps) == (RolloutPhase.FAILED, (GatewayStep.WENT_BACK, GatewayStep.SKIPPED))


def test_a_gateway_that_is_away_does_not_keep_the_others_waiting() -> None:
    state, command = after(*CLAIMED, RolloutEvent.AWAY)
    assert (state.steps, command) == ((GatewayStep.AWAY, GatewayStep.SENDING), RolloutCommand.APPLY)
    state, _ = after(*CLAIMED, RolloutEvent.AWAY, *DONE)
    assert state.phase is RolloutPhase.FAILED


def test_a_group_may_ask_that_all_or_none_are_changed() -> None:
    state, command = after(*CLAIMED, RolloutEvent.AWAY, goes_on=False)
    assert (state.steps, command) == ((GatewayStep.AWAY, GatewayStep.SKIPPED), RolloutCommand.FINISH)


@pytest.mark.parametrize("harmless", [True, False])
@pytest.mark.parametrize(
    "fault",
    [
        [RolloutEvent.IMPAIRED],
        [RolloutEvent.LOST, RolloutEvent.IMPAIRED],
        [RolloutEvent.COMMITTED, RolloutEvent.PASSED, RolloutEvent.NOT_CONFIRMED, RolloutEvent.IMPAIRED],
        [RolloutEvent.COMMITTED, RolloutEvent.PASSED, RolloutEvent.NOT_CONFIRMED, RolloutEvent.TAKEN_OVER, RolloutEvent.IMPAIRED],
    ],
    ids=["refused", "asked", "not confirmed", "not confirmed, and the worker died"],
)
def test_a_gateways_own_fault_does_not_stop_the_others(fault: list[RolloutEvent], harmless: bool) -> None:
    state, command = after(*CLAIMED, *fault, harmless=harmless)
    assert (state.steps, command) == ((GatewayStep.IMPAIRED, GatewayStep.SENDING), RolloutCommand.APPLY)
    state, command = after(*CLAIMED, *fault, *DONE, harmless=harmless)
    assert (state.phase, state.steps, command) == (
        RolloutPhase.FAILED,
        (GatewayStep.IMPAIRED, GatewayStep.CONFIRMED),
        RolloutCommand.FINISH,
    )


def test_a_group_that_changes_all_or_none_stops_at_a_gateways_own_fault_too() -> None:
    state, command = after(*CLAIMED, RolloutEvent.IMPAIRED, goes_on=False)
    assert (state.steps, command) == ((GatewayStep.IMPAIRED, GatewayStep.SKIPPED), RolloutCommand.FINISH)


def test_every_end_of_a_step_stops_the_others_or_is_named_as_one_that_does_not() -> None:
    """Fails for a new final step until it is listed in one of the sets here."""
    stops = {GatewayStep.REFUSED, GatewayStep.WENT_BACK, GatewayStep.SKIPPED}
    assert {GatewayStep.CONFIRMED} | WITHOUT | stops == FINAL
    for step in WITHOUT:
        assert advance_rollout(RolloutState((step, GatewayStep.WAITING), harmless=True), RolloutEvent.CLAIMED)[1] is RolloutCommand.APPLY
    for step in stops:
        assert advance_rollout(RolloutState((step, GatewayStep.WAITING), harmless=True), RolloutEvent.CLAIMED)[1] is RolloutCommand.FINISH


@pytest.mark.parametrize(("harmless", "then"), [(True, GatewayStep.SENDING), (False, GatewayStep.SKIPPED)])
def test_a_gateway_lost_in_the_middle_stops_what_could_lock_the_others_out_as_well(harmless: bool, then: GatewayStep) -> None:
    state, _ = after(*CLAIMED, RolloutEvent.COMMITTED, RolloutEvent.LOST, RolloutEvent.LOST, harmless=harmless)
    assert state.steps == (GatewayStep.LOST, then)


def test_a_worker_that_takes_over_first_asks_the_gateway_for_its_state() -> None:
    for before in (
        [],
        [RolloutEvent.COMMITTED],
        [RolloutEvent.COMMITTED, RolloutEvent.PASSED],
        [RolloutEvent.COMMITTED, RolloutEvent.FAILED],
    ):
        state, command = after(*CLAIMED, *before, RolloutEvent.TAKEN_OVER)
        assert (state.steps[0], command) == (GatewayStep.ASKING, RolloutCommand.ASK)


def test_a_command_that_never_arrived_is_sent_again_a_few_times_only() -> None:
    state, command = after(*CLAIMED)
    for _ in range(2):
        state, command = advance_rollout(advance_rollout(state, RolloutEvent.LOST)[0], RolloutEvent.NEVER_ARRIVED)
        assert command is RolloutCommand.APPLY
    state, command = advance_rollout(advance_rollout(state, RolloutEvent.LOST)[0], RolloutEvent.NEVER_ARRIVED)
    assert (state.steps[0], command) == (GatewayStep.LOST, RolloutCommand.FINISH)


def test_a_pause_comes_between_two_gateways_and_never_leaves_one_on_trial() -> None:
    state, command = after(*CLAIMED, RolloutEvent.PAUSE, *DONE)
    assert (state.phase, state.steps, command) == (RolloutPhase.PAUSED, (GatewayStep.CONFIRMED, GatewayStep.WAITING), RolloutCommand.REST)
    state, _ = advance_rollout(state, RolloutEvent.RESUME)
    assert state.phase is RolloutPhase.QUEUED
    assert advance_rollout(state, RolloutEvent.CLAIMED)[1] is RolloutCommand.APPLY


def test_going_back_now_reverts_what_is_on_trial_and_leaves_the_rest_alone() -> None:
    state, command = after(*CLAIMED, *DONE, RolloutEvent.COMMITTED, RolloutEvent.ABORT)
    assert command is RolloutCommand.NOTHING
    state, command = advance_rollout(state, RolloutEvent.PASSED)
    assert command is RolloutCommand.REVERT
    state, command = advance_rollout(state, RolloutEvent.WENT_BACK)
    assert (state.phase, state.steps) == (RolloutPhase.ABORTED, (GatewayStep.CONFIRMED, GatewayStep.WENT_BACK))


def test_a_queued_rollout_is_aborted_at_once() -> None:
    assert after(RolloutEvent.ABORT)[0].phase is RolloutPhase.ABORTED


def test_what_cannot_happen_is_refused_by_name() -> None:
    with pytest.raises(InvalidTransitionError, match="confirmed cannot happen to a gateway that is sending"):
        after(*CLAIMED, RolloutEvent.CONFIRMED)
    with pytest.raises(InvalidTransitionError, match="the rollout is over"):
        after(RolloutEvent.ABORT, RolloutEvent.CLAIMED)


# --- Every order of events


@dataclass
class ScriptedGateway:
    """A model of an agent's guarantees: tokens only rise, and a change on trial is reverted unless it is confirmed."""

    token: int = 0
    applied: int = 0  # token of the last change that was committed
    confirmed: int = 0
    trial: int | None = None
    linked: bool = True
    disk: bool = True  # whether it can store what it receives

    def take(self, command: RolloutCommand, token: int, target: int) -> RolloutEvent:
        """Return the answer to one command."""
        if token < self.token:
            return RolloutEvent.REFUSED
        self.token = token
        match command:
            case RolloutCommand.APPLY if self.confirmed == target and self.trial is None:
                return RolloutEvent.UNCHANGED
            case RolloutCommand.APPLY if not self.disk:
                return RolloutEvent.IMPAIRED
            case RolloutCommand.APPLY:
                self.trial, self.applied = target, token
                return RolloutEvent.COMMITTED
            case RolloutCommand.CONFIRM:
                if self.trial != target:
                    return RolloutEvent.CONFIRMED if self.trial is None and self.confirmed == target else RolloutEvent.NOT_CONFIRMED
                if not self.disk:
                    return RolloutEvent.NOT_CONFIRMED
                self.confirmed, self.trial = target, None
                return RolloutEvent.CONFIRMED
            case RolloutCommand.REVERT:
                self.trial = None
                return RolloutEvent.WENT_BACK if self.disk else RolloutEvent.IMPAIRED
            case RolloutCommand.PROBE:
                return RolloutEvent.PASSED if self.trial == target else RolloutEvent.FAILED
        return self.tell(token, target)

    def tell(self, token: int, target: int) -> RolloutEvent:
        """Return what became of the last command with this token."""
        if self.trial == target:
            return RolloutEvent.FOUND_ON_TRIAL
        if self.trial is None and self.confirmed == target:
            return RolloutEvent.FOUND_CONFIRMED
        return RolloutEvent.WENT_BACK if self.applied == token else RolloutEvent.NEVER_ARRIVED


@dataclass
class Worker:
    """A worker that holds the lease, or believes so: its next command, and the answer that it has not stored yet."""

    token: int
    target: int
    turn: int
    command: RolloutCommand
    asked: bool = False
    answer: RolloutEvent | None = None


@dataclass
class Row:
    """The rollout as a row in the database."""

    state: RolloutState
    target: int
    token: int
    fenced: set[int] = field(default_factory=set)  # gateways that have seen the token


FATES = st.sampled_from(["arrives"] * 4 + ["never arrives", "answer is lost", "probe fails"])
DRIVEN = (RolloutCommand.ASK, RolloutCommand.APPLY, RolloutCommand.PROBE, RolloutCommand.CONFIRM, RolloutCommand.REVERT)


class Rollouts(RuleBasedStateMachine):
    """Model in which workers may sleep before, between and after their commands, and wake up at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.gateways = [ScriptedGateway() for _ in range(2)]
        self.workers: list[Worker] = []
        self.token = self.target = 0
        self.row: Row | None = None
        self.seen_failing: set[tuple[int, int, int]] = set()

    def is_over(self) -> bool:
        return self.row is None or self.row.state.phase in OVER

    @precondition(is_over)
    @rule(goes_on=st.booleans(), harmless=st.booleans())
    def opens(self, goes_on: bool, harmless: bool) -> None:
        self.target += 1
        self.row = Row(RolloutState((GatewayStep.WAITING,) * len(self.gateways), goes_on=goes_on, harmless=harmless), self.target, 0)

    @precondition(lambda self: self.row and self.row.state.phase is RolloutPhase.QUEUED)
    @rule()
    def claims(self) -> None:
        self.hold(RolloutEvent.CLAIMED)

    @precondition(lambda self: self.row and self.row.state.phase is RolloutPhase.APPLYING)
    @rule()
    def the_lease_runs_out_and_another_takes_over(self) -> None:
        """The new worker first sends its token to every gateway that answers."""
        self.hold(RolloutEvent.TAKEN_OVER)

    def hold(self, event: RolloutEvent) -> None:
        assert self.row
        self.token += 1
        self.row.token, self.row.fenced = self.token, set()
        for at, gateway in enumerate(self.gateways):
            if event is RolloutEvent.TAKEN_OVER and gateway.linked:
                gateway.token = self.token
                self.row.fenced.add(at)
        self.write(event)

    def write(self, event: RolloutEvent) -> None:
        assert self.row
        self.row.state, command = advance_rollout(self.row.state, event)
        turn = self.row.state.turn
        if command in DRIVEN and turn is not None:
            self.workers.append(Worker(self.row.token, self.row.target, turn, command))

    @precondition(lambda self: any(worker.answer is None for worker in self.workers))
    @rule(data=st.data(), fate=FATES, at_once=st.sampled_from([True, True, False]))
    def a_command_goes_out(self, data: st.DataObject, fate: str, at_once: bool) -> None:
        """The worker stores the answer at once, or later when it wakes up."""
        worker = data.draw(st.sampled_from([worker for worker in self.workers if worker.answer is None]))
        worker.answer = self.deliver(worker, fate)
        if worker.answer is None or at_once:
            self.note(worker)

    @precondition(lambda self: any(worker.answer is None for worker in self.workers))
    @rule(times=st.integers(1, 5))
    def all_goes_well_for_a_while(self, times: int) -> None:
        for _ in range(times):
            awake = [worker for worker in self.workers if worker.answer is None]
            if awake:
                awake[-1].answer = self.deliver(awake[-1], "arrives")
                self.note(awake[-1])

    def deliver(self, worker: Worker, fate: str) -> RolloutEvent | None:
        """Deliver the command; return the answer, or None if it was refused because another worker has taken over."""
        gateway = self.gateways[worker.turn]
        if not gateway.linked:
            return RolloutEvent.AWAY if worker.command is RolloutCommand.APPLY else RolloutEvent.LOST
        answer = RolloutEvent.LOST if fate == "never arrives" else gateway.take(worker.command, worker.token, worker.target)
        if answer is RolloutEvent.REFUSED and worker.command is not RolloutCommand.APPLY:
            return None
        if self.row and worker.token != self.row.token and worker.turn in self.row.fenced:
            assert answer in (RolloutEvent.REFUSED, RolloutEvent.LOST), "a command was accepted from a lost lease"
        if fate == "probe fails" and worker.command is RolloutCommand.PROBE:
            self.seen_failing.add((worker.token, worker.target, worker.turn))
            return RolloutEvent.FAILED
        assert worker.command is not RolloutCommand.CONFIRM or (worker.token, worker.target, worker.turn) not in self.seen_failing
        return RolloutEvent.LOST if fate == "answer is lost" else answer

    @precondition(lambda self: any(worker.answer for worker in self.workers))
    @rule(data=st.data())
    def a_worker_wakes_up_and_writes_down_the_answer(self, data: st.DataObject) -> None:
        self.note(data.draw(st.sampled_from([worker for worker in self.workers if worker.answer])))

    def note(self, worker: Worker) -> None:
        self.workers.remove(worker)
        if self.row and worker.token == self.row.token and not self.is_over() and worker.answer:
            self.write(worker.answer)

    @rule(at=st.integers(0, 1))
    def the_time_for_confirming_is_over(self, at: int) -> None:
        self.gateways[at].trial = None

    @rule(at=st.integers(0, 1), linked=st.booleans())
    def the_link_changes(self, at: int, linked: bool) -> None:
        self.gateways[at].linked = linked

    @rule(at=st.integers(0, 1), disk=st.booleans())
    def the_disk_changes(self, at: int, disk: bool) -> None:
        self.gateways[at].disk = disk

    @precondition(lambda self: not self.is_over())
    @rule(wish=st.sampled_from([RolloutEvent.PAUSE, RolloutEvent.RESUME, RolloutEvent.ABORT]))
    def somebody_wishes(self, wish: RolloutEvent) -> None:
        assert self.row
        if self.row.state.phase is RolloutPhase.APPLYING:
            self.row.state, _ = advance_rollout(self.row.state, wish)
        else:
            self.write(wish)

    @invariant()
    def a_confirmed_rollout_is_on_every_gateway(self) -> None:
        if self.row and self.row.state.phase is RolloutPhase.CONFIRMED:
            assert {gateway.confirmed for gateway in self.gateways} == {self.row.target}

    @invariant()
    def each_step_says_what_its_gateway_does(self) -> None:
        if self.row is None:
            return
        for gateway, step in zip(self.gateways, self.row.state.steps, strict=True):
            if step is GatewayStep.CONFIRMED:
                assert gateway.confirmed == self.row.target
            if step in (GatewayStep.WAITING, GatewayStep.SKIPPED):
                assert gateway.confirmed != self.row.target

    @invariant()
    def gateways_on_different_revisions_are_told(self) -> None:
        if self.row and self.is_over() and len({gateway.confirmed for gateway in self.gateways}) > 1:
            assert self.row.state.phase in (RolloutPhase.FAILED, RolloutPhase.ABORTED)
            assert any(step is not GatewayStep.CONFIRMED for step in self.row.state.steps)

    def teardown(self) -> None:
        """Check that every rollout ends once the links work and a worker continues it."""
        if self.is_over() or self.row is None:
            return
        for gateway in self.gateways:
            gateway.linked = True
        self.workers.clear()
        if self.row.state.phase is RolloutPhase.APPLYING:
            self.hold(RolloutEvent.TAKEN_OVER)
        for _ in range(40):
            if self.is_over():
                break
            self.push()
        assert self.row.state.phase in OVER
        assert set(self.row.state.steps) <= FINAL
        self.a_confirmed_rollout_is_on_every_gateway()

    def push(self) -> None:
        """Do the next step of the rollout."""
        assert self.row
        if self.row.state.phase is RolloutPhase.PAUSED:
            self.write(RolloutEvent.RESUME)
        elif self.row.state.phase is RolloutPhase.QUEUED:
            self.hold(RolloutEvent.CLAIMED)
        else:
            worker = self.workers.pop()
            self.write(self.gateways[worker.turn].take(worker.command, worker.token, worker.target))


TestEveryOrderOfEvents = Rollouts.TestCase
TestEveryOrderOfEvents.settings = settings(max_examples=count_examples(500), stateful_step_count=40, deadline=None)
