"""Changes of the ruleset that runs: applied on trial, then confirmed and saved, or taken back.

Apply, Confirm and Revert come in (firewall/wire.py), their replies go out. A change that is not confirmed in time is taken back; the
deadline is measured by CLOCK_MONOTONIC, which cannot be set. What is confirmed outlives the agent: it is restored at the start.
"""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial, reduce

from firewall import digest as digests
from firewall import wire
from firewall.codec import WireError
from firewall.diff import Delta, apply, diff
from firewall.ruleset import EMPTY, Ruleset, drop_expired
from gateway.block_ends import BlockEnds
from gateway.clock import GatewayClock
from gateway.counters import GatewayCounters
from gateway.fencing_token import claim_token
from gateway.flow_termination import cut_flows_at_commit, cut_flows_at_confirm
from gateway.handover import leave_note
from gateway.kernel_profile import apply_profile, keep_original_sysctls
from gateway.log_texts import to_plain_line
from gateway.pending_cut import cut_what_was_pending, note_pending_cut
from gateway.persistent_state import ConfirmedRuleset, Note, StateDirectory, StateError, encode_ruleset
from gateway.programs.requests import AgentPrograms
from gateway.refusals import OperationRefusedError
from gateway.restore import RestoreOutcome, WayBack, choose_fallback_ruleset, note_origin, restore_ruleset
from gateway.returned_flows import ReturnedFlows
from gateway.ruleset_inspection import check_ruleset, inspect_delta, inspect_management
from gateway.running_ruleset import RunningRuleset, drop_expired_changes
from gateway.table import CommitRefusedError, NftTable, NotApprovedError, TableError
from gateway.table_state import CommitTiming, ReadBackError, TableState
from gateway.trial import UNKNOWN_TRIAL, PendingTrial, build_trial
from gateway.uplink_queues import UplinkQueues, change_queues

log = logging.getLogger("gateway")


class DigestRefusedError(OperationRefusedError, NotApprovedError):
    """The change leads to another digest than the portal says."""


