"""Drives a rollout on which this worker has a lease: runs each command on the current gateway, and records the outcome.

The decisions are in `firewall.rollout`, the messages in `agent_client`, the rows in `rollout_store`; this module connects them.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from datetime import timedelta
from typing import Any, Protocol

import structlog
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models.functions import Now

from apps.deployments.models import RolloutStep
from apps.deployments.observed_state import drift, gateway_states
from apps.deployments.rollouts import lease_heartbeat, packets_before, rollout_store
from apps.deployments.rollouts.probing import ProbeResult, probe_gateway
from apps.deployments.rollouts.rollout_store import Lease, RolloutLeaseLost
from apps.deployments.transport import agent_channel, agent_client
from apps.deployments.transport.agent_channel import AgentChannel, Unreachable
from apps.deployments.transport.agent_client import AgentRefused, DeployOrder
from apps.deployments.transport.management_ports import find_port
from apps.lib.trace_timing import add_facts, mark_failed, trace_step
from apps.network.gateway_sentences import StepSentence
from apps.network.models import Gateway
from firewall import wire
from firewall.rollout import RolloutCommand, RolloutEvent

log = structlog.get_logger()

OWN_FAULTS = ("state", "token", "version")  # reasons of `wire.Refused` that say nothing about the ruleset: other gateways may accept it
LONGEST_ERROR = 1000  # characters
SESSIONS = 3  # attempts to open a new session after a change that may have locked the portal out


class GatewayLinks(Protocol):
    """Connections to a gateway: the channel that is kept open, a new session, and a knock at its sshd (in milliseconds).

    port: the only one at which the new session is tried; None: where sshd may let the portal in.
    """

    def get_channel(self, gateway: Gateway) -> AgentChannel: ...
    def open_session(self, gateway: Gateway, port: int | None) -> AbstractContextManager[AgentChannel]: ...
    def knock(self, gateway: Gateway) -> float: ...


class WorkerLinks:
    """The connections of this process."""

    def get_channel(self, gateway: Gateway) -> AgentChannel:
        return agent_channel.get_channel(gateway)

    def open_session(self, gateway: Gateway, port: int | None) -> AbstractContextManager[AgentChannel]:
        return agent_channel.open_session(gateway, port)

    def knock(self, gateway: Gateway) -> float:
        return agent_channel.measure_connect(gateway)


def render_error(error: Exception) -> str:
    """Format an error so that a text column accepts it: it may contain text from the other side."""
    return f"{type(error).__name__}: {error}"[:LONGEST_ERROR].replace("\0", "").encode(errors="replace").decode()


def record_agent_progress(lease: Lease, beat: wire.Beat) -> RolloutEvent | None:
    """Store the beat for the page. Return the wish that a person has recorded meanwhile.

    A database error here only makes the page stale, so it does not interrupt the work on the gateway.
    """
    try:
        return rollout_store.record_agent_progress(lease, beat.doing, beat.done, beat.of)
    except DatabaseError as error:
        log.warning("gateway progress not recorded", rollout=lease.rollout.pk, error=str(error))
        connection.close()
        return None


class RolloutDriver:
    """One run of one worker, while `lease_heartbeat` keeps its lease. `arrived` is called for each gateway that has confirmed."""

    def __init__(
        self, lease: Lease, orders: Mapping[int, DeployOrder], links: GatewayLinks, arrived: Callable[[Gateway, DeployOrder], None]
    ) -> None:
        self._lease, self._orders, self._links, self._arrived = lease, orders, links, arrived
        self._sessions = ExitStack()
        self._session: AgentChannel | None = None  # opened after the commit
        self._rules = False  # the gateway reports that more than elements waits to be confirmed
        self._in_memory = False

    def run(self) -> None:
        """Run commands until the rollout is over or rests. Raises RolloutLeaseLost when another worker has taken over."""
        do = {
            RolloutCommand.ASK: self._ask,
            RolloutCommand.APPLY: self._apply,
            RolloutCommand.PROBE: self._probe,
            RolloutCommand.CONFIRM: self._confirm,
            RolloutCommand.REVERT: self._revert,
        }
        with self._sessions:
            while work := do.get(self._lease.command):
                gateway = self._lease.step.gateway
                with trace_step(str(self._lease.command), gateway=gateway.name):
                    self._work_on(gateway, work)

    def _work_on(self, gateway: Gateway, work: Callable[[Gateway, DeployOrder], None]) -> None:
        """Run one command. A fault with one gateway must not keep the change from the others."""
        try:
            work(gateway, self._orders[gateway.pk])
        except (RolloutLeaseLost, OperationalError, InterfaceError):
            raise
        except Exception as error:
            log.exception("error in the portal while working on a gateway", gateway=gateway.name, rollout=self._lease.rollout.pk)
            self._record_failure(RolloutEvent.LOST, gateway, StepSentence.WORKER_FAILED.write(error=render_error(error)))

    def fence(self, now: int) -> None:
        """Send the token to every gateway that answers, so that it refuses what a replaced worker still sends."""
        for step in self._lease.steps:
            try:
                agent_client.send_hello(self._links.get_channel(step.gateway), now, self._lease.rollout.token, self._handle_beat)
            except (Unreachable, AgentRefused) as fault:
                log.warning("not fenced", gateway=step.gateway.name, error=str(fault))

    def _handle_beat(self, beat: wire.Beat) -> None:
        """Handle a beat. Raises Unreachable on an abort, so that a person need not wait until the gateway is done."""
        if record_agent_progress(self._lease, beat) is RolloutEvent.ABORT:
            raise Unreachable(StepSentence.STOPPED_MEANWHILE.write())

    def _ask(self, gateway: Gateway, order: DeployOrder) -> None:
        try:
            event = agent_client.query_outcome(self._links.get_channel(gateway), order, self._handle_beat)
        except AgentRefused as refused:
            self._record_refusal(RolloutEvent.LOST, gateway, refused)
            return
        if event is RolloutEvent.WENT_BACK and self._lease.step.reason in OWN_FAULTS:
            self._record_failure(RolloutEvent.IMPAIRED, gateway, self._lease.step.error)
        elif event in (RolloutEvent.LOST, RolloutEvent.WENT_BACK):
            template = StepSentence.SILENT if event is RolloutEvent.LOST else StepSentence.NOT_IN_TIME
            self._record_failure(event, gateway, template.write())
        else:
            self._record_event(event, order, **({"confirmed": Now(), "error": ""} if event is RolloutEvent.FOUND_CONFIRMED else {}))

    def _apply(self, gateway: Gateway, order: DeployOrder) -> None:
        channel = self._links.get_channel(gateway)
        try:
            welcome = agent_client.send_hello(channel, order.now, order.token, self._handle_beat)
        except Unreachable as fault:
            self._record_failure(RolloutEvent.AWAY, gateway, str(fault))
            return
        except AgentRefused as refused:
            self._record_refusal(RolloutEvent.REFUSED, gateway, refused)
            return
        self._in_memory = welcome.in_memory
        if agent_client.is_running(welcome, order.target):
            self._record_event(RolloutEvent.UNCHANGED, order, committed=Now(), confirmed=Now())
            return
        self._note_loss(channel, gateway, order, welcome)
        self._note_packets_before(gateway, welcome)
        try:
            applied = agent_client.apply_order(channel, order, welcome, self._handle_beat)
        except Unreachable as fault:
            self._record_failure(RolloutEvent.LOST, gateway, str(fault))
        except AgentRefused as refused:
            self._record_refusal(RolloutEvent.REFUSED, gateway, refused)
        else:
            self._record_commit(channel, order, applied)

    @staticmethod
    def _note_loss(channel: AgentChannel, gateway: Gateway, order: DeployOrder, welcome: wire.Welcome) -> None:
        """Record why the gateway lost what it had confirmed, if it did. An error in this does not stop the change."""
        try:
            drift.record_drift_cause(gateway, channel, welcome, order.ruleset, order.now)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            log.exception("loss of confirmed ruleset not recorded", gateway=gateway.name)

    def _note_packets_before(self, gateway: Gateway, welcome: wire.Welcome) -> None:
        """Store what packets do before the change. Where nothing has run yet, no probe can have passed.

        While an earlier change is on trial, that change may be what stops them: then what passed before it counts.
        """
        pieces = packets_before.find_packets_before_trial(self._lease) if welcome.trial else []
        if not pieces and welcome.confirmed:
            pieces = [
                rollout_store.build_evidence(packets_before.BEFORE[found.family], passed=found.ok, ms=found.ms, text=found.sentence)
                for found in self._probe_packets(gateway)
                if found.ok is not None
            ]
        packets_before.store_packets_before(self._lease, pieces)

    def _record_commit(self, channel: AgentChannel, order: DeployOrder, applied: wire.Applied) -> None:
        self._rules = applied.new_session
        add_facts(commit_ms=applied.commit_ms, read_back_ms=applied.read_back_ms)
        self._record_event(
            RolloutEvent.COMMITTED,
            order,
            committed=Now(),
            goes_back=Now() + timedelta(seconds=order.confirm_within),
            sent_octets=channel.sent,
            commit_ms=applied.commit_ms,
            read_back_ms=applied.read_back_ms,
            flows_cut=self._count_cut_flows(applied.flows_cut),
        )

    def _count_cut_flows(self, flows: int) -> int:
        """Convert the agent's count of cut flows: -1 means that it could not cut them."""
        if flows < 0:
            rollout_store.add_evidence(self._lease, "flows", passed=False, ms=None, text=StepSentence.FLOWS_STAY.write())
        return max(flows, 0)

    def _probe(self, gateway: Gateway, _order: DeployOrder) -> None:
        """Check that the gateway can be reached and that packets pass it.

        A knock suffices if only elements change; anything else needs a new session. Packets that did not pass before the change
        either are no reason to revert.
        """
        with trace_step("reach", gateway=gateway.name):
            reached = self._try_knock(gateway) if self._lease.rollout.harmless and not self._rules else self._open_session(gateway)
        if not reached:
            self._record_failure(RolloutEvent.FAILED, gateway, StepSentence.NOT_REACHED.write())
        elif lost := self._find_lost_packets(gateway):
            self._record_failure(RolloutEvent.FAILED, gateway, lost)
        else:
            rollout_store.record_probe_passed(self._lease)

    def _find_lost_packets(self, gateway: Gateway) -> str:
        """Return a sentence about the families that passed a probe before the change and do not now; "" if there are none."""
        lost = []
        for found in self._probe_packets(gateway):
            if found.ok is None:
                continue
            rollout_store.add_evidence(self._lease, f"IPv{found.family}", passed=found.ok, ms=found.ms, text=found.sentence)
            if not found.ok and packets_before.did_packets_pass_before(self._lease, found.family):
                lost.append(found.sentence)
        return " ".join(lost)

    def _probe_packets(self, gateway: Gateway) -> tuple[ProbeResult, ...]:
        try:
            return probe_gateway(self._session or self._links.get_channel(gateway), gateway)
        except Unreachable as fault:
            log.warning("not probed", gateway=gateway.name, error=str(fault))
            return ()

    def _try_knock(self, gateway: Gateway) -> bool:
        start = time.perf_counter()
        try:
            ms = self._links.knock(gateway)
        except Unreachable as fault:
            self._note_failure("knock", start, str(fault))
            return False
        rollout_store.add_evidence(self._lease, "knock", passed=True, ms=ms, text="")
        return True

    def _open_session(self, gateway: Gateway) -> bool:
        """Open a session at the port of the ruleset on trial: until that is confirmed, all else uses the confirmed one."""
        port = find_port(self._lease.rollout.revision, gateway)
        for _attempt in range(SESSIONS):
            start = time.perf_counter()
            try:
                session = self._sessions.enter_context(self._links.open_session(gateway, port))
                agent_client.send_hello(session, 0, heard=self._handle_beat)
            except Unreachable as fault:
                self._note_failure("session", start, str(fault))
                if rollout_store.find_requested_event(self._lease) is RolloutEvent.ABORT:
                    return False
                continue
            self._session = session
            rollout_store.add_evidence(self._lease, "session", passed=True, ms=(time.perf_counter() - start) * 1000, text="")
            return True
        return False

    def _note_failure(self, what: str, start: float, text: str) -> None:
        rollout_store.add_evidence(self._lease, what, passed=False, ms=(time.perf_counter() - start) * 1000, text=text)

    def _confirm(self, gateway: Gateway, order: DeployOrder) -> None:
        channel, self._session = self._session or self._links.get_channel(gateway), None
        try:
            confirmed = agent_client.confirm_order(channel, order, self._handle_beat)
        except Unreachable as fault:
            self._record_failure(RolloutEvent.LOST, gateway, str(fault))
        except AgentRefused as refused:
            self._record_refusal(RolloutEvent.NOT_CONFIRMED, gateway, refused)
        else:
            cut = self._lease.step.flows_cut + self._count_cut_flows(confirmed.flows_cut)
            self._record_event(RolloutEvent.CONFIRMED, order, confirmed=Now(), flows_cut=cut, error="")

    def _revert(self, gateway: Gateway, order: DeployOrder) -> None:
        """Take the change back, over the new session if there is one: it may have cut off the channel."""
        channel, self._session = self._session or self._links.get_channel(gateway), None
        try:
            text = agent_client.revert_order(channel, order, self._handle_beat)
        except Unreachable as fault:
            self._record_failure(RolloutEvent.LOST, gateway, StepSentence.GOES_BACK.write(error=fault))
        except AgentRefused as refused:
            self._record_refusal(RolloutEvent.LOST, gateway, refused)
        else:
            why = self._lease.step.error or StepSentence.STOPPED.write()
            event = RolloutEvent.IMPAIRED if self._lease.step.reason in OWN_FAULTS else RolloutEvent.WENT_BACK
            self._record_failure(event, gateway, StepSentence.WENT_BACK.write(why=why, text=text))

    def _record_event(self, event: RolloutEvent, order: DeployOrder, **evidence: Any) -> None:
        step = self._lease.step
        if step.evidence:
            evidence["evidence"] = step.evidence
        with transaction.atomic():
            rollout_store.record_event(self._lease, event, **evidence)
            arrived = step.state == RolloutStep.State.CONFIRMED
            if arrived:
                gateway_states.record_running(step, self._lease.rollout.revision, order.target, in_memory=self._in_memory)
        if arrived:
            self._arrived(step.gateway, order)

    def _record_refusal(self, event: RolloutEvent, gateway: Gateway, refused: AgentRefused) -> None:
        """Record a refusal. Raises RolloutLeaseLost if the token is old because another worker has taken over.

        If the lease is still ours although the token is old, the database itself is older than the gateway (restored from a backup).
        """
        if event is RolloutEvent.REFUSED and refused.reason in OWN_FAULTS:
            event = RolloutEvent.IMPAIRED
        if refused.reason != "token":
            self._record_failure(event, gateway, str(refused), reason=refused.reason)
        elif lease_heartbeat.renew_lease(self._lease.rollout):
            self._record_failure(event, gateway, self._explain_token(gateway, refused), reason=refused.reason)
        else:
            raise RolloutLeaseLost(str(refused))

    def _explain_token(self, gateway: Gateway, refused: AgentRefused) -> str:
        """Explain a refused token. “Try again” helps, unless the gateway claims a token that is further ahead than there can be."""
        template = StepSentence.OLD_TOKEN
        with suppress(Unreachable, AgentRefused):
            claimed = agent_client.send_hello(self._links.get_channel(gateway), 0).token
            if claimed > self._lease.rollout.token + wire.LEAP_ADOPTED:
                template = StepSentence.FOREIGN_TOKEN
        return template.write(error=refused)

    def _record_failure(self, event: RolloutEvent, gateway: Gateway, text: str, reason: str = "") -> None:
        log.warning("gateway not brought to revision", gateway=gateway.name, rollout=self._lease.rollout.pk, what=event.value, error=text)
        mark_failed(event.value)
        step = self._lease.step
        with transaction.atomic():
            rollout_store.record_event(self._lease, event, error=text, evidence=step.evidence, reason=reason or step.reason)
            if step.state in RolloutStep.BAD:
                gateway_states.record_rollout_failure(gateway, text, away=step.state in (RolloutStep.State.AWAY, RolloutStep.State.LOST))
