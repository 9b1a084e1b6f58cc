"""Drives an upgrade of agents: one short step at a time, each of which can be done again by another worker.

A gateway goes back by itself unless the portal confirms the program, so a worker or a portal that dies in the middle changes nothing.
The gateway that carries fewest families is next, as it is told at that moment.
"""

from contextlib import suppress
from datetime import timedelta
from typing import Final

import structlog
from django.utils import timezone

from apps.deployments.restored_database.restore_hold import find_open_restore
from apps.deployments.rollouts.gateway_order import list_in_rollout_order
from apps.deployments.transport.agent_channel import AgentChannel, Unreachable, open_session
from apps.deployments.transport.agent_client import AgentRefused, expect_answer
from apps.gateways.agent_package.debian_package import build_agent_package
from apps.gateways.agent_upgrade import run_store
from apps.gateways.agent_upgrade.gateway_checks import find_deterioration, is_settled, list_failing_families, read_program, say_hello
from apps.gateways.agent_upgrade.models import AgentUpgrade, AgentUpgradeStep
from apps.gateways.agent_upgrade.outcome_texts import UpgradeProblem
from apps.gateways.agent_upgrade.run_store import UpgradeLeaseLost
from firewall.agent_programs import DropProgram, KeepProgram, ProgramIs, StoreProgram, TryProgram
from firewall.wire import Reply

LEAST_TRIAL: Final = 300  # seconds of a trial, or the group's trial time if that is longer
GIVE_UP: Final = timedelta(seconds=120)  # beyond two trial times: the self-check may take one, the program the other
ATTEMPTS: Final = 3  # of a trial that a gateway knows nothing of: the worker, or the gateway, died before it was noted there
State = AgentUpgradeStep.State
log = structlog.get_logger()


def advance_all() -> None:
    """Go on with each upgrade that is under way, as far as that is possible without waiting. Nothing goes on while a restore holds."""
    if find_open_restore():
        return
    for pk in run_store.list_open_upgrades():
        while advance_upgrade(pk):
            pass


def advance_upgrade(pk: int) -> bool:
    """Do the next step of an upgrade. Return False if there is nothing to do now: it is over, has to wait, or another worker has it."""
    run = run_store.claim_upgrade(pk)
    if run is None:
        return False
    try:
        return _advance(run)
    except UpgradeLeaseLost:
        log.warning("lease of an agent upgrade lost", upgrade=pk)
        return False
    finally:
        run_store.release_lease(run)


def _advance(run: AgentUpgrade) -> bool:
    step = _choose_step(run)
    if step is None:
        run_store.end_without_gateways(run)
        return False
    before = step.state
    try:
        with open_session(step.gateway) as channel:
            _advance_step(run, step, channel)
    except Unreachable as away:
        _note_silence(run, step, str(away))
    except AgentRefused as refused:
        _note_refusal(run, step, refused)
    step.refresh_from_db()
    if step.state != before:
        log.info("agent upgrade", gateway=step.gateway.name, state=step.state, problem=step.problem, reason=step.reason)
    return step.state != before and step.state not in (State.TRIAL, *AgentUpgradeStep.BAD)


def _choose_step(run: AgentUpgrade) -> AgentUpgradeStep | None:
    """Return the step that has begun, or the next one."""
    steps = {each.gateway_id: each for each in run.steps.select_related("gateway__group")}
    begun = [each for each in steps.values() if each.state in AgentUpgradeStep.MOVING]
    order = [steps[each.pk] for each in list_in_rollout_order(run.group) if each.pk in steps]
    return next((each for each in (*begun, *order) if each.state in (State.WAITING, *AgentUpgradeStep.MOVING)), None)


def _advance_step(run: AgentUpgrade, step: AgentUpgradeStep, channel: AgentChannel) -> None:
    match step.state:
        case State.WAITING:
            _examine(run, step, channel)
        case State.SENDING:
            _send(run, step, channel)
        case State.TRIAL:
            _judge(run, step, channel)


def _examine(run: AgentUpgrade, step: AgentUpgradeStep, channel: AgentChannel) -> None:
    """Begin the step if the gateway takes the program and is well; it stays as it is while a rollout is under way."""
    package = build_agent_package()
    if package.program_digest != run.digest:
        run_store.end_step(run, step, State.REFUSED, problem=UpgradeProblem.CHANGED)
        return
    told, welcome = read_program(channel), say_hello(channel)
    AgentUpgradeStep.objects.filter(pk=step.pk).update(needs_package=told.parts != package.parts, before=welcome.agent[:40])
    if told.runs == run.digest and not told.trial:
        run_store.end_step(run, step, State.CURRENT)
        run_store.record_agent(step, welcome.agent, channel.version)
    elif told.obstacle:
        run_store.end_step(run, step, State.REFUSED, problem=UpgradeProblem.NOT_TAKEN, reason=told.obstacle)
    elif run_store.begin_if_idle(run, step) and not is_settled(say_hello(channel)):
        run_store.end_step(run, step, State.REFUSED, problem=UpgradeProblem.UNCONFIRMED)