class RulesetChanges:
    """The ruleset's changes on one gateway.

    steady: returns seconds of CLOCK_MONOTONIC. The others are the gateway's parts that a change touches, or that forbid one.
    Public attributes: confirmed, the digest of the ruleset confirmed last; damage, why it could not be restored; past, a sentence on
    what last became of a change; applied_last, the token of the last change. All are "" or 0 as long as there is none.
    """

    def __init__(
        self,
        table: NftTable,
        state: StateDirectory,
        held: TableState,
        *,
        clock: GatewayClock,
        steady: Callable[[], float],
        counters: GatewayCounters,
        queues: UplinkQueues,
        returned: ReturnedFlows,
        block_ends: BlockEnds,
        programs: AgentPrograms,
    ) -> None:
        self._table, self._state, self._held, self._clock, self._steady = table, state, held, clock, steady
        self._counters, self._queues, self._returned, self._programs = counters, queues, returned, programs
        self._block_ends = block_ends
        self._trial: PendingTrial | None = None
        self._beside = ThreadPoolExecutor(1, "beside")  # for what does not need the kernel while it loads
        self._encoded: tuple[str, Future[bytes]] | None = None  # digest of a ruleset on trial, and how its checkpoint will have it
        self.confirmed = self.past = self.damage = ""
        self.applied_last = 0
        self._left_out_until = 0  # the latest end of an element that was left out by the last restore, because it had ended
        self._origin = choose_fallback_ruleset(table)

    @property
    def is_on_trial(self) -> bool:
        """True if a change has been applied and not confirmed yet."""
        return self._trial is not None

    @property
    def trial_target(self) -> str:
        """Digest of the ruleset on trial, "" if there is none."""
        return self._trial.target if self._trial else ""

    @property
    def seconds_left(self) -> float:
        """Seconds until the change on trial is taken back; 0 if there is none."""
        return self._trial.compute_seconds_left(self._steady()) if self._trial else 0.0

    def restore(self) -> RestoreOutcome:
        """Bring the kernel back to what was confirmed last, and remember it as the state that runs. Called at the agent's start."""
        brought = self._adopt_outcome(restore_ruleset(self._table, self._state, self._clock))
        self._origin = choose_fallback_ruleset(self._table)  # not what was on trial when the agent before was killed
        self._finish_restore(brought)
        self.past = f"the agent started at {self._clock.format()}: {brought.text}"
        return brought

    def return_unexpired(self, ended_by: float) -> None:
        """Load the confirmed ruleset again if elements of it ended, or were left out, because the clock was ahead. Never fails.

        ended_by: what the clock showed before it was put back. If another program has changed the table, the portal puts that right.
        """
        try:
            if not self._has_lost_unexpired(ended_by) or not self._held.is_committed or self._table.is_disturbed():
                return
            way_back = WayBack(self._origin, bool(self.confirmed), self._rebuild_confirmed)
            brought = self._adopt_outcome(restore_ruleset(self._table, self._state, self._clock, way_back))
            self._finish_restore(brought)
        except (TableError, OSError) as error:
            self._held.forget()
            log.warning("elements that ended too early, because the clock was ahead, are missing: %s", to_plain_line(str(error)))
        else:
            self.past = f"the clock was put back to {self._clock.format()}: {brought.text}"

    def _has_lost_unexpired(self, ended_by: float) -> bool:
        """True if an element is missing that had ended by a clock that was ahead, and has not by the right one."""
        now, committed = self._clock(), self._held.committed_ruleset
        ends = (end for _, _, end in _iter_ends(committed.ruleset if committed else EMPTY))
        return self._left_out_until > now or any(now < end <= ended_by for end in ends)

    def hand_over(self) -> None:
        """Leave a note to the next agent, if what runs is what was confirmed last. Called when nothing is asked any more."""
        if self._trial is None and self.confirmed and self._held.is_committed:
            leave_note(self._table, self._state, self.confirmed, self._clock)

    def take_back(self, reason: str) -> RestoreOutcome:
        """Undo what was applied and not confirmed. On any error it stays on trial, and overdue: `take_back_overdue` tries again."""
        undone = self.trial_target[:12] or "what was committed"
        try:
            way_back = WayBack(self._origin, bool(self.confirmed), self._rebuild_confirmed)
            brought = self._adopt_outcome(restore_ruleset(self._table, self._state, self._clock, way_back))
        except Exception as error:
            self._trial = (self._trial or UNKNOWN_TRIAL).give_up(reason, self._steady())
            self._held.forget()
            if isinstance(error, CommitRefusedError):  # would say that nothing is on trial
                raise TableError(f"the kernel refuses the way back: {error}") from error
            raise
        self._finish_restore(brought)
        self.past = f"{undone} was taken back at {self._clock.format()}, because {reason}: {brought.text}"
        log.warning("%s", to_plain_line(f"{self.past}: {brought.fault}" if brought.fault else self.past))
        return brought

    def _finish_restore(self, brought: RestoreOutcome) -> None:
        """Save the final counts of what was deleted, and cut what may not stay open."""
        self._counters.record_deleted_counts()
        if brought.confirmed and brought.ruleset:
            self._returned.note_cut(cut_what_was_pending(self._table, self._state, brought.endings, brought.ruleset.elements))

    def take_back_overdue(self) -> None:
        """Take back the change on trial if its time to confirm is over."""
        if self._trial and not self.seconds_left:
            self.take_back(self._trial.end_reason)

    def _rebuild_confirmed(self) -> ConfirmedRuleset | None:
        """Return the confirmed ruleset as far as it is known in memory, for the case that the disk cannot be read any more."""
        committed, trial = self._held.committed_ruleset, self._trial or UNKNOWN_TRIAL
        if committed is None or not self.confirmed or not trial.follows:
            return None
        before = reduce(apply, (delta.invert() for delta in reversed(trial.deltas)), committed.ruleset)
        return ConfirmedRuleset(before, digests.digest_ruleset(before), committed.now)

    def _adopt_outcome(self, brought: RestoreOutcome) -> RestoreOutcome:
        self._held.remember(brought.ruleset, int(self._clock()), brought.untuned, brought.unshaped)
        self._trial, self.damage, self._encoded = None, brought.fault, None
        self._left_out_until = _find_latest_end(brought)
        self.confirmed = digests.format_digest(brought.confirmed.digest) if brought.confirmed else ""
        self._returned.note_withdrawn(brought.confirmed.deltas if brought.confirmed else ())
        if (loaded := brought.confirmed.ruleset if brought.confirmed else brought.ruleset) is not None:
            self._block_ends.replace(loaded)  # with those that ended while the agent did not run
        return brought

    def apply(self, request: wire.Apply) -> wire.Applied:
        """Commit the change; from then on it is on trial. Raises one of gateway.refusals.REFUSALS."""
        _check_apply(request)
        claim_token(self._state, request.token)
        if self._programs.is_on_trial:
            raise OperationRefusedError("state", "a program of the agent is on trial here; apply after that")
        running = self._held.get_running(request.now)
        follows = not self._held.strayed and self._held.rules_known and (self.is_on_trial or bool(self.confirmed))
        delta, compute_after = self._compute_change(request, running)
        approve = partial(_approve, compute_after, request.target)
        if request.delta is not None:
            approve()
        if delta.chains:
            inspect_management(apply(Ruleset(running.ruleset.chains), Delta(delta.chains)).chains)
        if delta.profile and delta.profile.after:
            keep_original_sysctls(self._table, self._state)
        with self._keep_origin(), self._take_back_on_error():
            spent = self._commit(delta, approve)
            trial = self._trial = build_trial(delta, request, earlier=self._trial, follows=follows, now=self._steady())
            self._note_commit(delta)
            flows_cut = self._cut_flows(delta, trial, request.now)
        self.applied_last = request.token
        return _build_applied(delta, trial, spent, flows_cut)

    @contextmanager
    def _take_back_on_error(self) -> Iterator[None]:
        """Take back what the block has committed if it fails then: nobody could confirm it, and nobody else would take it back.

        Raises OperationRefusedError, or what `take_back` raises.
        """
        try:
            yield
        except (CommitRefusedError, NotApprovedError):  # nothing has changed
            raise
        except ReadBackError as fault:
            brought = self.take_back("it differed when it was read back")
            raise OperationRefusedError("nft", f"read back after the commit: {fault}; {brought.text}") from fault
        except (TableError, StateError, OSError) as error:
            brought = self.take_back("an error followed its commit")
            raise OperationRefusedError("state", f"after the commit: {error}; {brought.text}") from error
        except Exception:
            self.take_back("the agent failed after its commit")
            raise

    @contextmanager
    def _keep_origin(self) -> Iterator[None]:
        """Keep the origin on the disk from before the first commit of a gateway on which nothing was confirmed, or nothing that can be
        restored. Raises StateError.
        """
        if self._trial or self.confirmed:
            yield
            return
        note_origin(self._state, self._origin)
        try:
            yield
        except (CommitRefusedError, NotApprovedError):  # nothing has changed; any other error leaves the way back on the disk
            self._state.drop_note(Note.TRIAL)
            raise

    def _compute_change(self, request: wire.Apply, running: RunningRuleset) -> tuple[Delta, Callable[[], int]]:
        """Return the delta to commit, and what computes the digest it leads to; that of a whole ruleset is computed beside the commit."""
        if request.ruleset is not None and request.delta is None:
            wanted = drop_expired(request.ruleset, request.now)
            digest = self._beside.submit(digests.digest_ruleset, wanted)
            self._encoded = None if self._state.has_checkpoint else (request.target, self._beside.submit(encode_ruleset, wanted))
            return diff(running.ruleset, wanted), digest.result
        if request.delta is None or request.ruleset is not None:
            raise WireError("request: expected either a delta or a ruleset")
        if not self._held.rules_known or request.base != digests.format_digest(running.digest):
            known = digests.format_digest(running.digest) if self._held.rules_known else "an unknown ruleset"
            raise OperationRefusedError("base", f"{known} runs here, not {request.base}; send the whole ruleset")
        delta = drop_expired_changes(request.delta, request.now)
        if misfit := running.find_misfit(delta):
            raise OperationRefusedError("base", f"{misfit}: differs from what runs here; send the whole ruleset")
        after = digests.update_digest(running.digest, delta)
        return delta, lambda: after

    def _commit(self, delta: Delta, approve: Callable[[], int]) -> CommitTiming:
        with change_queues(self._table, delta.shaper) as unshaped:
            spent = self._held.commit(delta, approve)
        if delta.shaper:
            self._queues.note(unshaped)
        return spent

    def _note_commit(self, delta: Delta) -> None:
        """Let the gateway's other parts know of a change that was committed, and set its profile."""
        self._counters.record_deleted_counts()
        self._held.settle()
        self._block_ends.note(delta)
        if delta.profile:
            self._held.untuned = apply_profile(self._table, self._state, delta.profile.after)

    def _cut_flows(self, delta: Delta, trial: PendingTrial, now: int) -> int:
        """Cut the connections that may not wait for the confirmation, and note those that may. Return how many were cut."""
        held = self._held.get_running(now).ruleset.elements
        flows_cut, later = cut_flows_at_commit(self._table, drop_expired_changes(delta, self._clock()), held)
        self._trial = trial.add_flows(later)
        return flows_cut

    def confirm(self, request: wire.Confirm, opened: float) -> wire.Confirmed:
        """Save what is on trial, and cut the connections that it ends. Raises one of gateway.refusals.REFUSALS.

        opened: when the request's connection was opened, on the steady clock.
        """
        claim_token(self._state, request.token)
        if self._trial is None and request.target == self.confirmed:
            return wire.Confirmed(request.target, 0)
        trial, running = self._check_confirm(request, opened), self._held.get_running(0)
        if self._held.strayed:
            raise OperationRefusedError("state", "another program has changed the table since; apply again")
        self._table.progress.begin("writing")
        note_pending_cut(self._state, trial, running.digest)
        self._save_confirmed(trial, running)
        self._state.drop_note(Note.TRIAL)
        self._trial, self.damage, self._encoded = None, "", None
        self._returned.note_withdrawn(trial.deltas)
        self.confirmed, self.past = request.target, f"{request.target[:12]} was confirmed at {self._clock.format()}"
        flows_cut, former = cut_flows_at_confirm(self._table, trial.deltas, trial.flows, running.ruleset.elements)
        self._state.drop_note(Note.CUT)
        self._returned.note_cut(former)
        return wire.Confirmed(request.target, flows_cut)

    def _check_confirm(self, request: wire.Confirm, opened: float) -> PendingTrial:
        """Return the trial that the request confirms."""
        if self._trial is None or request.target != self._trial.target:
            waiting = self.trial_target or "nothing"
            raise OperationRefusedError("digest", f"{waiting} waits to be confirmed, not {request.target}; {self.past}")
        if not self._trial.may_confirm(opened):
            raise OperationRefusedError(
                "session", "rules were changed: confirm over a session opened since the commit; an old one proves nothing"
            )
        return self._trial

    def _save_confirmed(self, trial: PendingTrial, running: RunningRuleset) -> None:
        if trial.follows and self._state.has_checkpoint:
            self._state.append([delta for delta in trial.deltas if delta], running.digest, running.now)
        else:
            self._state.write_checkpoint(running.ruleset, running.digest, running.now, self._get_encoded(running.digest))

    def _get_encoded(self, digest: int) -> bytes | None:
        """Return what was encoded while the ruleset with this digest was loaded; None if another was, or nothing."""
        target, encoded = self._encoded or ("", None)
        return encoded.result() if encoded and target == digests.format_digest(digest) else None

    def revert(self, request: wire.Revert) -> wire.Reverted:
        """Take back what is on trial because the portal requests it. Raises one of gateway.refusals.REFUSALS."""
        claim_token(self._state, request.token)
        if self._trial is None:
            raise OperationRefusedError("digest", f"nothing waits to be confirmed, so there is nothing to take back; {self.past}")
        brought = self.take_back("the portal requested it")
        if brought.fault:
            raise OperationRefusedError("state", f"{brought.fault}; {brought.text}")
        return wire.Reverted(digests.format_digest(self._held.get_running(0).digest), brought.text)

    @property
    def is_checkpoint_due(self) -> bool:
        """True if a checkpoint should be written. May be called on another thread."""
        return self._trial is None and bool(self.confirmed) and self._state.wants_checkpoint

    def write_due_checkpoint(self) -> None:
        """Write a checkpoint if one is due. Called between requests. Raises StateError, TableError or OSError."""
        if self.is_checkpoint_due:
            running = self._held.get_running(0)
            if not self._held.strayed:
                self._state.write_checkpoint(running.ruleset, running.digest, running.now)


def _find_latest_end(brought: RestoreOutcome) -> int:
    """Return the latest end of an element that the confirmed ruleset has and the one that was loaded has not; 0 if there is none."""
    if not brought.confirmed or not brought.ruleset:
        return 0
    loaded = brought.ruleset.elements
    return max((end for name, key, end in _iter_ends(brought.confirmed.ruleset) if key not in loaded[name]), default=0)


def _iter_ends(ruleset: Ruleset) -> Iterator[tuple[str, bytes, int]]:
    """Yield set, key and end of each element that has an end."""
    for name in (name for name, declaration in ruleset.sets.items() if declaration.timeout):
        yield from ((name, key, element.expires) for key, element in ruleset.elements[name].items() if element.expires)


def _check_apply(request: wire.Apply) -> None:
    """Check the request by itself, whatever runs here. Raises WireError."""
    if request.confirm_within not in wire.CONFIRM_WITHIN:
        raise WireError(f"request.confirm_within: {request.confirm_within} s is not between 1 and {wire.CONFIRM_WITHIN[-1]}")
    if request.delta is not None:
        inspect_delta(request.delta)
    if request.ruleset is not None:
        check_ruleset(request.ruleset)


def _approve(compute_after: Callable[[], int], target: str) -> int:
    """Return the digest that a change leads to. Raises DigestRefusedError if it is another than the target."""
    after = compute_after()
    if digests.format_digest(after) != target:
        raise DigestRefusedError("digest", f"this would lead to {digests.format_digest(after)}, not to {target}; nothing was done")
    return after


def _build_applied(delta: Delta, trial: PendingTrial, spent: CommitTiming, flows_cut: int) -> wire.Applied:
    elements = sum(len(change.removed) + len(change.added) for change in delta.elements.values())
    return wire.Applied(
        trial.target,
        elements,
        len(delta.chains),
        round(spent.commit),
        round(spent.read_back),
        flows_cut,
        trial.needs_new_session,
    )