def _send(run: AgentUpgrade, step: AgentUpgradeStep, channel: AgentChannel) -> None:
    """Send the program and begin its trial. The state is stored first: who goes on after this worker looks what became of it."""
    failing = list_failing_families(channel, step.gateway)
    _expect(channel, StoreProgram(run.token, run.digest, build_agent_package().program), run)
    run_store.set_state(run, step, State.TRIAL, failing=failing, attempts=step.attempts + 1)
    _expect(channel, TryProgram(run.token, run.digest, get_trial_seconds(run)), run)


def _judge(run: AgentUpgrade, step: AgentUpgradeStep, channel: AgentChannel) -> None:
    """Confirm the program if all is as well as before. This session was opened after the program started, because that answers."""
    told = read_program(channel)
    if told.runs != run.digest:
        _judge_absence(run, step, told)
        return
    welcome = say_hello(channel)
    token = max(run.token, welcome.token)  # a rollout may have begun that waits for the end of a long trial
    if told.trial:
        if worse := find_deterioration(channel, step.gateway, step.failing, welcome):
            _drop(run, step, channel, token, worse)
            return
        run_store.renew_lease(run)
        _expect(channel, KeepProgram(token, run.digest), run)
    run_store.record_agent(step, welcome.agent, channel.version)
    run_store.end_step(run, step, State.CONFIRMED)


def _judge_absence(run: AgentUpgrade, step: AgentUpgradeStep, told: ProgramIs) -> None:
    """Another program answers: the agent has not restarted yet, or the new one went back, or it was not even asked for."""
    if told.trial == run.digest:
        return
    if told.failed == run.digest:
        run_store.end_step(run, step, State.WENT_BACK, problem=UpgradeProblem.ENDED, reason=told.problem)
    elif step.attempts < ATTEMPTS:
        run_store.set_state(run, step, State.SENDING)
    else:
        run_store.end_step(run, step, State.WENT_BACK, problem=UpgradeProblem.ENDED, reason="it did not begin its trial")


def _drop(run: AgentUpgrade, step: AgentUpgradeStep, channel: AgentChannel, token: int, worse: str) -> None:
    with suppress(Unreachable, AgentRefused):  # without an answer it does that by itself
        _expect(channel, DropProgram(token), run)
    run_store.end_step(run, step, State.WENT_BACK, problem=UpgradeProblem.UNHEALTHY, reason=worse)


def _expect(channel: AgentChannel, request: StoreProgram | TryProgram | KeepProgram | DropProgram, run: AgentUpgrade) -> Reply:
    """Ask, and keep the lease while the gateway works. Raises Unreachable, AgentRefused or UpgradeLeaseLost."""
    return expect_answer(ProgramIs, channel.ask(request, heard=lambda _beat: run_store.renew_lease(run)))


def _note_silence(run: AgentUpgrade, step: AgentUpgradeStep, words: str) -> None:
    """An agent that restarts does not answer for a moment. Before the trial nothing was done, so silence stops the upgrade."""
    step.refresh_from_db()
    if step.state != State.TRIAL:
        run_store.end_step(run, step, State.REFUSED, problem=UpgradeProblem.AWAY, reason=words)
    elif _is_overdue(run, step):
        run_store.end_step(run, step, State.WENT_BACK, problem=UpgradeProblem.SILENT)


def _note_refusal(run: AgentUpgrade, step: AgentUpgradeStep, refused: AgentRefused) -> None:
    step.refresh_from_db()
    if step.state == State.TRIAL:
        run_store.end_step(run, step, State.WENT_BACK, problem=UpgradeProblem.ENDED, reason=str(refused))
        return
    problem = UpgradeProblem.OLDER if refused.reason == "version" else UpgradeProblem.REFUSED
    run_store.end_step(run, step, State.REFUSED, problem=problem, reason=str(refused))


def get_trial_seconds(run: AgentUpgrade) -> int:
    """Return how long a program of this run is on trial at most."""
    return max(LEAST_TRIAL, run.group.confirm_within)


def _is_overdue(run: AgentUpgrade, step: AgentUpgradeStep) -> bool:
    return timezone.now() > step.since + 2 * timedelta(seconds=get_trial_seconds(run)) + GIVE_UP
